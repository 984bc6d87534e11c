// report.h: what a run shows on the screen, and what it leaves in the results file.
#ifndef REPORT_H
#define REPORT_H

#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

// Google Benchmark's own reporter for a results file, with two things put right: rows stand in the
// order of the tables, not of their completion; and a row of which one repetition failed shows the
// error, and no time, in all of them.
class ResultsReporter : public benchmark::BenchmarkReporter {
public:
  explicit ResultsReporter(std::unique_ptr<benchmark::BenchmarkReporter> format) : format_(std::move(format)) {}
  bool ReportContext(const Context &context) override;
  void ReportRuns(const std::vector<Run> &runs) override;
  void Finalize() override;
  // Whether all was written.
  bool complete() const {
    return complete_;
  }

private:
  std::unique_ptr<benchmark::BenchmarkReporter> format_;
  std::vector<Run> runs_;
  bool complete_ = false;
};

// One line a row: what distinguishes the rows, the median and the spread of the repetitions,
// throughput and calls.
class TableReporter : public benchmark::BenchmarkReporter {
public:
  // The heading is one line that says where this was measured.
  explicit TableReporter(std::string heading) : heading_(std::move(heading)) {}
  bool ReportContext(const Context &) override {
    return true;
  }
  void ReportRuns(const std::vector<Run> &runs) override;
  void Finalize() override;

private:
  const std::string heading_;
  std::vector<Run> runs_;
};

// The reporter for --benchmark_out_format, which options_parse has checked.
std::unique_ptr<benchmark::BenchmarkReporter> MakeFormat(const std::string &name);

#endif

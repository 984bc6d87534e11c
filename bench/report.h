// report.h: what a run shows on the screen, and what it leaves in the results file.
#ifndef REPORT_H
#define REPORT_H

#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

// One of Google Benchmark's own reporters, with three things put right: rows stand in the order of the
// tables, not of their completion; a row of which one repetition failed shows the error, and no time, in
// all of them; and JSON is valid whatever names contain.
class ResultsReporter : public benchmark::BenchmarkReporter {
public:
  // The format is one of --benchmark_format's. The text goes to `out`, not to the stream that Google Benchmark sets.
  ResultsReporter(const std::string &format, std::ostream &out);
  bool ReportContext(const Context &context) override;
  void ReportRuns(const std::vector<Run> &runs) override;
  void Finalize() override;

private:
  const std::unique_ptr<benchmark::BenchmarkReporter> format_;
  const bool is_json_;
  std::ostream &out_;
  std::ostringstream text_;
  std::vector<Run> runs_;
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

#endif

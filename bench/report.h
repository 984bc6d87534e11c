// report.h: what a run shows on the screen, and what it leaves in the results file.
#ifndef REPORT_H
#define REPORT_H

#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "context.h"

// Puts a fact into the results' context.
void AddContext(const char *key, const char *value);

// One of Google Benchmark's own reporters, with three things put right: rows stand in the order of the
// tables, not of their completion; a row of which one repetition failed shows the error, and no time, in
// all of them; and JSON is valid whatever names contain. The context, too, is written at the end, when all is
// known.
class ResultsReporter : public benchmark::BenchmarkReporter {
public:
  // The format is one of --benchmark_format's. The text goes to `out`, not to the stream that Google Benchmark sets.
  ResultsReporter(const std::string &format, run_context &context, std::ostream &out);
  bool ReportContext(const Context &context) override;
  void ReportRuns(const std::vector<Run> &runs) override;
  void Finalize() override;

private:
  const std::unique_ptr<benchmark::BenchmarkReporter> format_;
  const bool is_json_;
  run_context &run_context_;
  std::ostream &out_;
  std::optional<Context> context_;
  std::ostringstream text_;
  std::vector<Run> runs_;
};

// One line a row: what distinguishes the rows, the median and the spread of the repetitions,
// throughput and calls.
class TableReporter : public benchmark::BenchmarkReporter {
public:
  // The heading is one line that says where this was measured.
  TableReporter(std::string heading, run_context &context) : heading_(std::move(heading)), run_context_(context) {}
  bool ReportContext(const Context &) override {
    return true;
  }
  void ReportRuns(const std::vector<Run> &runs) override;
  void Finalize() override;

private:
  const std::string heading_;
  run_context &run_context_;
  std::vector<Run> runs_;
};

#endif

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

#include "register.h"

// One of Google Benchmark's own reporters, with some things put right: rows stand in the order of the tables, as runs.h
// shows them; JSON is valid whatever names contain; and the context is written at the end, when all of it is known.
class ResultsReporter : public benchmark::BenchmarkReporter {
public:
  // The format is one of --benchmark_format's. The text goes to `out`, not to the stream that Google Benchmark sets.
  ResultsReporter(const std::string &format, Suite &suite, std::ostream &out);
  bool ReportContext(const Context &context) override;
  void ReportRuns(const std::vector<Run> &runs) override;
  void Finalize() override;

private:
  const std::unique_ptr<benchmark::BenchmarkReporter> format_;
  const bool is_json_;
  Suite &suite_;
  std::ostream &out_;
  std::optional<Context> context_;
  std::ostringstream text_;
  std::vector<Run> runs_;
};

// Our table: one line a row.
class TableReporter : public benchmark::BenchmarkReporter {
public:
  // The heading is one line that says where this was measured.
  TableReporter(std::string heading, Suite &suite) : heading_(std::move(heading)), suite_(suite) {}
  bool ReportContext(const Context &) override {
    return true;
  }
  void ReportRuns(const std::vector<Run> &runs) override;
  void Finalize() override;

private:
  const std::string heading_;
  Suite &suite_;
  std::vector<Run> runs_;
};

#endif

// register.h: plans become Google Benchmark's rows.
#ifndef REGISTER_H
#define REGISTER_H

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "gather.h"
#include "latency.h"
#include "options.h"
#include "progress.h"
#include "workspace.h"

// One row of a run: a plan, and what became of it. Its threads share it.
struct Row {
  Row(const gather_plan *row_plan, const char *row_name) : plan(row_plan), name(row_name) {}

  const gather_plan *const plan;
  const std::string name;      // as in the results
  int64_t iterations = 0;      // of the latest entry into the benchmark function
  size_t repetitions_done = 0; // entries with that many iterations
  Latencies latencies;

  std::string error; // empty while all is well; one failed repetition fails the row, or Google Benchmark 1.7.1 aborts
  std::mutex mutex;  // over all that changes
};

// All rows of a run, and what they share.
class Suite {
public:
  // The options and the workspace must outlive the suite.
  Suite(const options &options, gather_workspace &workspace);
  Suite(const Suite &) = delete;
  Suite &operator=(const Suite &) = delete;

  // Registers every row that is not refused.
  void Register();

  size_t failed_count();
  Progress &progress() {
    return progress_;
  }

private:
  void Run(benchmark::State &state, Row &row);
  bool Measure(benchmark::State &state, Row &row, gather_run &run);
  void Fail(Row &row, const std::string &what);
  void Fail(Row &row, const char *operation, int error);
  std::string ErrorOf(Row &row);
  void MarkIfInterrupted(Row &row);
  void CountRepetition(const benchmark::State &state, Row &row);

  const options &options_;
  gather_workspace &workspace_;
  std::deque<Row> rows_; // a deque, so that rows stay where they are
  Progress progress_;
  size_t repetitions_done_ = 0;
};

#endif

// register.h: plans become Google Benchmark's rows.
#ifndef REGISTER_H
#define REGISTER_H

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include <benchmark/benchmark.h>

#include "context.h"
#include "gather.h"
#include "latency.h"
#include "options.h"
#include "progress.h"
#include "workspace.h"

// Puts a fact into the results' context.
void AddContext(const char *key, const char *value);

// One row of a run: a plan, and what became of it. Its threads share it.
struct Row {
  explicit Row(const options_row *row) : from(row), plan(&row->plan), name(row->name) {}
  ~Row() {
    latencies_clear(&latencies);
  }

  const options_row *const from;
  const gather_plan *const plan;
  const std::string name;      // as in the results
  int64_t iterations = 0;      // of the latest entry into the benchmark function
  size_t repetitions_done = 0; // entries with that many iterations
  ::latencies latencies = {};  // of those entries
  size_t threads_entered = 0;  // in all entries
  bool interrupted = false;    // entries from here on do nothing
  bool cut_short = false;      // some repetitions are missing, and enough are there

  // Empty while all is well; the operation and the reason, without the row's name. One failed repetition fails the row.
  std::string error;
  std::mutex mutex; // over all that changes
};

// All rows of a run, and what they share.
class Suite {
public:
  // All three must outlive the suite.
  Suite(const options &options, gather_workspace &workspace, run_context &context);
  Suite(const Suite &) = delete;
  Suite &operator=(const Suite &) = delete;

  // Registers every row that is not refused; row `i` becomes Google Benchmark's family `i`.
  void Register();

  // The end of the measurements: decides which rows of an interrupted run are kept, and completes the results' context.
  // The first reporter that finishes calls it; further calls do nothing.
  void Finish();

  // These are for after the end.
  const Row &row(int64_t family) const {
    return rows_.at(static_cast<size_t>(family));
  }
  size_t failed_count() const;
  // Whether there is anything for a results file; only an interrupted run may have nothing.
  bool worth_keeping() const;
  unsigned repetitions() const {
    return options_.repetitions;
  }

private:
  void Run(benchmark::State &state, Row &row);
  bool Measure(benchmark::State &state, Row &row, gather_run &run);
  void Fail(Row &row, const char *operation, int error);
  std::string ErrorOf(Row &row);
  std::string BeginRepetition(const benchmark::State &state, Row &row);
  void EndRepetition(Row &row);
  void SettleInterrupted(int signal);
  void TellWentWithout();

  const options &options_;
  gather_workspace &workspace_;
  run_context &context_;
  std::deque<Row> rows_; // a deque, so that rows stay where they are
  ::progress progress_;
  size_t repetitions_done_ = 0;
  bool finished_ = false;
  std::mutex told_mutex_;
  size_t told_ = 0; // bytes of workspace_.went_without that are told
};

#endif

#include "register.h"

#include <algorithm>
#include <cstring>

volatile std::sig_atomic_t interrupted_by = 0;

namespace {

using Clock = std::chrono::steady_clock;

// Close enough to the process's start: static initialization comes before everything that takes
// time.
const Clock::time_point process_start = Clock::now();

double SecondsSinceStart() {
  return std::chrono::duration<double>(Clock::now() - process_start).count();
}

// What is known when a timed stretch begins.
struct Before {
  double start_s;
  uint64_t dirty_bytes;
  bool has_dirty_bytes;
  gather_kernel_counts counts;
  bool has_counts;

  Before() {
    start_s = SecondsSinceStart();
    has_dirty_bytes = gather_dirty_bytes(&dirty_bytes) == 0;
    has_counts =
        gather_kernel_counts_read(&counts) == 0; // last, so that it is nearest to the timed stretch
  }
};

void AddCounters(benchmark::State &state, const gather_run &run, const Before &before) {
  gather_kernel_counts after;
  const bool has_counts = before.has_counts && gather_kernel_counts_read(&after) == 0;
  const double ops = static_cast<double>(state.iterations());
  const auto per_op = [ops](uint64_t total) { return static_cast<double>(total) / ops; };
  const double calls = per_op(run.stats.calls);

  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(gather_plan_op_bytes(run.plan)));
  state.counters["buffers"] = static_cast<double>(gather_plan_op_buffers(run.plan));
  state.counters["calls"] = calls;
  state.counters["short_writes"] = per_op(run.stats.short_writes);
  if (has_counts) {
    const double kernel_calls = per_op(after.write_calls - before.counts.write_calls);
    state.counters["kernel_calls"] = kernel_calls;
    state.counters["device_bytes"] = per_op(after.device_bytes - before.counts.device_bytes);
    if (kernel_calls < calls || kernel_calls > calls)
      state.SetLabel("the kernel counted other calls than ours");
  }
  if (before.has_dirty_bytes)
    state.counters["dirty_bytes"] = static_cast<double>(before.dirty_bytes);
  state.counters["start_s"] = before.start_s;
}

} // namespace

static size_t MeasuredRows(const options &options) {
  return options.rows_count - options.refused_count;
}

Suite::Suite(const options &options, gather_workspace &workspace)
    : options_(options), workspace_(workspace),
      progress_(MeasuredRows(options) * options.repetitions) {}

size_t Suite::failed_count() const {
  return static_cast<size_t>(
      std::count_if(rows_.begin(), rows_.end(), [](const Row &row) { return !row.error.empty(); }));
}

void Suite::Register() {
  for (size_t i = 0; i < options_.rows_count; i++) {
    const options_row &from = options_.rows[i];
    if (from.refused)
      continue;
    char name[GATHER_NAME_MAX];
    gather_plan_name(&from.plan, name, sizeof name); // it fitted when the options were parsed
    Row &row = rows_.emplace_back(Row{&from.plan, name, {}});
    benchmark::RegisterBenchmark(name, [this, &row](benchmark::State &state) {
      Run(state, row);
    })->UseRealTime();
  }
}

// Google Benchmark enters the function more often than there are repetitions, to find the number of
// iterations; those that have the final number are the repetitions.
void Suite::CountRepetition(const benchmark::State &state, Row &row) {
  if (state.max_iterations != row.iterations) {
    row.iterations = state.max_iterations;
    repetitions_done_ -= row.repetitions_done;
    row.repetitions_done = 0;
  }
  row.repetitions_done++;
  repetitions_done_++;
  progress_.Show(repetitions_done_);
}

void Suite::Fail(Row &row, const char *operation, int error) {
  row.error = row.name + ": " + operation + ": " + std::strerror(error);
  progress_.Clear();
  std::fprintf(stderr, "gatherbench: %s\n", row.error.c_str());
}

// The timed stretch; false if it failed.
bool Suite::Measure(benchmark::State &state, Row &row, gather_run &run) {
  const Before before;
  int error = 0;
  for (auto _ : state) {
    error = gather_op(&run);
    if (__builtin_expect(error != 0, 0))
      break;
  }
  if (error == 0) {
    AddCounters(state, run, before);
    return true;
  }
  Fail(row, run.operation, -error);
  state.SkipWithError(row.error.c_str());
  return false;
}

void Suite::Run(benchmark::State &state, Row &row) {
  if (row.error.empty() && interrupted_by)
    row.error = row.name + ": interrupted";
  gather_run run;
  if (row.error.empty()) {
    const int error = gather_open(&run, row.plan, &workspace_);
    if (error)
      Fail(row, run.operation, -error);
  }
  if (!row.error.empty()) {
    // Google Benchmark 1.7.1 aborts if the loop is not entered after an error, or if a later
    // repetition succeeds.
    state.SkipWithError(row.error.c_str());
    for (auto _ : state) {
    }
    return;
  }

  const bool measured = Measure(state, row, run);
  const int error = gather_close(&run);
  if (error && measured) {
    Fail(row, run.operation, -error);
    state.SkipWithError(row.error.c_str());
  }
  CountRepetition(state, row);
}

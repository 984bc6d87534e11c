#include "register.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "observer.h"
#include "process.h"

namespace {

using benchmark::Counter;
using Clock = std::chrono::steady_clock;

// Close enough to the process's start: static initialization comes before everything that takes time.
const Clock::time_point process_start = Clock::now();

double SecondsSinceStart() {
  return std::chrono::duration<double>(Clock::now() - process_start).count();
}

uint64_t NowNs() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

// What is known when a timed stretch begins.
struct Before {
  const double start_s = SecondsSinceStart();
  gather_observations observations;

  explicit Before(const gather_run &run) {
    gather_observe(&observations, &run);
  }
};

// The timed path: all ops of a repetition. Returns 0 or the first op's -errno.
int RunOps(gather_run &run, int64_t ops) {
  for (; ops > 0; ops--) {
    const int error = gather_op(&run);
    if (__builtin_expect(error != 0, 0))
      return error;
  }
  return 0;
}

// The same with one clock read an op.
int RunRecordedOps(gather_run &run, int64_t ops, LatencyRecord &record) {
  uint64_t begin_ns = NowNs();
  for (; ops > 0; ops--) {
    const int error = gather_op(&run);
    if (__builtin_expect(error != 0, 0))
      return error;
    const uint64_t end_ns = NowNs();
    record.Add(end_ns - begin_ns);
    begin_ns = end_ns;
  }
  return 0;
}

void AddLabel(std::string &label, const std::string &text) {
  label += (label.empty() ? "" : "; ") + text;
}

// Counters are an op's, and the mean over threads.
void AddCounters(benchmark::State &state, const gather_run &run, Before &before, uint64_t loop_ns, std::string &label) {
  // First of all: what is counted is that of the ops.
  struct Context {
    benchmark::State &state;
    std::string &label;
  } context = {state, label};
  const auto set = [](void *to, const char *name, double value, const char *doubt) {
    auto &[to_state, to_label] = *static_cast<Context *>(to);
    to_state.counters[name] = Counter(value, Counter::kAvgThreads);
    if (doubt)
      AddLabel(to_label, doubt);
  };
  gather_observed(&before.observations, &run, state.max_iterations, set, &context);
  const auto add = [&](const char *name, double value) { set(&context, name, value, nullptr); };
  const double ops = static_cast<double>(state.max_iterations);
  state.SetBytesProcessed(state.max_iterations * static_cast<int64_t>(gather_plan_op_bytes(run.plan)));
  add("buffers", static_cast<double>(gather_plan_op_buffers(run.plan)));
  if (run.plan->durability->sync) {
    add("sync_ns", static_cast<double>(run.stats.sync_ns) / ops);
    add("write_ns", static_cast<double>(loop_ns - run.stats.sync_ns) / ops);
  }
  if (gather_plan_threads(run.plan) > 1)
    add("op_ns", static_cast<double>(loop_ns) / ops);
  add("start_s", before.start_s);
}

// In nanoseconds. One thread of a row sets what was found for all of them, so these are not averaged.
void AddLatencies(benchmark::State &state, Row &row, LatencyRecord &record, std::string &label) {
  const unsigned threads = gather_plan_threads(row.plan);
  LatencySummary summary;
  if (!row.latencies.Add(record.Take(), threads, summary))
    return;
  state.counters["p50"] = summary.p50_ns;
  state.counters["p99"] = summary.p99_ns;
  state.counters["p99.9"] = summary.p99_9_ns;
  state.counters["max"] = summary.max_ns;
  state.counters["latency_ops"] = static_cast<double>(summary.ops);
  if (summary.ops < static_cast<size_t>(state.max_iterations) * threads)
    AddLabel(label, "latencies rest on the first " + std::to_string(LatencyRecord::kOps) + " ops of each thread");
}

size_t MeasuredRows(const options &options) {
  return options.rows_count - options.refused_count;
}

} // namespace

Suite::Suite(const options &options, gather_workspace &workspace)
    : options_(options), workspace_(workspace), progress_(MeasuredRows(options) * options.repetitions) {}

size_t Suite::failed_count() {
  return static_cast<size_t>(
      std::count_if(rows_.begin(), rows_.end(), [this](Row &row) { return !ErrorOf(row).empty(); }));
}

void Suite::Register() {
  for (size_t i = 0; i < options_.rows_count; i++) {
    const options_row &from = options_.rows[i];
    if (from.refused)
      continue;
    Row &row = rows_.emplace_back(&from.plan, from.name);
    if (from.failed)
      Fail(row, from.failed);
    char name[GATHER_NAME_MAX];
    gather_plan_name(&from.plan, name, sizeof name); // it fitted when the options were parsed
    auto *registered =
        benchmark::RegisterBenchmark(name, [this, &row](benchmark::State &state) { Run(state, row); })->UseRealTime();
    if (gather_plan_threads(&from.plan) > 1)
      registered->Threads(static_cast<int>(from.plan.threads));
  }
}

// Google Benchmark enters the function more often than there are repetitions, to find the number of iterations; those
// that have the final number are the repetitions.
void Suite::CountRepetition(const benchmark::State &state, Row &row) {
  const std::lock_guard<std::mutex> lock(row.mutex);
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
  Fail(row, std::string(operation) + ": " + std::strerror(error));
}

void Suite::Fail(Row &row, const std::string &what) {
  const std::lock_guard<std::mutex> lock(row.mutex);
  if (!row.error.empty())
    return; // another thread was first
  row.error = row.name + ": " + what;
  progress_.Clear();
  std::fprintf(stderr, "gatherbench: %s\n", row.error.c_str());
}

std::string Suite::ErrorOf(Row &row) {
  const std::lock_guard<std::mutex> lock(row.mutex);
  return row.error;
}

// A repetition that begins after the signal is not made, so its row is not finished.
void Suite::MarkIfInterrupted(Row &row) {
  const std::lock_guard<std::mutex> lock(row.mutex);
  if (row.error.empty() && process_interrupted_by())
    row.error = row.name + ": interrupted";
}

// The timed stretch, and what is known of it; false if it failed.
bool Suite::Measure(benchmark::State &state, Row &row, gather_run &run) {
  LatencyRecord record(options_.latency);
  Before before(run);
  int error = 0;
  uint64_t loop_ns = 0;
  // One batch of all iterations: the loop is ours, and its time can be taken without Google Benchmark's waiting for
  // other threads.
  while (state.KeepRunningBatch(state.max_iterations)) {
    const uint64_t begin_ns = NowNs();
    error = record.wanted() ? RunRecordedOps(run, state.max_iterations, record) : RunOps(run, state.max_iterations);
    loop_ns = NowNs() - begin_ns;
    if (error)
      break;
  }
  if (error) {
    Fail(row, run.operation, -error);
    return false;
  }
  std::string label;
  AddCounters(state, run, before, loop_ns, label);
  if (record.wanted())
    AddLatencies(state, row, record, label);
  if (!label.empty())
    state.SetLabel(label.c_str());
  return true;
}

void Suite::Run(benchmark::State &state, Row &row) {
  gather_run run;
  bool opened = false;
  MarkIfInterrupted(row);
  if (ErrorOf(row).empty()) {
    const int error = gather_open(&run, row.plan, &workspace_, static_cast<unsigned>(state.thread_index()));
    opened = error == 0;
    if (error)
      Fail(row, run.operation, -error);
  }
  if (opened) {
    int error = Measure(state, row, run) && row.plan->verify ? gather_verified_op(&run) : 0;
    if (error)
      Fail(row, run.operation, -error);
    error = gather_close(&run);
    if (error)
      Fail(row, run.operation, -error);
    if (state.thread_index() == 0)
      CountRepetition(state, row);
  }
  const std::string error = ErrorOf(row);
  if (error.empty())
    return;
  state.SkipWithError(error.c_str());
  // Google Benchmark 1.7.1 aborts if the loop is not entered, even after an error.
  while (!opened && state.KeepRunningBatch(state.max_iterations)) {
  }
}

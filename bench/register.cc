#include "register.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "observer.h"
#include "printable.h"
#include "process.h"
#include "spoiled.h"
#include "table.h"

void AddContext(const char *key, const char *value) {
  benchmark::AddCustomContext(std::string("gatherbench.") + key, value);
}

namespace {

using benchmark::Counter;

// Fewer repetitions than this are no row: no script gives a verdict on them.
constexpr size_t kRepetitionsMin = 4;

// What a warm-up takes at most, or the shortest repetition if that is less: then it does not double what is timed.
constexpr double kWarmUpS = 1e-3;

// Close enough to the process's start: static initialization comes before everything that takes time.
const uint64_t process_start_ns = gather_clock_ns();

// What is known when a timed stretch begins.
struct Before {
  const double start_s = static_cast<double>(gather_clock_ns() - process_start_ns) / 1e9;
  const gather_stats stats;
  gather_observations observations;

  explicit Before(const gather_run &run) : stats(run.stats) {
    gather_observe(&observations, &run);
  }
};

// The timed path: all ops of a repetition. Returns 0 or the first op's -errno, as the next three do.
int RunOps(gather_run &run, int64_t ops) {
  for (; ops > 0; ops--) {
    const int error = gather_op(&run);
    if (__builtin_expect(error != 0, 0))
      return error;
  }
  return 0;
}

// The untimed beginning of a repetition, through the same plan: other rows ran since the last one, and have left the
// caches, the branch predictors and the clock of the processor to what they do.
int WarmUp(gather_run &run, double min_time_s) {
  const uint64_t end_ns = gather_clock_ns() + static_cast<uint64_t>(1e9 * std::min(min_time_s, kWarmUpS));
  int error = 0;
  while (!error && gather_clock_ns() < end_ns) {
    error = gather_prepare(&run);
    if (!error)
      error = gather_op(&run);
  }
  return error;
}

uint64_t PhasesNs(const gather_stats &stats) {
  return stats.open_ns + stats.write_ns + stats.sync_ns + stats.close_ns;
}

// Ops with something to prepare before each: their time is the sum of their own clock readings, in *ops_ns.
int RunPreparedOps(benchmark::State &state, gather_run &run, int64_t ops, latency_record *record, uint64_t *ops_ns) {
  int error = 0;
  for (; ops > 0 && !error; ops--) {
    state.PauseTiming();
    error = gather_prepare(&run);
    state.ResumeTiming();
    const uint64_t before_ns = PhasesNs(run.stats);
    if (!error)
      error = gather_op(&run);
    const uint64_t op_ns = PhasesNs(run.stats) - before_ns;
    *ops_ns += op_ns;
    if (record)
      latency_record_add(record, op_ns);
  }
  state.SetIterationTime(static_cast<double>(*ops_ns) / 1e9);
  return error;
}

// The same with one clock read an op.
int RunRecordedOps(gather_run &run, int64_t ops, latency_record &record) {
  uint64_t begin_ns = gather_clock_ns();
  for (; ops > 0; ops--) {
    const int error = gather_op(&run);
    if (__builtin_expect(error != 0, 0))
      return error;
    const uint64_t end_ns = gather_clock_ns();
    latency_record_add(&record, end_ns - begin_ns);
    begin_ns = end_ns;
  }
  return 0;
}

// Counters are an op's, and the mean over threads.
void AddCounters(benchmark::State &state, const gather_run &run, Before &before, int64_t count, uint64_t loop_ns) {
  // First of all: what is counted is that of the ops.
  const auto set = [](void *to, const char *name, double value, const char *doubt) {
    auto &counted = *static_cast<benchmark::State *>(to);
    counted.counters[name] = Counter(value, Counter::kAvgThreads);
    if (doubt)
      counted.SetLabel(doubt);
  };
  gather_observed(&before.observations, &run, count, set, &state);
  const auto add = [&](const char *name, double value) { set(&state, name, value, nullptr); };
  const double ops = static_cast<double>(count);
  state.SetBytesProcessed(count * static_cast<int64_t>(gather_plan_op_bytes(run.plan)));
  add("buffers", static_cast<double>(gather_plan_op_buffers(run.plan)));
  const auto add_time = [&](const char *name, uint64_t time_ns) { add(name, static_cast<double>(time_ns) / ops); };
  const uint64_t sync_ns = run.stats.sync_ns - before.stats.sync_ns;
  if (run.plan->scope->provided & GATHER_WHOLE_FILE) {
    add_time("open_ns", run.stats.open_ns - before.stats.open_ns);
    add_time("write_ns", run.stats.write_ns - before.stats.write_ns);
    add_time("sync_ns", sync_ns);
    add_time("close_ns", run.stats.close_ns - before.stats.close_ns);
  } else if (run.sync) {
    add_time("sync_ns", sync_ns);
    add_time("write_ns", loop_ns - sync_ns);
  }
  if (gather_plan_threads(run.plan) > 1)
    add("op_ns", static_cast<double>(loop_ns) / ops);
  add("start_s", before.start_s);
}

// The ops of a repetition. Google Benchmark wants the same number of all, also of those that are skipped.
int64_t OpsOf(const benchmark::State &state, const Row &row) {
  return std::max<int64_t>(state.max_iterations, options_ops_min(row.plan));
}

size_t MeasuredRows(const options &options) {
  return options.rows_count - options.refused_count;
}

} // namespace

Suite::Suite(const options &options, gather_workspace &workspace, run_context &context)
    : options_(options), workspace_(workspace), context_(context) {
  progress_begin(&progress_, MeasuredRows(options) * options.repetitions);
}

void Suite::Register() {
  for (size_t i = 0; i < options_.rows_count; i++) {
    const options_row &from = options_.rows[i];
    if (from.refused)
      continue;
    Row &row = rows_.emplace_back(&from);
    if (from.failed)
      Fail(row, from.failed, 0);
    char name[GATHER_NAME_MAX];
    gather_plan_name(&from.plan, name, sizeof name); // it fitted when the options were parsed
    auto *registered = benchmark::RegisterBenchmark(name, [this, &row](benchmark::State &state) { Run(state, row); });
    if (gather_plan_keeps(&from.plan))
      registered->UseManualTime();
    else
      registered->UseRealTime();
    if (gather_plan_threads(&from.plan) > 1)
      registered->Threads(static_cast<int>(from.plan.threads));
  }
}

size_t Suite::failed_count() const {
  return static_cast<size_t>(
      std::count_if(rows_.begin(), rows_.end(), [](const Row &row) { return !row.error.empty(); }));
}

bool Suite::worth_keeping() const {
  return !process_interrupted_by() || failed_count() < rows_.size();
}

// A row with enough finished repetitions is one; of fewer, the row has the error "interrupted".
void Suite::SettleInterrupted(int signal) {
  size_t whole = 0, cut_short = 0, lost = 0;
  for (Row &row : rows_) {
    if (!row.error.empty())
      continue;
    if (row.repetitions_done >= options_.repetitions) {
      whole++;
    } else if (row.repetitions_done >= kRepetitionsMin) {
      row.cut_short = true;
      cut_short++;
    } else {
      row.error = TABLE_INTERRUPTED;
      lost++;
    }
  }
  if (cut_short + lost == 0)
    return;
  const char *name = process_signal_name(signal);
  if (!worth_keeping()) {
    complain("interrupted by %s: no row has %zu repetitions, so nothing is kept", name, kRepetitionsMin);
    return;
  }
  spoiled_add("cut short by %s: %zu of %zu rows have all %u repetitions, %zu fewer, and %zu too few to be kept", name,
              whole, rows_.size(), options_.repetitions, cut_short, lost);
  AddContext("cut_short", name);
}

void Suite::Finish() {
  if (finished_)
    return;
  finished_ = true;
  progress_clear(&progress_);
  if (const int signal = process_interrupted_by())
    SettleInterrupted(signal);
  context_end(&context_);
}

// Returns why the repetition is not to be made, or "". Google Benchmark enters the function more often than there are
// repetitions, to find the number of iterations; those that have the final number are the repetitions.
std::string Suite::BeginRepetition(const benchmark::State &state, Row &row) {
  const std::lock_guard<std::mutex> lock(row.mutex);
  // All threads make a repetition, or none: the first one decides.
  if (row.threads_entered++ % gather_plan_threads(row.plan) == 0)
    row.interrupted = process_interrupted_by() != 0;
  if (row.interrupted || !row.error.empty())
    return row.error.empty() ? TABLE_INTERRUPTED : row.error;
  if (state.max_iterations != row.iterations) {
    row.iterations = state.max_iterations;
    repetitions_done_ -= row.repetitions_done;
    row.repetitions_done = 0;
    latencies_clear(&row.latencies);
  }
  return "";
}

void Suite::EndRepetition(Row &row) {
  const std::lock_guard<std::mutex> lock(row.mutex);
  row.repetitions_done++;
  repetitions_done_++;
  progress_show(&progress_, repetitions_done_);
}

// The operation that failed and why; the error is 0 where the operation says it all.
void Suite::Fail(Row &row, const char *operation, int error) {
  const std::lock_guard<std::mutex> lock(row.mutex);
  if (!row.error.empty())
    return; // another thread was first
  row.error = operation;
  if (error)
    row.error += std::string(": ") + std::strerror(error);
  progress_clear(&progress_);
  std::fprintf(stderr, "gatherbench: %s: %s\n", row.name.c_str(), row.error.c_str());
}

std::string Suite::ErrorOf(Row &row) {
  const std::lock_guard<std::mutex> lock(row.mutex);
  return row.error;
}

// What the workspace went without since this was last asked.
void Suite::TellWentWithout() {
  const std::lock_guard<std::mutex> lock(told_mutex_);
  pthread_mutex_lock(&workspace_.mutex);
  if (std::strlen(workspace_.went_without) > told_) {
    progress_clear(&progress_);
    went_without_add(workspace_.went_without);
    told_ = std::strlen(workspace_.went_without);
  }
  pthread_mutex_unlock(&workspace_.mutex);
}

// The timed stretch, and what is known of it; false if it failed.
bool Suite::Measure(benchmark::State &state, Row &row, gather_run &run) {
  latency_record record = {};
  const int64_t ops = OpsOf(state, row);
  int error = options_.latency ? latency_record_open(&record, static_cast<uint64_t>(ops)) : 0;
  if (error)
    Fail(row, "record latencies", -error);
  else
    error = WarmUp(run, std::atof(options_.min_time));
  Before before(run);
  uint64_t loop_ns = 0;
  // One batch of all ops: the loop is ours, and its time can be taken without Google Benchmark's waiting for
  // other threads. It is entered after an error, too: Google Benchmark 1.7.1 aborts otherwise.
  while (state.KeepRunningBatch(ops)) {
    if (error)
      break;
    if (gather_plan_keeps(row.plan)) {
      error = RunPreparedOps(state, run, ops, options_.latency ? &record : nullptr, &loop_ns);
      continue;
    }
    const uint64_t begin_ns = gather_clock_ns();
    error = options_.latency ? RunRecordedOps(run, ops, record) : RunOps(run, ops);
    loop_ns = gather_clock_ns() - begin_ns;
  }
  if (error)
    Fail(row, run.failure.call, -error);
  else
    AddCounters(state, run, before, ops, loop_ns);
  if (!error && state.thread_index() == 0)
    for (unsigned i = 0; i < row.from->untimed_count; i++)
      state.counters[row.from->untimed[i].name] = Counter(row.from->untimed[i].value);
  if (!error && options_.latency) {
    const std::lock_guard<std::mutex> lock(row.mutex);
    error = latencies_add(&row.latencies, &record);
  }
  latency_record_close(&record);
  if (error)
    Fail(row, "record latencies", -error);
  return !error;
}

void Suite::Run(benchmark::State &state, Row &row) {
  gather_run run;
  bool opened = false;
  std::string skipped = BeginRepetition(state, row);
  if (skipped.empty()) {
    const int error = gather_open(&run, row.plan, &workspace_, static_cast<unsigned>(state.thread_index()));
    opened = error == 0;
    if (error)
      Fail(row, run.failure.call, -error);
  }
  if (opened) {
    int error = Measure(state, row, run) && row.plan->verify ? gather_verified_op(&run) : 0;
    if (error)
      Fail(row, run.failure.call, -error);
    error = gather_close(&run);
    if (error)
      Fail(row, run.failure.call, -error);
    if (state.thread_index() == 0)
      EndRepetition(row);
    TellWentWithout();
  }
  if (skipped.empty())
    skipped = ErrorOf(row);
  if (skipped.empty())
    return;
  // The loop is entered in any case, for else Google Benchmark 1.7.1 aborts; and before the error is set, for after it
  // the number of iterations would not be that of the other repetitions.
  while (!opened && state.KeepRunningBatch(OpsOf(state, row))) {
  }
  state.SkipWithError(skipped.c_str());
}

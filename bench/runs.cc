#include "runs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

bool IsRepetition(const Run &run) {
  return run.run_type == Run::RT_Iteration;
}

namespace {

// Until 1.7.1 a run says error_occurred, from 1.8 on skipped; what does not compile is left out of
// the choice.
template <class R> auto HasError(const R &run, int) -> decltype(run.error_occurred) {
  return run.error_occurred;
}
template <class R> auto HasError(const R &run, long) -> decltype(run.skipped != 0, bool()) {
  return run.skipped != 0;
}
bool Failed(const Run &run) {
  return HasError(run, 0);
}

template <class R> auto SetError(R &run, const std::string &message, int) -> decltype(run.error_occurred, void()) {
  run.error_occurred = true;
  run.error_message = message;
}
template <class R> auto SetError(R &run, const std::string &message, long) -> decltype(run.skipped, void()) {
  run.skipped = static_cast<decltype(run.skipped)>(2); // internal::SkippedWithError
  run.skip_message = message;
}

// Until 1.9.0 Google Benchmark divides the real time of a row with threads by their number once more: makes it an op's.
void CorrectThreadedTimes(std::vector<Run> &runs) {
#if BENCHMARK_DIVIDES_BY_THREADS
  for (Run &run : runs)
    if (run.threads > 1 && run.aggregate_unit == benchmark::kTime)
      run.real_accumulated_time *= static_cast<double>(run.threads);
#else
  (void)runs;
#endif
}

// The repetitions of a failed row: all have its error and no numbers. Where the user wants aggregates alone, one
// repetition stands for the row, for aggregates of what did not fail would mislead.
std::vector<Run> FailAll(const std::vector<Run> &runs, const std::string &error) {
  std::vector<Run> failed;
  for (const Run &run : runs)
    if (IsRepetition(run))
      failed.push_back(run);
  if (failed.empty()) {
    failed.push_back(runs.front());
    failed.front().run_type = Run::RT_Iteration;
    failed.front().aggregate_name.clear();
  }
  for (Run &run : failed) {
    SetError(run, error, 0);
    run.real_accumulated_time = run.cpu_accumulated_time = 0;
    run.counters.clear();
    run.report_label.clear();
  }
  return failed;
}

void AddLabel(Run &run, const std::string &text) {
  run.report_label += (run.report_label.empty() ? "" : "; ") + text;
}

// Leaves out what was not measured of a row that was cut short, and says so.
void ShowCutShort(std::vector<Run> &runs, size_t done, unsigned wanted) {
  runs.erase(std::remove_if(runs.begin(), runs.end(), Failed), runs.end());
  for (Run &run : runs) {
    run.repetitions = static_cast<int64_t>(done);
    if (!IsRepetition(run)) { // its times are sums over as many iterations as there should have been repetitions
      const double share = static_cast<double>(done) / static_cast<double>(run.iterations);
      run.real_accumulated_time *= share;
      run.cpu_accumulated_time *= share;
      run.iterations = static_cast<benchmark::IterationCount>(done);
    }
    AddLabel(run, "cut short: " + std::to_string(done) + " of " + std::to_string(wanted) + " repetitions");
  }
}

// The percentiles of all ops of a row, in nanoseconds: the same in every repetition, and in the aggregates that are
// times.
void AddPercentiles(std::vector<Run> &runs, const latencies &latencies) {
  for (Run &run : runs) {
    if (!IsRepetition(run) && run.aggregate_name != "mean" && run.aggregate_name != "median")
      continue;
    uint64_t time_ns;
    for (const latency_quantile *quantile = latency_quantiles; quantile->name; quantile++)
      if (latencies_quantile(&latencies, quantile, &time_ns))
        run.counters[quantile->name] = static_cast<double>(time_ns);
    run.counters["latency_ops"] = static_cast<double>(latencies.ops);
    if (latencies.left_out)
      AddLabel(run, "latencies rest on " + std::to_string(latencies.ops) + " of " +
                        std::to_string(latencies.ops + latencies.left_out) + " ops");
  }
}

// Google Benchmark divides by a mean of zero for the aggregate "cv". What is no number has no place in JSON: a counter
// is left out, and so is an aggregate whose time is none.
void LeaveOutNoNumbers(std::vector<Run> &runs) {
  const auto has_no_time = [](const Run &run) {
    return !std::isfinite(run.real_accumulated_time) || !std::isfinite(run.cpu_accumulated_time);
  };
  runs.erase(std::remove_if(runs.begin(), runs.end(), has_no_time), runs.end());
  for (Run &run : runs)
    for (auto counter = run.counters.begin(); counter != run.counters.end();)
      counter = std::isfinite(counter->second.value) ? std::next(counter) : run.counters.erase(counter);
}

} // namespace

std::vector<std::vector<Run>> ByRow(std::vector<Run> runs) {
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Run &left, const Run &right) { return left.family_index < right.family_index; });
  std::vector<std::vector<Run>> rows;
  for (Run &run : runs) {
    if (rows.empty() || rows.back().front().family_index != run.family_index)
      rows.emplace_back();
    rows.back().push_back(std::move(run));
  }
  return rows;
}

std::vector<Run> Shown(std::vector<Run> runs, const Suite &suite) {
  const Row &row = suite.row(runs.front().family_index);
  if (!row.error.empty())
    return FailAll(runs, row.error);
  if (row.cut_short)
    ShowCutShort(runs, row.repetitions_done, suite.repetitions());
  CorrectThreadedTimes(runs);
  if (row.latencies.ops > 0)
    AddPercentiles(runs, row.latencies);
  LeaveOutNoNumbers(runs);
  return runs;
}

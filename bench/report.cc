#include "report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "json_text.h"
#include "runs.h"
#include "table.h"

// The reporter of that name, which options_parse has checked.
static std::unique_ptr<benchmark::BenchmarkReporter> MakeFormat(const std::string &name) {
  if (name == "console")
    return std::make_unique<benchmark::ConsoleReporter>(benchmark::ConsoleReporter::OO_Tabular);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // it is, but it is still one of the flag's values
  if (name == "csv")
    return std::make_unique<benchmark::CSVReporter>();
#pragma GCC diagnostic pop
  return std::make_unique<benchmark::JSONReporter>();
}

ResultsReporter::ResultsReporter(const std::string &format, Suite &suite, std::ostream &out)
    : format_(MakeFormat(format)), is_json_(format == "json"), suite_(suite), out_(out) {}

bool ResultsReporter::ReportContext(const Context &context) {
  context_.emplace(context);
  return true;
}

void ResultsReporter::ReportRuns(const std::vector<Run> &runs) {
  runs_.insert(runs_.end(), runs.begin(), runs.end());
}

void ResultsReporter::Finalize() {
  suite_.Finish();
  format_->SetOutputStream(&text_);
  format_->SetErrorStream(&GetErrorStream());
  const bool wanted = context_ && format_->ReportContext(*context_);
  std::vector<Run> all;
  for (std::vector<Run> &row : ByRow(std::move(runs_))) {
    const std::vector<Run> shown = Shown(std::move(row), suite_);
    all.insert(all.end(), shown.begin(), shown.end());
  }
  if (wanted && !all.empty())
    format_->ReportRuns(all);
  format_->Finalize();
  const std::string written = text_.str();
  if (is_json_) {
    text valid = {};
    json_text_add(&valid, written.data(), written.size());
    out_.write(valid.bytes, static_cast<std::streamsize>(valid.length));
    text_free(&valid);
  } else {
    out_ << written;
  }
  out_ << std::flush;
}

namespace {

// The q-th share of the values, between two of them where need be; NAN where there are none.
double Quantile(std::vector<double> &values, double share) {
  if (values.empty())
    return NAN;
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const size_t below = static_cast<size_t>(at);
  const double above = below + 1 < values.size() ? values[below + 1] : values[below];
  return values[below] + (at - static_cast<double>(below)) * (above - values[below]);
}

double TimeNs(const Run &run) {
  return run.GetAdjustedRealTime() * 1e9 / benchmark::GetTimeUnitMultiplier(run.time_unit);
}

// The median of a counter over the repetitions; NAN where none of them has it.
double CounterOf(const std::vector<Run> &runs, const char *name) {
  std::vector<double> values;
  for (const Run &run : runs)
    if (const auto found = run.counters.find(name); found != run.counters.end())
      values.push_back(found->second.value);
  return Quantile(values, 0.5);
}

table_row Summarize(std::vector<Run> runs, const Row &row) {
  table_row summary = {};
  summary.plan = row.plan;
  summary.name = row.name.c_str();
  summary.error = row.error.empty() ? nullptr : row.error.c_str();
  summary.latencies = &row.latencies;
  const auto is_no_value = [](const Run &run) { return !IsRepetition(run) && run.aggregate_name != "median"; };
  const bool any_repetition = std::any_of(runs.begin(), runs.end(), IsRepetition);
  runs.erase(std::remove_if(runs.begin(), runs.end(),
                            [&](const Run &run) { return any_repetition ? !IsRepetition(run) : is_no_value(run); }),
             runs.end());
  std::vector<double> times_ns;
  for (const Run &run : runs)
    times_ns.push_back(TimeNs(run));
  const double op_bytes = static_cast<double>(gather_plan_op_bytes(row.plan)) * gather_plan_threads(row.plan);
  const bool on_device = gather_plan_disk_bytes(row.plan) > 0 && op_bytes > 0;
  summary.median_ns = Quantile(times_ns, 0.5);
  summary.spread =
      summary.median_ns > 0 ? (Quantile(times_ns, 0.75) - Quantile(times_ns, 0.25)) / summary.median_ns : 0;
  summary.bytes_per_second = summary.median_ns > 0 ? op_bytes / (summary.median_ns * 1e-9) : 0;
  summary.calls = CounterOf(runs, "calls");
  summary.kernel_calls = CounterOf(runs, "kernel_calls");
  summary.write_ns = CounterOf(runs, "write_ns");
  summary.sync_ns = CounterOf(runs, "sync_ns");
  summary.open_ns = CounterOf(runs, "open_ns");
  summary.close_ns = CounterOf(runs, "close_ns");
  // Counters are the mean over threads.
  summary.device_share = on_device ? CounterOf(runs, "device_bytes") * gather_plan_threads(row.plan) / op_bytes : NAN;
  summary.repetitions = row.cut_short ? static_cast<double>(row.repetitions_done) : NAN;
  return summary;
}

} // namespace

void TableReporter::ReportRuns(const std::vector<Run> &runs) {
  runs_.insert(runs_.end(), runs.begin(), runs.end());
}

void TableReporter::Finalize() {
  suite_.Finish();
  if (!suite_.worth_keeping())
    return;
  std::vector<table_row> rows;
  for (std::vector<Run> &runs : ByRow(std::move(runs_))) {
    const Row &row = suite_.row(runs.front().family_index);
    rows.push_back(Summarize(Shown(std::move(runs), suite_), row));
  }
  text text = {};
  table_add(&text, heading_.c_str(), rows.data(), rows.size());
  if (text.length)
    GetOutputStream() << text.bytes << std::flush;
  text_free(&text);
}

#include "report.h"

#include <algorithm>
#include <cstdio>
#include <iomanip>
#include <map>
#include <set>

#include "context.h"
#include "json_text.h"
#include "spoiled.h"

namespace {

using Run = benchmark::BenchmarkReporter::Run;

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

template <class R> auto ErrorOf(const R &run, int) -> decltype(run.error_message) {
  return run.error_message;
}
template <class R> auto ErrorOf(const R &run, long) -> decltype(run.skip_message) {
  return run.skip_message;
}
std::string Error(const Run &run) {
  return ErrorOf(run, 0);
}

// `from` is a failed run: its state and message go to `to`.
template <class R> auto CopyError(const R &from, R &to, int) -> decltype(from.error_occurred, void()) {
  to.error_occurred = from.error_occurred;
  to.error_message = from.error_message;
}
template <class R> auto CopyError(const R &from, R &to, long) -> decltype(from.skipped, void()) {
  to.skipped = from.skipped;
  to.skip_message = from.skip_message;
}

bool IsRepetition(const Run &run) {
  return run.run_type == Run::RT_Iteration;
}

// A row's runs, in the order of the tables.
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

// The first failed repetition, or null.
const Run *FindFailed(const std::vector<Run> &row) {
  const auto failed = std::find_if(row.begin(), row.end(), Failed);
  return failed == row.end() ? nullptr : &*failed;
}

// All repetitions get the error of `failed`, and lose their numbers; aggregates of the rest would
// mislead.
std::vector<Run> FailAll(const std::vector<Run> &row, const Run &failed) {
  std::vector<Run> result;
  for (const Run &run : row) {
    if (!IsRepetition(run))
      continue;
    Run &copy = result.emplace_back(run);
    CopyError(failed, copy, 0);
    copy.real_accumulated_time = copy.cpu_accumulated_time = 0;
    copy.counters.clear();
    copy.report_label.clear();
  }
  return result;
}

} // namespace

// Until 1.9.0 Google Benchmark divides the real time of a row with threads by their number once more: makes it an op's.
static void CorrectThreadedTimes(std::vector<Run> &row) {
#if BENCHMARK_DIVIDES_BY_THREADS
  for (Run &run : row)
    if (run.threads > 1 && run.aggregate_unit == benchmark::kTime)
      run.real_accumulated_time *= static_cast<double>(run.threads);
#else
  (void)row;
#endif
}

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

void AddContext(const char *key, const char *value) {
  benchmark::AddCustomContext(std::string("gatherbench.") + key, value);
}

ResultsReporter::ResultsReporter(const std::string &format, run_context &context, std::ostream &out)
    : format_(MakeFormat(format)), is_json_(format == "json"), run_context_(context), out_(out) {}

bool ResultsReporter::ReportContext(const Context &context) {
  context_.emplace(context);
  return true;
}

void ResultsReporter::ReportRuns(const std::vector<Run> &runs) {
  runs_.insert(runs_.end(), runs.begin(), runs.end());
}

void ResultsReporter::Finalize() {
  context_end(&run_context_);
  format_->SetOutputStream(&text_);
  format_->SetErrorStream(&GetErrorStream());
  const bool wanted = context_ && format_->ReportContext(*context_);
  std::vector<Run> all;
  for (std::vector<Run> &row : ByRow(std::move(runs_))) {
    CorrectThreadedTimes(row);
    const Run *failed = FindFailed(row);
    const std::vector<Run> shown = failed ? FailAll(row, *failed) : row;
    all.insert(all.end(), shown.begin(), shown.end());
  }
  if (wanted && !all.empty())
    format_->ReportRuns(all);
  format_->Finalize();
  out_ << (is_json_ ? ValidJson(text_.str()) : text_.str()) << std::flush;
}

namespace {

// A row's name as Google Benchmark's key:value pairs; the scope, which has no key, comes first.
std::vector<std::pair<std::string, std::string>> Pairs(const std::string &name) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t begin = 0; begin < name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    const size_t colon = part.find(':');
    if (colon != std::string::npos)
      pairs.emplace_back(part.substr(0, colon), part.substr(colon + 1));
    else
      pairs.emplace_back(begin == 0 ? "scope" : part, part);
    begin = end + 1;
  }
  return pairs;
}

// Adds the keys that are new, each before the one that follows it in the row: rows leave keys out.
void AddKeys(const std::vector<std::pair<std::string, std::string>> &pairs, std::vector<std::string> &keys) {
  auto next = keys.end();
  for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair) {
    const auto found = std::find(keys.begin(), keys.end(), pair->first);
    next = found == keys.end() ? keys.insert(next, pair->first) : found;
  }
}

struct Summary {
  std::map<std::string, std::string> keys;
  std::string error, label;
  double median_ns = 0, spread = 0; // spread: interquartile range over the median
  double bytes_per_second = 0, calls = 0, kernel_calls = 0;
  bool has_kernel_calls = false;
};

double Quantile(const std::vector<double> &sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(at);
  const double above = below + 1 < sorted.size() ? sorted[below + 1] : sorted[below];
  return sorted[below] + (at - static_cast<double>(below)) * (above - sorted[below]);
}

double Counter(const Run &run, const char *name) {
  const auto found = run.counters.find(name);
  return found == run.counters.end() ? 0 : found->second.value;
}

Summary Summarize(const std::vector<Run> &row) {
  Summary summary;
  for (const auto &[key, value] : Pairs(row.front().run_name.str()))
    summary.keys[key] = value;
  if (const Run *failed = FindFailed(row)) {
    summary.error = Error(*failed);
    return summary;
  }
  std::vector<double> times_ns;
  for (const Run &run : row)
    if (IsRepetition(run) || run.aggregate_name == "median") // the latter alone with --benchmark_report_aggregates_only
      times_ns.push_back(run.GetAdjustedRealTime() * 1e9 / benchmark::GetTimeUnitMultiplier(run.time_unit));
  std::sort(times_ns.begin(), times_ns.end());
  if (times_ns.empty())
    return summary;
  summary.median_ns = Quantile(times_ns, 0.5);
  if (summary.median_ns > 0)
    summary.spread = (Quantile(times_ns, 0.75) - Quantile(times_ns, 0.25)) / summary.median_ns;
  const Run &any = row.front();
  summary.calls = Counter(any, "calls");
  summary.kernel_calls = Counter(any, "kernel_calls");
  summary.has_kernel_calls = any.counters.count("kernel_calls") > 0;
  summary.label = any.report_label;
  if (summary.median_ns > 0) {
    // The bytes of an op, from this repetition's rate and time, at the median's pace.
    const double any_s = any.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(any.time_unit);
    summary.bytes_per_second = Counter(any, "bytes_per_second") * any_s / (summary.median_ns * 1e-9);
  }
  return summary;
}

std::string Fixed(double value, int decimals) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(decimals) << value;
  return text.str();
}

// Calls an op: a whole number as such, a mean with what is significant of it.
std::string Calls(double value) {
  std::ostringstream text;
  text << std::setprecision(6) << value;
  return text.str();
}

struct Unit {
  const char *name;
  double ns;
};

// One unit for the column: the largest in which the smallest median is at least 1.
Unit ChooseUnit(const std::vector<Summary> &rows) {
  double least_ns = 0;
  for (const Summary &row : rows)
    if (row.median_ns > 0 && (least_ns <= 0 || row.median_ns < least_ns))
      least_ns = row.median_ns;
  for (const Unit unit : {Unit{"s", 1e9}, Unit{"ms", 1e6}, Unit{"us", 1e3}})
    if (least_ns >= unit.ns)
      return unit;
  return {"ns", 1};
}

using Lines = std::vector<std::vector<std::string>>;

// Columns as wide as their widest cell; the first `left` to the left, the others to the right.
void Print(std::ostream &out, const Lines &lines, size_t left) {
  std::vector<size_t> widths;
  for (const auto &line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); i++)
      widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto &line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); i++) {
      const std::string padding(widths[i] - line[i].size(), ' ');
      text += (i ? "  " : "") + (i < left ? line[i] + padding : padding + line[i]);
    }
    out << text.substr(0, text.find_last_not_of(' ') + 1) << '\n';
  }
}

} // namespace

void TableReporter::ReportRuns(const std::vector<Run> &runs) {
  runs_.insert(runs_.end(), runs.begin(), runs.end());
}

void TableReporter::Finalize() {
  std::vector<Summary> rows;
  std::vector<std::string> keys; // in the order of the names
  for (std::vector<Run> &row : ByRow(std::move(runs_))) {
    CorrectThreadedTimes(row);
    AddKeys(Pairs(row.front().run_name.str()), keys);
    rows.push_back(Summarize(row));
  }
  if (rows.empty())
    return;

  // What all rows share stands above the table, what distinguishes them in it.
  std::ostream &out = GetOutputStream();
  std::vector<std::string> columns;
  std::string shared;
  for (const std::string &key : keys) {
    std::set<std::string> values;
    for (const Summary &row : rows)
      values.insert(row.keys.count(key) ? row.keys.at(key) : "");
    if (key == "real_time")
      continue;
    if (values.size() > 1)
      columns.push_back(key);
    else
      shared += (shared.empty() ? "" : ", ") + key + " " + *values.begin();
  }
  if (columns.empty())
    columns.push_back("strategy");
  context_end(&run_context_);
  out << heading_ << '\n';
  if (*spoiled_text())
    out << spoiled_text() << '\n';
  out << shared << "\n\n";

  const Unit unit = ChooseUnit(rows);
  Lines lines(1, columns);
  lines[0].insert(lines[0].end(), {std::string("median ") + unit.name, "IQR %", "MB/s", "calls", "kernel"});
  for (const Summary &row : rows) {
    auto &line = lines.emplace_back();
    for (const std::string &key : columns)
      line.push_back(row.keys.count(key) ? row.keys.at(key) : "");
    if (row.error.empty())
      line.insert(line.end(),
                  {Fixed(row.median_ns / unit.ns, 2), Fixed(100 * row.spread, 1), Fixed(row.bytes_per_second / 1e6, 0),
                   Calls(row.calls), row.has_kernel_calls ? Calls(row.kernel_calls) : "-"});
    else
      line.insert(line.end(), {"failed", "", "", "", ""});
  }
  Print(out, lines, columns.size());
  for (const Summary &row : rows)
    if (!row.error.empty())
      out << "failed: " << row.error << '\n';
  out.flush();
}

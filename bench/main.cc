// main.cc: a run from the command line to the exit status.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include <benchmark/benchmark.h>
#include <sys/stat.h>

#include "benchmark_flags.h"
#include "budget.h"
#include "circumstances.h"
#include "config.h"
#include "context.h"
#include "directory.h"
#include "dry_run.h"
#include "options.h"
#include "printable.h"
#include "process.h"
#include "register.h"
#include "report.h"
#include "results_file.h"
#include "spoiled.h"
#include "sync_proof.h"
#include "terminate.h"
#include "untimed.h"
#include "workspace.h"

namespace {

// A static one is closed even where Google Benchmark ends the process.
struct Workspace : gather_workspace {
  explicit Workspace(const char *where) {
    gather_workspace_init(this, where);
  }
  ~Workspace() {
    (void)directory_close(this);
  }
};

bool Interrupted() {
  return process_interrupted_by() != 0;
}

void PrintRefused(const options &options) {
  for (size_t i = 0; i < options.rows_count; i++)
    if (options.rows[i].refused)
      std::fprintf(stderr, "gatherbench: refused: %s: %s\n", options.rows[i].name, options.rows[i].refused);
}

// Says which rows are refused; false if none is left.
bool AnyLeft(const options &options) {
  PrintRefused(options);
  if (options.rows_count > options.refused_count)
    return true;
  complain("%s", options.rows_count ? "every row was refused" : "no row matches --benchmark_filter");
  return false;
}

// The screen: our table, or one of Google Benchmark's formats.
std::unique_ptr<benchmark::BenchmarkReporter> MakeDisplay(const options &options, Suite &suite) {
  if (options.format)
    return std::make_unique<ResultsReporter>(options.format, suite, std::cout);
  char heading[4096];
  circumstances_heading(&options, heading, sizeof heading);
  return std::make_unique<TableReporter>(heading, suite);
}

// One line on stderr for each sentence.
void ComplainOfSpoiled() {
  std::istringstream sentences(spoiled_text());
  for (std::string sentence; std::getline(sentences, sentence);)
    complain("%s", sentence.c_str());
}

// Measures every row, and returns the results as text, where they are wanted.
std::string RunAll(const options &options, Suite &suite) {
  std::ostringstream text;
  ResultsReporter results(options.out_format, suite, text);
  benchmark::RunSpecifiedBenchmarks(MakeDisplay(options, suite).get(), WritesResults(options) ? &results : nullptr);
  suite.Finish();                                                 // where there was nothing to report
  if (suite.worth_keeping() && (options.format || Interrupted())) // else our own table says it
    ComplainOfSpoiled();
  return text.str();
}

exit_status MeasureIn(gather_workspace &workspace, options &options, int argc, char **argv) {
  const bool run = options.action == OPTIONS_RUN;
  // First of all, for Google Benchmark may end the process here.
  if (!InitializeBenchmark(options))
    return BAD_USAGE;
  if (const int error = process_catch_interruptions()) {
    complain("sigaction: %s", std::strerror(-error));
    return FAILED;
  }
  // Whatever the user's mask: what is made in the directory is nobody else's, and is ours to use.
  const mode_t mask = umask(077);
  if (run && !directory_check(&options, &workspace))
    return FAILED;
  if (run) {
    options_probe(&options, &workspace, Interrupted);
    sync_proof(&options, &workspace, Interrupted);
    untimed_observe(&options, &workspace, Interrupted);
    const unsigned wanted = options.repetitions;
    budget_apply(&options, &workspace, Interrupted);
    if (options.repetitions != wanted && !InitializeBenchmark(options))
      return FAILED;
  }
  if (!AnyLeft(options))
    return NOTHING_MEASURED;
  static ResultsFile file(0644 & ~mask); // static: as a Workspace
  left_behind.results = &file;
  if (WritesResults(options) && !file.Open(options.out))
    return FAILED;

  run_context context;
  Suite suite(options, workspace, context);
  suite.Register();
  context_begin(&context, &options, argc, argv, AddContext);
  const std::string results = RunAll(options, suite);
  const bool kept = !WritesResults(options) || !suite.worth_keeping() || file.Complete(results);
  return kept && suite.failed_count() == 0 ? MEASURED : FAILED;
}

int Measure(options &options, int argc, char **argv) {
  static Workspace workspace(options.dir);
  left_behind.workspace = &workspace;
  exit_status status = MeasureIn(workspace, options, argc, argv);
  if (!directory_close(&workspace) && status == MEASURED)
    status = FAILED;
  return Interrupted() ? SIGNALLED + process_interrupted_by() : status;
}

int Act(options &options, int argc, char **argv) {
  switch (options.action) {
  case OPTIONS_HELP:
    options_print_help();
    std::fflush(stdout);
    InitializeBenchmark(options); // prints its half and exits
    return MEASURED;
  case OPTIONS_VERSION:
    std::puts("gatherbench " GATHERBENCH_VERSION);
    return MEASURED;
  case OPTIONS_LIST:
    options_print_list(&options);
    return MEASURED;
  case OPTIONS_DRY_RUN:
    PrintRefused(options);
    dry_run(&options);
    return MEASURED;
  case OPTIONS_LIST_TESTS:
  case OPTIONS_RUN:
    return Measure(options, argc, argv);
  }
  return BAD_USAGE;
}

} // namespace

int main(int argc, char **argv) {
  EndOnExceptions();
  if (process_prepare() != 0)
    return FAILED;
  options options;
  const int status = options_parse(&options, argc, argv) == 0 ? Act(options, argc, argv) : BAD_USAGE;
  options_free(&options);
  return status;
}

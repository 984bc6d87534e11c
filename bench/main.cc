// main.cc: a run from the command line to the exit status.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "environment.h"
#include "gather.h"
#include "load.h"
#include "options.h"
#include "printable.h"
#include "register.h"
#include "report.h"
#include "results_file.h"
#include "spoiled.h"
#include "workspace.h"

namespace {

enum ExitStatus { MEASURED = 0, FAILED = 1, BAD_USAGE = 2, SIGNALLED = 128 };

// The first signal asks the run to stop after the current repetition; the second ends the process
// at once.
void OnSignal(int signal) {
  if (interrupted_by.exchange(signal))
    _exit(SIGNALLED + signal);
}

// What makes no files keeps the default action, which ends it.
bool CatchInterruptions() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART; // or stdio would lose what it has when a signal meets a slow pipe
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before;
    if (sigaction(signal, nullptr, &before) < 0)
      return false;
    // What was ignored, as under nohup, stays ignored.
    if (before.sa_handler != SIG_IGN && sigaction(signal, &action, nullptr) < 0)
      return false;
  }
  return true;
}

// A reader that goes away and a file that may not grow are errors of a row, or of the output, not the
// end of the process.
bool IgnoreWriteSignals() {
  struct sigaction action = {};
  action.sa_handler = SIG_IGN;
  return sigaction(SIGPIPE, &action, nullptr) == 0 && sigaction(SIGXFSZ, &action, nullptr) == 0;
}

// A standard stream that the caller has closed would be the next file that is opened, and get what is
// printed. It becomes one whose use fails.
bool OpenStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      return false;
  return true;
}

// At exit, for Google Benchmark may end the process: what was printed has arrived, or the status says
// that it has not.
void CheckStdout() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return;
  std::fprintf(stderr, "gatherbench: write to the standard output failed\n");
  _exit(interrupted_by ? SIGNALLED + interrupted_by : FAILED);
}

void AddContext(const options &options, int argc, char **argv) {
  const auto add = [](const char *key, const std::string &value) {
    benchmark::AddCustomContext(std::string("gatherbench.") + key, value);
  };
  add("version", GATHERBENCH_VERSION);
  add("build_type", GATHERBENCH_BUILD_TYPE);
  std::string command = "gatherbench";
  for (int i = 1; i < argc; i++)
    command += std::string(" ") + argv[i];
  add("command", command);
  if (options.preset)
    add("preset", options.preset);
  for (const gather_environment_item *item = gather_environment; item->key; item++) {
    char value[512];
    if (item->read(options.dir, value, sizeof value) == 0)
      add(item->key, value);
  }
  std::string refused;
  size_t reused = 0;
  for (size_t i = 0; i < options.rows_count; i++) {
    const options_row &row = options.rows[i];
    reused += row.plan.reuse_buffer;
    if (row.refused)
      refused += std::string(refused.empty() ? "" : "\n") + row.name + ": " + row.refused;
  }
  add("buffers", reused == 0 ? "distinct" : reused == options.rows_count ? "one, used again" : "distinct or one");
  if (!refused.empty())
    add("refused", refused);
}

void PrintRefused(const options &options) {
  for (size_t i = 0; i < options.rows_count; i++)
    if (options.rows[i].refused)
      std::fprintf(stderr, "gatherbench: refused: %s: %s\n", options.rows[i].name, options.rows[i].refused);
}

// Text that came from outside, for the screen.
std::string Printable(const char *text) {
  std::string out(4 * std::strlen(text) + 1, '\0'); // an escape for each byte
  return printable(text, out.data(), out.size());
}

// A fact of the environment for the screen, or what stands in for it where it cannot be told.
std::string Environment(const options &options, const char *key, const char *unknown) {
  char value[512];
  for (const gather_environment_item *item = gather_environment; item->key; item++)
    if (std::strcmp(item->key, key) == 0 && item->read(options.dir, value, sizeof value) == 0)
      return Printable(value);
  return unknown;
}

// What a run would do. The bytes of op rows are not known in advance: as many ops are made as fit into the time.
void DryRun(const options &options) {
  const double write_rate = 2e9, device_rate = 1e9; // bytes a second: a guess that is right within a few times
  const double min_time_s = std::atof(options.min_time), reps = options.repetitions;
  double seconds = 0, file_bytes = 0;
  bool any_windows = false;
  size_t rows = 0;
  for (size_t i = 0; i < options.rows_count; i++) {
    const gather_plan &plan = options.rows[i].plan;
    if (options.rows[i].refused)
      continue;
    rows++;
    const double op_bytes = static_cast<double>(gather_plan_op_bytes(&plan)) * gather_plan_threads(&plan);
    std::printf("%s  %.0f bytes an op\n", options.rows[i].name, op_bytes);
    if (plan.scope->offers & GATHER_CREATED) {
      file_bytes += gather_plan_disk_bytes(&plan) > 0 ? op_bytes * reps : 0;
      seconds += reps * std::max(min_time_s, op_bytes / write_rate);
    } else {
      const bool on_file = gather_plan_disk_bytes(&plan) > 0;
      any_windows |= on_file;
      // What a repetition has overwritten is settled before the next; finding the iteration count takes two more.
      const double dirty_bytes =
          on_file ? std::min(static_cast<double>(gather_plan_disk_bytes(&plan)), min_time_s * write_rate) : 0;
      seconds += (reps + 2) * (min_time_s + 0.002 + dirty_bytes / device_rate);
    }
  }
  std::printf("\n%zu rows, %u repetitions each\n", rows, options.repetitions);
  const double window_bytes = any_windows ? static_cast<double>(options_disk_bytes(&options)) : 0;
  std::printf("in %s on %s: %.0f bytes in new files, and %.0f bytes that are overwritten again and again\n",
              Printable(options.dir).c_str(), Environment(options, "device", "an unknown device").c_str(), file_bytes,
              window_bytes);
  std::printf("about %.0f s, if files are written at %.0f GB/s and written back at %.0f GB/s\n", seconds,
              write_rate / 1e9, device_rate / 1e9);
}

// The command line for Google Benchmark: our defaults, then what the user said.
std::vector<std::string> BenchmarkArguments(const options &options, bool to_file) {
  std::vector<std::string> arguments = {
      "gatherbench",
      "--benchmark_filter=.*", // we have filtered; the default is slow with many rows
      "--benchmark_repetitions=" + std::to_string(options.repetitions),
      std::string("--benchmark_min_time=") + options.min_time,
  };
  // The environment lies between our defaults and the command line, so these two stay away if it
  // sets them.
  if (!getenv("BENCHMARK_ENABLE_RANDOM_INTERLEAVING"))
    arguments.push_back("--benchmark_enable_random_interleaving=true");
  if (!getenv("BENCHMARK_DISPLAY_AGGREGATES_ONLY"))
    arguments.push_back("--benchmark_display_aggregates_only=" + std::string(options.format ? "true" : "false"));
  if (to_file)
    arguments.push_back("--benchmark_out=/dev/null"); // a second reporter needs one; ours has its own stream
  if (options.action == OPTIONS_LIST_TESTS)
    arguments.push_back("--benchmark_list_tests=true");
  if (options.action == OPTIONS_HELP)
    arguments.push_back("--help");
  for (int i = 0; i < options.passed_on_count; i++)
    arguments.push_back(options.passed_on[i]);
  return arguments;
}

// False after Google Benchmark has said which flag it does not know.
bool InitializeBenchmark(const options &options, bool to_file) {
  static std::vector<std::string> arguments; // static: Google Benchmark keeps a pointer to the program's name
  arguments = BenchmarkArguments(options, to_file);
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  benchmark::Initialize(&argc, argv.data());
  return !benchmark::ReportUnrecognizedArguments(argc, argv.data());
}

// One line on where the rows are measured.
std::string Heading(const options &options) {
  const std::string emulated = Environment(options, "emulated", "no");
  return Environment(options, "kernel", "unknown kernel") + ", " + Environment(options, "machine", "unknown machine") +
         (emulated == "no" ? ", not emulated; " : ", emulated by " + emulated + "; ") +
         Environment(options, "filesystem", "unknown file system") + " in " + Printable(options.dir);
}

// The screen: our table, or one of Google Benchmark's formats.
std::unique_ptr<benchmark::BenchmarkReporter> MakeDisplay(const options &options, Load &load) {
  if (!options.format)
    return std::make_unique<TableReporter>(Heading(options), load);
  return std::make_unique<ResultsReporter>(options.format, load, std::cout);
}

// One line on stderr for each sentence.
void ComplainOfSpoiled() {
  std::istringstream sentences(spoiled_text());
  for (std::string sentence; std::getline(sentences, sentence);)
    std::fprintf(stderr, "gatherbench: %s\n", sentence.c_str());
}

// Measures every row, and returns the results as text, where they are wanted.
std::string RunAll(const options &options, Suite &suite, bool to_file) {
  Load load;
  std::ostringstream text;
  ResultsReporter results(options.out_format, load, text);
  benchmark::RunSpecifiedBenchmarks(MakeDisplay(options, load).get(), to_file ? &results : nullptr);
  suite.progress().Clear();
  if (options.format) // our own table says it
    ComplainOfSpoiled();
  return text.str();
}

// Whether the directory can hold what the rows write, with a twentieth more for the file system's own needs.
bool CheckDirectory(const options &options, gather_workspace &workspace) {
  uint64_t bytes = options_disk_bytes(&options);
  if (bytes == 0)
    return true;
  bytes += std::min(bytes / 20, UINT64_MAX - bytes);
  uint64_t free_bytes = UINT64_MAX; // not yet known
  const int error = gather_workspace_check(&workspace, bytes, &free_bytes);
  if (free_bytes < bytes)
    complain("%s: %.1f MB are needed and %.1f MB are free", options.dir, static_cast<double>(bytes) / 1e6,
             static_cast<double>(free_bytes) / 1e6);
  else if (error)
    complain("%s %s: %s", workspace.operation, options.dir, std::strerror(-error));
  return error == 0;
}

// Removes all that was made in the directory.
bool CloseWorkspace(gather_workspace &workspace) {
  const int error = gather_workspace_close(&workspace);
  if (error)
    complain("%s in %s: %s", workspace.operation, workspace.dir, std::strerror(-error));
  if (*workspace.private_name)
    complain("%s/%s is left; the next run there removes it", workspace.dir, workspace.private_name);
  return error == 0;
}

// A static one is closed even where Google Benchmark ends the process.
struct Workspace : gather_workspace {
  explicit Workspace(const char *where) {
    gather_workspace_init(this, where);
  }
  ~Workspace() {
    CloseWorkspace(*this);
  }
};

// What would stay behind if the process ended now.
struct {
  Workspace *workspace;
  ResultsFile *results;
} to_close;

// Where there is no memory, or no thread, the libraries throw, some of it where nothing can catch it. Other threads
// may still run, so that nothing is destroyed but what would stay behind.
[[noreturn]] void OnTerminate() {
  static std::atomic_flag entered = ATOMIC_FLAG_INIT;
  while (entered.test_and_set())
    pause(); // another thread ends the process
  const char *reason = "unknown error";
  char text[128];
  try {
    if (const std::exception_ptr thrown = std::current_exception())
      std::rethrow_exception(thrown);
  } catch (const std::bad_alloc &) {
    reason = "out of memory";
  } catch (const std::system_error &error) {
    std::snprintf(text, sizeof text, "start threads: %s", std::strerror(error.code().value()));
    reason = text;
  } catch (const std::exception &error) {
    std::snprintf(text, sizeof text, "%s", error.what());
    reason = text;
  } catch (...) {
  }
  std::fprintf(stderr, "gatherbench: %s\n", reason);
  if (to_close.results)
    to_close.results->~ResultsFile();
  if (to_close.workspace) {
    pthread_mutex_lock(&to_close.workspace->mutex);
    CloseWorkspace(*to_close.workspace);
  }
  _exit(FAILED);
}

bool Interrupted() {
  return interrupted_by != 0;
}

// Says which rows are refused; false if none is left.
bool AnyLeft(const options &options) {
  PrintRefused(options);
  if (options.rows_count > options.refused_count)
    return true;
  std::fprintf(stderr, "gatherbench: %s\n",
               options.rows_count ? "every row was refused" : "no row matches --benchmark_filter");
  return false;
}

ExitStatus MeasureIn(gather_workspace &workspace, options &options, int argc, char **argv) {
  const bool run = options.action == OPTIONS_RUN;
  const bool to_file = options.out && run;
  // First of all, for Google Benchmark may end the process here.
  if (!InitializeBenchmark(options, to_file))
    return BAD_USAGE;
  if (!CatchInterruptions()) {
    std::fprintf(stderr, "gatherbench: sigaction: %s\n", std::strerror(errno));
    return FAILED;
  }
  // Whatever the user's mask: what is made in the directory is nobody else's, and is ours to use.
  const mode_t mask = umask(077);
  if (run && !CheckDirectory(options, workspace))
    return FAILED;
  if (run)
    options_probe(&options, &workspace, Interrupted);
  if (!AnyLeft(options))
    return FAILED;
  static ResultsFile file(0644 & ~mask); // static: as a Workspace
  to_close.results = &file;
  if (to_file && !file.Open(options.out))
    return FAILED;
  AddContext(options, argc, argv);

  Suite suite(options, workspace);
  suite.Register();
  const std::string results = RunAll(options, suite, to_file);
  const bool kept = !to_file || file.Complete(results);
  return kept && suite.failed_count() == 0 ? MEASURED : FAILED;
}

int Measure(options &options, int argc, char **argv) {
  static Workspace workspace(options.dir);
  to_close.workspace = &workspace;
  ExitStatus status = MeasureIn(workspace, options, argc, argv);
  if (!CloseWorkspace(workspace) && status == MEASURED)
    status = FAILED;
  return interrupted_by ? SIGNALLED + interrupted_by : status;
}

int Act(options &options, int argc, char **argv) {
  switch (options.action) {
  case OPTIONS_HELP:
    options_print_help();
    std::fflush(stdout);
    InitializeBenchmark(options, false); // prints its half and exits
    return MEASURED;
  case OPTIONS_VERSION:
    std::puts("gatherbench " GATHERBENCH_VERSION);
    return MEASURED;
  case OPTIONS_LIST:
    options_print_list(&options);
    return MEASURED;
  case OPTIONS_DRY_RUN:
    PrintRefused(options);
    DryRun(options);
    return MEASURED;
  case OPTIONS_LIST_TESTS:
  case OPTIONS_RUN:
    return Measure(options, argc, argv);
  }
  return BAD_USAGE;
}

} // namespace

int main(int argc, char **argv) {
  std::set_terminate(OnTerminate);
  if (!OpenStandardStreams() || !IgnoreWriteSignals() || std::atexit(CheckStdout) != 0)
    return FAILED;
  options options;
  const int status = options_parse(&options, argc, argv) == 0 ? Act(options, argc, argv) : BAD_USAGE;
  options_free(&options);
  return status;
}

#include "benchmark_flags.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

bool WritesResults(const options &options) {
  return options.out && options.action == OPTIONS_RUN;
}

static std::vector<std::string> Arguments(const options &options) {
  std::vector<std::string> arguments = {
      "gatherbench",
      "--benchmark_filter=.*", // we have filtered; the default is slow with many rows
      "--benchmark_repetitions=" + std::to_string(options.repetitions),
      std::string("--benchmark_min_time=") + options.min_time,
  };
  // The environment lies between our defaults and the command line, so these two stay away if it sets them.
  if (!getenv("BENCHMARK_ENABLE_RANDOM_INTERLEAVING"))
    arguments.push_back("--benchmark_enable_random_interleaving=true");
  if (!getenv("BENCHMARK_DISPLAY_AGGREGATES_ONLY"))
    arguments.push_back("--benchmark_display_aggregates_only=" + std::string(options.format ? "true" : "false"));
  if (WritesResults(options))
    arguments.push_back("--benchmark_out=/dev/null"); // a second reporter needs one; ours has its own stream
  if (options.action == OPTIONS_LIST_TESTS)
    arguments.push_back("--benchmark_list_tests=true");
  if (options.action == OPTIONS_HELP)
    arguments.push_back("--help");
  arguments.insert(arguments.end(), options.passed_on, options.passed_on + options.passed_on_count);
  return arguments;
}

bool InitializeBenchmark(const options &options) {
  static std::vector<std::string> arguments; // static: Google Benchmark keeps a pointer to the program's name
  arguments = Arguments(options);
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  benchmark::Initialize(&argc, argv.data());
  return !benchmark::ReportUnrecognizedArguments(argc, argv.data());
}

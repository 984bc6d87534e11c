// benchmark_flags.h: our options become Google Benchmark's flags.
#ifndef BENCHMARK_FLAGS_H
#define BENCHMARK_FLAGS_H

#include "options.h"

// Whether the results go to a file as well as to the screen.
bool WritesResults(const options &options);

// Gives Google Benchmark our defaults, and then what the user said. False after it has said which flag it does not
// know; it ends the process where it finds a value wrong, and after its --help.
bool InitializeBenchmark(const options &options);

#endif

// runs.h: Google Benchmark's runs of a row, as they are shown.
#ifndef RUNS_H
#define RUNS_H

#include <vector>

#include <benchmark/benchmark.h>

#include "register.h"

using Run = benchmark::BenchmarkReporter::Run;

// Whether it is a single repetition, and no aggregate.
bool IsRepetition(const Run &run);

// Each row's runs, in the order of registration; they come in the order of completion.
std::vector<std::vector<Run>> ByRow(std::vector<Run> runs);

// What is shown of a row's runs, which are at least one, once the suite has finished: every repetition of a failed row
// has the error and no numbers; of a row that was cut short only what was made is left; times are an op's; percentiles
// are added; what is no number is left out.
std::vector<Run> Shown(std::vector<Run> runs, const Suite &suite);

#endif

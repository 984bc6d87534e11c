/* budget.c: how many repetitions fit into the time that a run may take. */
#include <stdlib.h>

#include "budget.h"
#include "gather.h"
#include "spoiled.h"

enum {
  REPETITIONS_MIN = 10, /* fewer tell of large differences only: the interval of a median of ten is 2nd to 9th value */
  REPETITIONS_FEW = 20, /* fewer are said */
  TRIALS = 2,           /* of a row; the first finds everything cold */
};

/* The seconds of one repetition, from opening the run to closing it. */
static double try_row(const struct gather_plan *plan, struct gather_workspace *workspace, double min_time_s) {
  struct gather_run run;
  const uint64_t begin_ns = gather_clock_ns();
  if (gather_open(&run, plan, workspace, 0) != 0)
    return 0;
  const uint64_t opened_ns = gather_clock_ns();
  int error = 0; /* it will come again where it is told */
  for (unsigned ops = options_ops_min(plan); ops > 0 && !error; ops--) {
    error = gather_prepare(&run);
    if (!error)
      error = gather_op(&run);
  }
  const double ops_s = (double)(gather_clock_ns() - opened_ns) / 1e9;
  (void)gather_close(&run);
  const double all_s = (double)(gather_clock_ns() - begin_ns) / 1e9;
  return ops_s < min_time_s ? all_s - ops_s + min_time_s : all_s;
}

void budget_apply(struct options *options, struct gather_workspace *workspace, bool (*stop)(void)) {
  if (options->budget_s == 0)
    return;
  const double min_time_s = atof(options->min_time);
  double round_s = 0;
  for (size_t i = 0; i < options->rows_count; i++) {
    const struct options_row *row = &options->rows[i];
    double row_s = 0;
    for (int trial = 0; trial < TRIALS && !row->refused && !row->failed; trial++) {
      if (stop())
        return;
      row_s = try_row(&row->plan, workspace, min_time_s);
    }
    round_s += row_s;
  }
  const double fit = round_s > 0 ? options->budget_s / round_s : options->repetitions;
  const unsigned least = options->repetitions < REPETITIONS_MIN ? options->repetitions : REPETITIONS_MIN;
  const unsigned wanted = options->repetitions;
  if (fit < wanted)
    options->repetitions = fit > least ? (unsigned)fit : least;
  if (options->repetitions < wanted && options->repetitions < REPETITIONS_FEW)
    spoiled_add("%u repetitions of a row, not %u: more would take longer than the %u s of --budget",
                options->repetitions, wanted, options->budget_s);
}

/* dry_run.c: estimates a run from its plans alone. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "circumstances.h"
#include "dry_run.h"
#include "printable.h"

/* Bytes a second: guesses, right to within a factor of a few. */
static const double write_rate = 2e9, device_rate = 1e9;

static double larger(double left, double right) {
  return left > right ? left : right;
}

static double smaller(double left, double right) {
  return left < right ? left : right;
}

/* Seconds for all repetitions of a row. */
static double row_seconds(const struct options *options, const struct gather_plan *plan, double op_bytes) {
  double min_time_s = atof(options->min_time), repetitions = options->repetitions;
  if (plan->scope->provided & GATHER_WHOLE_FILE)
    return repetitions * larger(min_time_s, op_bytes / write_rate);
  /* A repetition waits until what it has overwritten is on the device; finding the iteration count takes two more. */
  double dirty_bytes = smaller((double)gather_plan_disk_bytes(plan), min_time_s * write_rate);
  return (repetitions + 2) * (min_time_s + 0.002 + dirty_bytes / device_rate);
}

void dry_run(const struct options *options) {
  double seconds = 0, file_bytes = 0;
  bool any_windows = false;
  size_t rows = 0;
  for (size_t i = 0; i < options->rows_count; i++) {
    const struct gather_plan *plan = &options->rows[i].plan;
    if (options->rows[i].refused)
      continue;
    rows++;
    double op_bytes = (double)gather_plan_op_bytes(plan) * gather_plan_threads(plan);
    printf("%s  %.0f bytes an op\n", options->rows[i].name, op_bytes);
    seconds += row_seconds(options, plan, op_bytes);
    if (gather_plan_disk_bytes(plan) == 0)
      continue;
    if (plan->scope->provided & GATHER_WHOLE_FILE)
      file_bytes += op_bytes * options->repetitions;
    else
      any_windows = true;
  }
  printf("\n%zu rows, %u repetitions each\n", rows, options->repetitions);
  char dir[PATH_MAX], device[512];
  circumstances_fact(options, "device", "an unknown device", device, sizeof device);
  printf("in %s on %s: %.0f bytes in new files, and %.0f bytes that are overwritten again and again\n",
         printable(options->dir, dir, sizeof dir), device, file_bytes,
         any_windows ? (double)options_disk_bytes(options) : 0);
  printf("about %.0f s, if files are written at %.0f GB/s and written back at %.0f GB/s\n", seconds, write_rate / 1e9,
         device_rate / 1e9);
}

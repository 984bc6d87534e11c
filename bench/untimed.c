/* untimed.c: counters that need an op of their own, which is not timed. */
#include "untimed.h"

#include <stdio.h>
#include <string.h>

#include "observer.h"

static void keep(void *context, const char *name, double value) {
  struct options_row *row = context;
  if (row->untimed_count < sizeof row->untimed / sizeof *row->untimed)
    row->untimed[row->untimed_count++] = (struct options_counter){name, value};
}

void untimed_observe(struct options *options, struct gather_workspace *workspace, bool (*stop)(void)) {
  for (size_t i = 0; i < options->rows_count && !stop(); i++) {
    struct options_row *row = &options->rows[i];
    if (row->refused || row->failed || !gather_is_observed_untimed(&row->plan))
      continue;
    struct gather_run run;
    int error = gather_open(&run, &row->plan, workspace, 0);
    if (!error) {
      error = gather_observe_untimed(&run, keep, row);
      int close_error = gather_close(&run);
      error = error ? error : close_error;
    }
    if (!error)
      continue;
    snprintf(row->reason, sizeof row->reason, "%s: %s", run.failure.call, strerror(-error));
    row->failed = row->reason;
  }
}

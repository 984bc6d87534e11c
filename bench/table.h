/* table.h: the table that a run shows on the screen. */
#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>

#include "gather.h"
#include "latency.h"
#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The error of a row that an interrupted run does not keep: a sentence above the table explains it for all of them. */
#define TABLE_INTERRUPTED "interrupted"

/* One row: medians per op over its repetitions; NAN where unknown. */
struct table_row {
  const struct gather_plan *plan;
  const char *name;  /* as in the results */
  const char *error; /* NULL where the row was measured */
  double median_ns;
  double spread; /* interquartile range over the median */
  double bytes_per_second;
  double calls, kernel_calls;
  double open_ns, write_ns, sync_ns, close_ns; /* the phases of an op */
  double device_share;                         /* bytes sent to the device over bytes written */
  double repetitions;                          /* of a row that was cut short */
  const struct latencies *latencies;
};

/* Appends what spoils the figures, what all rows have in common, and a line for each row with what distinguishes it.
 * Columns without any value are left out. Failed rows are named below. */
void table_add(struct text *text, const char *heading, const struct table_row *rows, size_t count);

#ifdef __cplusplus
}
#endif

#endif

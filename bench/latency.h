/* latency.h: how long single ops took. */
#ifndef LATENCY_H
#define LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Times of one thread's ops in one repetition, in nanoseconds. There is room for a limited number; what exceeds it is
 * counted and not recorded. Starts as {0}. */
struct latency_record {
  uint64_t *times_ns;
  size_t room, count;
  uint64_t left_out; /* ops that found no room */
};

/* Makes room for `ops` ops, or for as many as a record has at most, in memory that was touched. Returns 0 or -ENOMEM.
 */
int latency_record_open(struct latency_record *record, uint64_t ops);
void latency_record_close(struct latency_record *record);

static inline void latency_record_add(struct latency_record *record, uint64_t time_ns) {
  if (record->count < record->room)
    record->times_ns[record->count++] = time_ns;
  else
    record->left_out++;
}

/* How often each time occurred, in all repetitions and threads of a row; times are distinct and ascend. Starts as {0}.
 */
struct latencies {
  struct latency_count {
    uint64_t time_ns, ops;
  } * counts;
  size_t distinct;
  uint64_t ops;      /* that were recorded */
  uint64_t left_out; /* that were not */
};

/* Adds a record, which is sorted in place. Returns 0 or -ENOMEM, which leaves the latencies as they were. */
int latencies_add(struct latencies *latencies, struct latency_record *record);
void latencies_clear(struct latencies *latencies);

/* A quantile that is reported: the smallest time that at least `share` of the ops did not exceed. */
struct latency_quantile {
  const char *name;
  double share;
  uint64_t ops_min; /* with fewer ops it is no other than the slowest */
};
extern const struct latency_quantile latency_quantiles[]; /* ends with a NULL name */

/* The quantile in *time_ns, exact to a nanosecond; false where there are too few ops. */
bool latencies_quantile(const struct latencies *latencies, const struct latency_quantile *quantile, uint64_t *time_ns);

#ifdef __cplusplus
}
#endif

#endif

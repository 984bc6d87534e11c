/* latency.c: exact quantiles over all repetitions of a row. Times are whole nanoseconds, of which few are distinct:
 * counting how often each occurs takes little memory for any number of ops. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "latency.h"

enum { RECORD_OPS_MAX = 1 << 20 };

const struct latency_quantile latency_quantiles[] = {
    {"p50", 0.5, 1}, {"p99", 0.99, 100}, {"p99.9", 0.999, 1000}, {"max", 1, 1}, {NULL, 0, 0},
};

int latency_record_open(struct latency_record *record, uint64_t ops) {
  size_t room = ops < RECORD_OPS_MAX ? (size_t)ops : RECORD_OPS_MAX;
  *record = (struct latency_record){.times_ns = malloc(room * sizeof *record->times_ns), .room = room};
  if (record->times_ns == NULL)
    return -ENOMEM;
  memset(record->times_ns, 0xff, room * sizeof *record->times_ns);
  return 0;
}

void latency_record_close(struct latency_record *record) {
  free(record->times_ns);
  *record = (struct latency_record){0};
}

static int compare_times(const void *left, const void *right) {
  const uint64_t one = *(const uint64_t *)left, other = *(const uint64_t *)right;
  return (one > other) - (one < other);
}

int latencies_add(struct latencies *latencies, struct latency_record *record) {
  const uint64_t *times_ns = record->times_ns;
  size_t times = record->count, old = 0, distinct = 0;
  struct latency_count *merged = malloc((latencies->distinct + times + 1) * sizeof *merged);
  if (merged == NULL)
    return -ENOMEM;
  qsort(record->times_ns, times, sizeof *times_ns, compare_times);
  for (size_t i = 0; i < times || old < latencies->distinct;) {
    const struct latency_count *known = old < latencies->distinct ? &latencies->counts[old] : NULL;
    struct latency_count *next = &merged[distinct++];
    *next = known && (i == times || known->time_ns <= times_ns[i]) ? *known : (struct latency_count){times_ns[i], 0};
    old += known && next->time_ns == known->time_ns;
    for (; i < times && times_ns[i] == next->time_ns; i++)
      next->ops++;
  }
  struct latency_count *fitting = realloc(merged, (distinct + 1) * sizeof *merged);
  free(latencies->counts);
  *latencies = (struct latencies){
      .counts = fitting ? fitting : merged,
      .distinct = distinct,
      .ops = latencies->ops + times,
      .left_out = latencies->left_out + record->left_out,
  };
  return 0;
}

void latencies_clear(struct latencies *latencies) {
  free(latencies->counts);
  *latencies = (struct latencies){0};
}

bool latencies_quantile(const struct latencies *latencies, const struct latency_quantile *quantile, uint64_t *time_ns) {
  if (latencies->ops < quantile->ops_min)
    return false;
  uint64_t rank = (uint64_t)ceil(quantile->share * (double)latencies->ops), passed = 0;
  size_t i = 0;
  while (i + 1 < latencies->distinct && (passed += latencies->counts[i].ops) < rank)
    i++;
  *time_ns = latencies->counts[i].time_ns;
  return true;
}

/* contention.h: what slowed a run down from outside, between its begin and its end. */
#ifndef GATHER_CONTENTION_H
#define GATHER_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GATHER_CONTENTION_MAX = 8 }; /* resources */

/* Two running totals of a resource. A run is judged by how much each grew. */
struct gather_amounts {
  double part, whole;
};

struct gather_contention {
  struct gather_device device; /* of the run's directory */
  bool has_device;
  uint64_t begin_ns;
  struct gather_amounts begin[GATHER_CONTENTION_MAX]; /* by the table's rows */
  bool told[GATHER_CONTENTION_MAX];
};

/* Reads the totals at the begin of a run that writes in `dir`; NULL for nowhere. Resources that the system does not
 * report are left out at the end. */
void gather_contention_begin(struct gather_contention *contention, const char *dir);

/* Calls on_fact with each resource's key and value, and on_spoiled with a sentence for each that was short. */
void gather_contention_end(const struct gather_contention *contention,
                           void (*on_fact)(const char *key, const char *value),
                           void (*on_spoiled)(const char *sentence));

#ifdef __cplusplus
}
#endif

#endif

/* observer.h: what is counted while ops run, around the timed stretch and never in it, or around one op that is not
 * timed: a table. */
#ifndef GATHER_OBSERVER_H
#define GATHER_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "gather.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an observer keeps between its start and its end. */
struct gather_observation {
  bool started;
  int64_t begin; /* the count, or the level, at the start */
  int64_t calls; /* gather_stats' write calls at the start, for whom that compares with */
};

/* Something that is counted. Functions return 0 or -errno; the counter is then absent. */
struct gather_observer {
  const char *name; /* of the counter */
  const char *unit;
  const char *doc;    /* one line */
  const char *absent; /* why it may be absent */
  bool per_op;        /* a total, which is divided by the ops */
  bool untimed;       /* counting slows the op down: it is done once a row, around an op that is not timed */
  unsigned required;  /* of the plan: gather_capability bits, without which the counter is absent */
  int (*start)(const struct gather_run *run, struct gather_observation *observation);
  /* Called once after each start that succeeded. */
  int (*read)(const struct gather_run *run, struct gather_observation *observation, int64_t *value);
  /* A doubt that the value raises, in a few words, or NULL; where none can, the function is NULL. */
  const char *(*doubt)(const struct gather_run *run, const struct gather_observation *observation, int64_t value);
};

/* Ends with NULL. A new row touches one file; the benchmark, --list and the tests pick it up. */
extern const struct gather_observer *const gather_observers[];

enum { GATHER_OBSERVERS_MAX = 16 };

struct gather_observations {
  struct gather_observation of[GATHER_OBSERVERS_MAX];
};

/* Begins to count for the calling thread, which runs `run`, what needs no op of its own; the last row of the table
 * comes nearest to the ops. */
void gather_observe(struct gather_observations *observations, const struct gather_run *run);

/* Ends it after `ops` ops: calls on_counter with each value that could be told, and what raises a doubt, or NULL. */
void gather_observed(struct gather_observations *observations, const struct gather_run *run, int64_t ops,
                     void (*on_counter)(void *context, const char *name, double value, const char *doubt),
                     void *context);

/* Whether a plan has any of the others. */
bool gather_is_observed_untimed(const struct gather_plan *plan);

/* Runs an op that is not timed for each of them, and calls on_counter with what it told. Returns 0 or the -errno
 * of an op, which run->failure tells. */
int gather_observe_untimed(struct gather_run *run, void (*on_counter)(void *context, const char *name, double value),
                           void *context);

#ifdef __cplusplus
}
#endif

#endif

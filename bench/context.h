/* context.h: what is known of a run as a whole. */
#ifndef CONTEXT_H
#define CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "contention.h"
#include "options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Takes a fact for the results; the key has no prefix yet. */
typedef void context_add(const char *key, const char *value);

/* A run, from before its first row to after its last. */
struct run_context {
  const struct options *options;
  context_add *add;
  struct gather_contention contention;
  bool ended;
};

/* Adds what is known before the first row. The options must outlive the context. */
void context_begin(struct run_context *context, const struct options *options, int argc, char **argv, context_add *add);

/* Adds what is known after the last row: what slowed the run down from outside, and all that spoils its figures. The
 * first call ends the run; the others do nothing. */
void context_end(struct run_context *context);

#ifdef __cplusplus
}
#endif

#endif

/* plan_options.h: options that shape rows, and their values. */
#ifndef PLAN_OPTIONS_H
#define PLAN_OPTIONS_H

#include <stddef.h>

#include "gather.h"

#define THREADS_MAX 1024 /* of a row */

/* An option: its name, its values, and the fields of a plan that it sets. */
struct plan_option {
  const char *name;
  const char *argument;      /* NULL for yes, if nothing is said */
  const char *default_value; /* where neither user nor preset give one; NULL for none */
  const char *doc;           /* one line */
  bool list;                 /* takes several values, which multiply */
  /* Sets its fields of a plan from one value. Returns NULL, or what is wrong with the text. */
  const char *(*set)(const char *text, struct gather_plan *plan);
  size_t offset, bytes; /* of its fields in a plan */
};

enum { PLAN_OPTIONS_MAX = 32 }; /* room for the rows of the table */

extern const struct plan_option plan_options[]; /* ends with a NULL name */

/* The values that one option was given: plans of which only the option's own fields are set. None where count is 0. */
struct option_values {
  struct gather_plan *plans;
  size_t count;
};

/* What each option was given. Starts as {0}. */
struct plan_selection {
  struct option_values of[PLAN_OPTIONS_MAX];
};

/* Parses a value, or a list of them, in place of earlier ones. Returns 0, or -EINVAL after one line on stderr. */
int plan_option_parse(const struct plan_option *option, const char *text, struct option_values *values);

/* Gives a plan the option's value of that index. */
void plan_option_apply(const struct plan_option *option, const struct option_values *values, size_t index,
                       struct gather_plan *plan);

void option_values_free(struct option_values *values);
void plan_selection_free(struct plan_selection *selection);

/* A number of bytes or things, with a suffix k, m or g for powers of 1,024. Returns NULL, or what is wrong with it. */
const char *plan_options_number(const char *text, uint64_t *number);

#endif

/* rows.h: plans and their names, from what options were given. */
#ifndef ROWS_H
#define ROWS_H

#include <regex.h>

#include "options.h"
#include "plan_options.h"

/* Makes rows of selections. */
struct row_builder {
  struct options *options;           /* which the rows are added to */
  const struct plan_selection *user; /* lies over what a preset's line selects */
  struct plan_selection defaults;    /* lies under it */
  regex_t filter;                    /* of names */
  bool filters;                      /* whether there is a filter */
  bool negated;                      /* the rows that the filter does not match are wanted */
  size_t asked;                      /* rows so far, with those that the filter left out */
};

/* Compiles the filter: an extended regular expression, or with a - before it the rows that it does not match; NULL for
 * all rows. Returns 0, or -EINVAL after one line on stderr. row_builder_close releases it in either case. */
int row_builder_open(struct row_builder *builder, struct options *options, const struct plan_selection *user,
                     const char *filter);
void row_builder_close(struct row_builder *builder);

/* Adds the product of all values that the user, the line or else the defaults give. Errors as above. */
int row_builder_add(struct row_builder *builder, const struct plan_selection *line);

/* Lines of a preset may overlap; a row that is asked for twice is measured once. */
void rows_remove_duplicates(struct options *options);

/* Google Benchmark's minimum time is one for all rows, so they must be of one scope: -EINVAL as above if not. */
int rows_check_scopes(const struct options *options);

#endif

/* rows.c: from selections of options to rows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "rows.h"
#include "text.h"
#include "workspace.h"

/* Sanity limit: a larger product is a typing error that would exhaust memory or time. */
#define ROWS_MAX 100000 /* of all products, before a filter */

int options_row_name(const struct gather_plan *plan, char *name, size_t size) {
  int length = gather_plan_name(plan, name, size);
  if (length < 0)
    return length;
  size_t rest = size - (size_t)length;
  const char *clock = gather_plan_keeps(plan) ? "manual_time" : "real_time";
  int added = plan->threads > 1 ? snprintf(name + length, rest, "/%s/threads:%u", clock, plan->threads)
                                : snprintf(name + length, rest, "/%s", clock);
  return added < 0 || (size_t)added >= rest ? -ENAMETOOLONG : 0;
}

unsigned options_ops_min(const struct gather_plan *plan) {
  enum { SMALL_BYTES = 1 << 20, OPS = 20 };
  return gather_plan_keeps(plan) && plan->file_bytes <= SMALL_BYTES ? OPS : 1;
}

int row_builder_open(struct row_builder *builder, struct options *options, const struct plan_selection *user,
                     const char *filter) {
  *builder = (struct row_builder){.options = options, .user = user};
  for (int i = 0; plan_options[i].name; i++)
    if (plan_options[i].default_value)
      plan_option_parse(&plan_options[i], plan_options[i].default_value, &builder->defaults.of[i]);
  if (filter == NULL || *filter == '\0' || strcmp(filter, "all") == 0)
    return 0;
  builder->negated = filter[0] == '-';
  filter += builder->negated;
  int wrong = regcomp(&builder->filter, filter, REG_EXTENDED | REG_NOSUB);
  if (wrong) {
    char why[128];
    regerror(wrong, &builder->filter, why, sizeof why);
    return complain("--benchmark_filter: '%s': %s", filter, why);
  }
  builder->filters = true;
  return 0;
}

void row_builder_close(struct row_builder *builder) {
  plan_selection_free(&builder->defaults);
  if (builder->filters)
    regfree(&builder->filter);
}

static int add_row(const struct row_builder *builder, const struct gather_plan *plan) {
  struct options *options = builder->options;
  if ((options->rows_count & (options->rows_count - 1)) == 0) {
    size_t room = options->rows_count ? 2 * options->rows_count : 1;
    struct options_row *rows = realloc(options->rows, room * sizeof *rows);
    if (rows == NULL)
      return complain("out of memory");
    options->rows = rows;
  }
  struct options_row *row = &options->rows[options->rows_count];
  *row = (struct options_row){.plan = *plan, .refused = gather_plan_refuse(plan)};
  if (options_row_name(plan, row->name, sizeof row->name) < 0)
    return complain("a row's name is too long: %s", row->name);
  if (builder->filters && (regexec(&builder->filter, row->name, 0, NULL, 0) == 0) == builder->negated)
    return 0;
  options->rows_count++;
  options->refused_count += row->refused != NULL;
  return 0;
}

/* An option's values: the user's, else the preset line's, else its default; count is 0 where it has none. */
static const struct option_values *chosen(const struct row_builder *builder, const struct plan_selection *line,
                                          int option) {
  if (builder->user->of[option].count)
    return &builder->user->of[option];
  return line->of[option].count ? &line->of[option] : &builder->defaults.of[option];
}

/* The product of all values, from option `index` on. */
static int add_product(const struct row_builder *builder, const struct plan_selection *line, int index,
                       const struct gather_plan *plan) {
  if (plan_options[index].name == NULL)
    return add_row(builder, plan);
  const struct option_values *values = chosen(builder, line, index);
  struct gather_plan next = *plan;
  int error = values->count ? 0 : add_product(builder, line, index + 1, plan);
  for (size_t i = 0; i < values->count && !error; i++) {
    plan_option_apply(&plan_options[index], values, i, &next);
    error = add_product(builder, line, index + 1, &next);
  }
  return error;
}

int row_builder_add(struct row_builder *builder, const struct plan_selection *line) {
  size_t rows = 1;
  for (int i = 0; plan_options[i].name && rows <= ROWS_MAX; i++) {
    size_t count = chosen(builder, line, i)->count;
    rows *= count ? count : 1;
  }
  builder->asked += rows;
  if (builder->asked > ROWS_MAX)
    return complain("more than %d rows", ROWS_MAX);
  return add_product(builder, line, 0, &(struct gather_plan){0});
}

static int compare_names(const void *left, const void *right) {
  const struct options_row *const *one = left, *const *other = right;
  int order = strcmp((*one)->name, (*other)->name);
  return order ? order : (*one > *other) - (*one < *other);
}

void rows_remove_duplicates(struct options *options) {
  const struct options_row **sorted = allocate(options->rows_count, sizeof *sorted);
  bool *duplicate = allocate(options->rows_count, sizeof *duplicate);
  for (size_t i = 0; i < options->rows_count; i++)
    sorted[i] = &options->rows[i];
  qsort(sorted, options->rows_count, sizeof *sorted, compare_names);
  for (size_t i = 1; i < options->rows_count; i++)
    duplicate[sorted[i] - options->rows] = strcmp(sorted[i - 1]->name, sorted[i]->name) == 0;
  size_t kept = 0;
  for (size_t i = 0; i < options->rows_count; i++) {
    if (duplicate[i])
      options->refused_count -= options->rows[i].refused != NULL;
    else
      options->rows[kept++] = options->rows[i];
  }
  options->rows_count = kept;
  free(sorted);
  free(duplicate);
}

int rows_check_scopes(const struct options *options) {
  for (size_t i = 1; i < options->rows_count; i++)
    if (options->rows[i].plan.scope != options->rows[0].plan.scope)
      return complain("rows of the scopes %s and %s cannot be measured in one run", options->rows[0].plan.scope->name,
                      options->rows[i].plan.scope->name);
  return 0;
}

uint64_t options_disk_bytes(const struct options *options) {
  uint64_t windows[2 * THREADS_MAX * GATHER_LAIDS] = {0}, largest_file = 0;
  for (size_t i = 0; i < options->rows_count; i++) {
    const struct gather_plan *plan = &options->rows[i].plan;
    uint64_t bytes = options->rows[i].refused ? 0 : gather_plan_disk_bytes(plan);
    if (plan->scope->provided & GATHER_WHOLE_FILE) {
      largest_file = bytes > largest_file ? bytes : largest_file;
      continue;
    }
    unsigned files = plan->shared_file ? 1 : gather_plan_threads(plan);
    for (unsigned thread = 0; thread < files; thread++) {
      uint64_t *largest = &windows[gather_plan_window_index(plan, thread)];
      *largest = bytes / files > *largest ? bytes / files : *largest;
    }
  }
  uint64_t sum = largest_file;
  for (size_t i = 0; i < 2 * THREADS_MAX * GATHER_LAIDS; i++)
    sum = sum > UINT64_MAX - windows[i] ? UINT64_MAX : sum + windows[i];
  return sum;
}

void options_probe(struct options *options, struct gather_workspace *workspace, bool (*stop)(void)) {
  for (size_t i = 0; i < options->rows_count && !stop(); i++) {
    struct options_row *row = &options->rows[i];
    if (row->refused)
      continue;
    int result = gather_plan_probe(&row->plan, workspace, row->reason, sizeof row->reason);
    if (result < 0)
      row->failed = row->reason;
    if (result > 0) {
      row->refused = row->reason;
      options->refused_count++;
    }
  }
}

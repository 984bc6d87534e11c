/* table.c: what the screen shows. A new column is a row of `columns`. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spoiled.h"
#include "table.h"

enum { KEYS_MAX = GATHER_KEYS_MAX + 1, COLUMNS_MAX = KEYS_MAX + 20 };

#define LINE_COLUMNS 120 /* of a line on the screen */

/* The keys of a plan and their values, with its threads. */
struct keys {
  struct gather_plan_key keys[KEYS_MAX];
  int count;
};

static void read_keys(const struct table_row *row, struct keys *keys) {
  keys->count = gather_plan_keys(row->plan, keys->keys);
  if (keys->count < 0) /* then the row would have no name, and is not there */
    keys->count = 0;
  unsigned threads = gather_plan_threads(row->plan);
  if (threads == 1)
    return;
  struct gather_plan_key *last = &keys->keys[keys->count++];
  last->key = "threads";
  snprintf(last->value, sizeof last->value, "%u", threads);
}

/* --- Numbers. --- */

/* How a column's numbers are written. */
enum form { TIME, SHARE, PERCENT, MEGA, MEAN, WHOLE };

static double median(const struct table_row *row) {
  return row->median_ns;
}
static double spread(const struct table_row *row) {
  return row->spread;
}
static double bytes_per_second(const struct table_row *row) {
  return row->bytes_per_second;
}
static double calls(const struct table_row *row) {
  return row->calls;
}
static double kernel_calls(const struct table_row *row) {
  return row->kernel_calls;
}
static double open_time(const struct table_row *row) {
  return row->open_ns;
}
static double write_time(const struct table_row *row) {
  return row->write_ns;
}
static double sync_time(const struct table_row *row) {
  return row->sync_ns;
}
static double close_time(const struct table_row *row) {
  return row->close_ns;
}
static double device_share(const struct table_row *row) {
  return row->device_share;
}
static double repetitions(const struct table_row *row) {
  return row->repetitions;
}

/* A phase of an op is not worth a column if it takes a smaller share of it in all rows. */
#define PHASE_SHARE_MIN 0.02

/* When a column is shown. */
enum shown { ALWAYS, IF_KNOWN, IF_LONG };

static const struct column {
  const char *title;
  enum form form;
  double (*value)(const struct table_row *row); /* NAN where there is none */
  enum shown shown;
} columns[] = {
    {"median", TIME, median, ALWAYS},         {"IQR %", PERCENT, spread, ALWAYS},
    {"MB/s", MEGA, bytes_per_second, ALWAYS}, {"calls", MEAN, calls, ALWAYS},
    {"kernel", MEAN, kernel_calls, ALWAYS},   {"open", TIME, open_time, IF_LONG},
    {"write", TIME, write_time, IF_LONG},     {"sync", TIME, sync_time, IF_LONG},
    {"close", TIME, close_time, IF_LONG},     {"device", SHARE, device_share, IF_KNOWN},
    {"reps", WHOLE, repetitions, IF_KNOWN},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

struct unit {
  const char *name;
  double ns;
};

/* One unit for all times: the largest in which the smallest median is at least 1. */
static const struct unit *choose_unit(const struct table_row *rows, size_t count) {
  static const struct unit units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
  double least_ns = INFINITY;
  for (size_t i = 0; i < count; i++)
    if (!rows[i].error && rows[i].median_ns > 0 && rows[i].median_ns < least_ns)
      least_ns = rows[i].median_ns;
  const struct unit *unit = units;
  while (unit->ns > 1 && (isinf(least_ns) || least_ns < unit->ns))
    unit++;
  return unit;
}

static void write_number(char *cell, size_t size, enum form form, double value, const struct unit *unit) {
  if (isnan(value))
    snprintf(cell, size, "-");
  else
    switch (form) {
    case TIME: /* with what is significant of it */
      value /= unit->ns;
      snprintf(cell, size, "%.*f", value < 99.995 ? 2 : value < 999.95 ? 1 : 0, value);
      break;
    case SHARE:
      snprintf(cell, size, "%.2f", value);
      break;
    case PERCENT:
      snprintf(cell, size, "%.1f", 100 * value);
      break;
    case MEGA:
      snprintf(cell, size, "%.0f", value / 1e6);
      break;
    case MEAN: /* a whole number as such, a mean with what is significant of it */
      snprintf(cell, size, "%.6g", value);
      break;
    case WHOLE:
      snprintf(cell, size, "%.0f", value);
      break;
    }
}

/* --- Cells and lines. --- */

struct grid {
  const struct table_row *rows;
  size_t count;
  const struct unit *unit;     /* of all times */
  char *(*cells)[COLUMNS_MAX]; /* of each line, the titles first; NULL is empty */
  size_t columns, left;        /* all, and those of them that stand to the left */
};

static char *copy(const char *text) {
  size_t size = strlen(text) + 1;
  return memcpy(allocate(size, 1), text, size);
}

static const char *cell(const struct grid *grid, size_t line, size_t column) {
  return grid->cells[line][column] ? grid->cells[line][column] : "";
}

/* All keys that any row has, in the order of the names: each before the one that follows it in a row that has it.
 * Returns their number. */
static size_t order_keys(const struct grid *grid, const char *order[KEYS_MAX]) {
  size_t known = 0;
  struct keys keys;
  for (size_t row = 0; row < grid->count; row++) {
    read_keys(&grid->rows[row], &keys);
    size_t next = known; /* where the key after the one at hand stands */
    for (int i = keys.count - 1; i >= 0; i--) {
      size_t found = 0;
      while (found < known && strcmp(order[found], keys.keys[i].key) != 0)
        found++;
      if (found == known) {
        memmove(order + next + 1, order + next, (known - next) * sizeof *order);
        order[next] = keys.keys[i].key;
        known++;
      } else {
        next = found;
      }
    }
  }
  return known;
}

/* What a key is where the name leaves it out, as other rows have it: its usual value. */
static const char *usual_value(const struct table_row *row, const char *key) {
  const bool on_file = (row->plan->target->provided & GATHER_IS_FILE) != 0;
  if (strcmp(key, "create") == 0)
    return on_file ? gather_plan_create(row->plan)->name : "";
  if (strcmp(key, "keep") == 0)
    return !on_file ? "" : gather_plan_keeps(row->plan) ? "yes" : "no";
  if (strcmp(key, "laid") == 0)
    return gather_plan_finds_bytes(row->plan) ? gather_laid_names[row->plan->laid] : "";
  return strcmp(key, "preallocate") == 0 || strcmp(key, "direct") == 0 ? "no" : "";
}

static void fill_keys(struct grid *grid, const char *const *order, size_t known) {
  struct keys keys;
  for (size_t k = 0; k < known; k++)
    grid->cells[0][k] = copy(order[k]);
  for (size_t row = 0; row < grid->count; row++) {
    read_keys(&grid->rows[row], &keys);
    for (size_t k = 0; k < known; k++) {
      const char *value = usual_value(&grid->rows[row], order[k]);
      for (int i = 0; i < keys.count; i++)
        if (strcmp(keys.keys[i].key, order[k]) == 0)
          value = keys.keys[i].value;
      grid->cells[row + 1][k] = copy(value);
    }
  }
}

static void move_column(struct grid *grid, size_t from, size_t to) {
  for (size_t line = 0; line <= grid->count && from != to; line++) {
    free(grid->cells[line][to]);
    grid->cells[line][to] = grid->cells[line][from];
    grid->cells[line][from] = NULL;
  }
}

/* A key whose values distinguish rows becomes a column; what all rows have in common goes into `shared`. */
static void add_keys(struct grid *grid, struct text *shared) {
  const char *order[KEYS_MAX];
  size_t known = order_keys(grid, order), strategy = 0;
  fill_keys(grid, order, known);
  for (size_t k = 0; k < known; k++) {
    bool differs = false;
    for (size_t row = 2; row <= grid->count && !differs; row++)
      differs = strcmp(cell(grid, 1, k), cell(grid, row, k)) != 0;
    if (differs)
      move_column(grid, k, grid->columns++);
    else
      text_add(shared, "%s%s %s", shared->length ? ", " : "", order[k], cell(grid, 1, k));
    if (strcmp(order[k], "strategy") == 0)
      strategy = k;
  }
  if (grid->columns == 0) /* a line begins with a name in any case */
    move_column(grid, strategy, grid->columns++);
  grid->left = grid->columns;
  for (size_t line = 0; line <= grid->count; line++) /* room for the numbers */
    for (size_t k = grid->columns; k < known; k++) {
      free(grid->cells[line][k]);
      grid->cells[line][k] = NULL;
    }
}

static void set_number(struct grid *grid, size_t row, enum form form, double value) {
  char number[40];
  write_number(number, sizeof number, form, value, grid->unit);
  if (!grid->rows[row].error)
    grid->cells[row + 1][grid->columns] = copy(number);
}

/* Adds the title, after the column's numbers. */
static void end_column(struct grid *grid, const char *title, enum form form) {
  char full[40];
  snprintf(full, sizeof full, "%s%s%s", title, form == TIME ? " " : "", form == TIME ? grid->unit->name : "");
  grid->cells[0][grid->columns++] = copy(full);
}

static bool is_shown(const struct grid *grid, const struct column *column) {
  for (size_t i = 0; i < grid->count; i++) {
    const struct table_row *row = &grid->rows[i];
    const double least = column->shown == IF_LONG ? PHASE_SHARE_MIN * row->median_ns : -INFINITY;
    if (!row->error && column->value(row) > least) /* false for NAN */
      return true;
  }
  return column->shown == ALWAYS;
}

static void add_columns(struct grid *grid) {
  for (const struct column *column = columns; column < columns + COLUMNS; column++) {
    if (!is_shown(grid, column))
      continue;
    for (size_t i = 0; i < grid->count; i++)
      set_number(grid, i, column->form, column->value(&grid->rows[i]));
    end_column(grid, column->title, column->form);
  }
}

static void add_quantiles(struct grid *grid) {
  bool recorded = false;
  for (size_t i = 0; i < grid->count; i++)
    recorded |= grid->rows[i].latencies->ops > 0;
  for (const struct latency_quantile *quantile = latency_quantiles; recorded && quantile->name; quantile++) {
    for (size_t i = 0; i < grid->count; i++) {
      uint64_t time_ns;
      bool known = latencies_quantile(grid->rows[i].latencies, quantile, &time_ns);
      set_number(grid, i, TIME, known ? (double)time_ns : NAN);
    }
    end_column(grid, quantile->name, TIME);
  }
}

/* Columns as wide as their widest cell, nearer to each other where the lines would not fit into a terminal. */
static void add_lines(struct text *text, const struct grid *grid) {
  int widths[COLUMNS_MAX] = {0};
  for (size_t line = 0; line <= grid->count; line++)
    for (size_t i = 0; i < grid->columns; i++) {
      int width = (int)strlen(cell(grid, line, i));
      widths[i] = width > widths[i] ? width : widths[i];
    }
  size_t length = 2 * (grid->columns - 1);
  for (size_t i = 0; i < grid->columns; i++)
    length += (size_t)widths[i];
  const char *const gap = length <= LINE_COLUMNS ? "  " : " ";
  for (size_t line = 0; line <= grid->count; line++) {
    for (size_t i = 0; i < grid->columns; i++)
      text_add(text, "%s%*s", i ? gap : "", i < grid->left ? -widths[i] : widths[i], cell(grid, line, i));
    while (text->bytes[text->length - 1] == ' ')
      text->length--;
    text_add(text, "\n");
  }
}

static bool is_interrupted(const struct table_row *row) {
  return row->error && strcmp(row->error, TABLE_INTERRUPTED) == 0;
}

void table_add(struct text *text, const char *heading, const struct table_row *rows, size_t count) {
  struct grid grid = {.rows = rows, .count = count, .unit = choose_unit(rows, count)};
  struct text shared = {0};
  if (count == 0)
    return;
  grid.cells = allocate(count + 1, sizeof *grid.cells);
  add_keys(&grid, &shared);
  for (size_t i = 0; i < count; i++)
    if (rows[i].error)
      grid.cells[i + 1][grid.left] = copy(is_interrupted(&rows[i]) ? TABLE_INTERRUPTED : "failed");
  add_columns(&grid);
  add_quantiles(&grid);

  text_add(text, "%s\n%s%s%s\n\n", heading, spoiled_text(), *spoiled_text() ? "\n" : "",
           shared.length ? shared.bytes : "");
  add_lines(text, &grid);
  for (size_t i = 0; i < count; i++)
    if (rows[i].error && !is_interrupted(&rows[i]))
      text_add(text, "failed: %s: %s\n", rows[i].name, rows[i].error);
  text_free(&shared);
  for (size_t line = 0; line <= count; line++)
    for (size_t i = 0; i < COLUMNS_MAX; i++)
      free(grid.cells[line][i]);
  free(grid.cells);
}

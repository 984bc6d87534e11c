/* options.c: from the command line and the environment to all that a run is to do. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "options.h"
#include "presets.h"
#include "printable.h"
#include "rows.h"
#include "text.h"

#define REPETITIONS_MAX 1000000 /* of all rows; a sanity limit */

/* Adds the rows of a preset's line, which is split in place. */
static int add_line(struct row_builder *builder, char *text) {
  text[strcspn(text, "#")] = '\0';
  char *words[64] = {NULL}, *position = NULL;
  int count = 1;
  for (char *word = strtok_r(text, " \t\r\n", &position); word; word = strtok_r(NULL, " \t\r\n", &position)) {
    if (count == sizeof words / sizeof *words)
      return complain("a preset's line has too many options");
    words[count++] = word;
  }
  if (count == 1)
    return 0;
  struct command_line line = {0};
  int error = command_line_parse(builder->options, &line, count, words, true);
  if (!error)
    error = row_builder_add(builder, &line.selection);
  if (line.budget_s && builder->options->budget_s == 0)
    builder->options->budget_s = line.budget_s;
  plan_selection_free(&line.selection);
  return error;
}

static int add_rows(struct row_builder *builder) {
  if (builder->options->preset_text == NULL)
    return row_builder_add(builder, builder->user);
  int error = 0;
  for (char *line = builder->options->preset_text, *next; line && !error; line = next) {
    next = strchr(line, '\n');
    if (next)
      *next++ = '\0';
    error = add_line(builder, line);
  }
  return error;
}

static bool nothing_given(const struct plan_selection *selection) {
  for (int i = 0; plan_options[i].name; i++)
    if (selection->of[i].count)
      return false;
  return true;
}

static int choose_preset(struct options *options, const struct command_line *user) {
  if (user->preset && user->preset_file)
    return complain("--preset and --preset-file exclude each other");
  const char *name = user->preset;
  if (name == NULL && user->preset_file == NULL && nothing_given(&user->selection))
    name = presets[0].name;
  if (name)
    options->preset_text = preset_text(preset_find(name));
  else if (user->preset_file && (options->preset_text = preset_file_text(user->preset_file)) == NULL)
    return -EINVAL;
  options->preset = name ? name : user->preset_file;
  return 0;
}

/* Makes the rows that the user asked for. */
static int build_rows(struct options *options, const struct command_line *user) {
  struct row_builder builder;
  int error = row_builder_open(&builder, options, &user->selection, user->filter);
  if (!error)
    error = add_rows(&builder);
  row_builder_close(&builder);
  if (error)
    return error;
  rows_remove_duplicates(options);
  return rows_check_scopes(options);
}

static void fill_rest(struct options *options, const struct command_line *user, bool repetitions_given) {
  bool files = options->rows_count > 0 && (options->rows[0].plan.scope->provided & GATHER_WHOLE_FILE);
  if (options->repetitions == 0)
    options->repetitions = files ? 20 : 10;
  if (options->min_time[0] == '\0')
    snprintf(options->min_time, sizeof options->min_time, "%s", files ? "1e-9" : "0.05");
  if (user->quick && !repetitions_given)
    options->repetitions = options->repetitions > 30 ? options->repetitions / 10 : 3;
  if (repetitions_given && user->budget_s == 0) /* a preset's budget is for its own repetitions */
    options->budget_s = 0;
}

static int check_format(const char *flag, const char *value) {
  if (strcmp(value, "json") == 0 || strcmp(value, "csv") == 0 || strcmp(value, "console") == 0)
    return 0;
  return complain("--benchmark_%s: '%s' is none of json, csv, console", flag, value);
}

static int parse(struct options *options, struct command_line *user, int argc, char **argv) {
  int error = command_line_environment(options, user);
  if (!error)
    error = command_line_parse(options, user, argc, argv, false);
  if (!error)
    error = check_format("format", options->format ? options->format : "json");
  if (!error)
    error = check_format("out_format", options->out_format);
  if (options->out && *options->out == '\0')
    options->out = NULL;
  if (!error)
    error = choose_preset(options, user);
  if (error)
    return error;
  bool repetitions_given = options->repetitions > 0;
  options->budget_s = user->budget_s;
  error = build_rows(options, user);
  fill_rest(options, user, repetitions_given);
  if (!error && options->rows_count > REPETITIONS_MAX / options->repetitions)
    error = complain("more than %d repetitions of all rows", REPETITIONS_MAX);
  return error;
}

int options_parse(struct options *options, int argc, char **argv) {
  const char *temporary = getenv("TMPDIR");
  *options = (struct options){
      .dir = temporary && *temporary ? temporary : "/tmp",
      .out_format = "json",
      .passed_on = allocate((size_t)argc + 9, sizeof *options->passed_on),
  };
  struct command_line user = {0};
  int error = parse(options, &user, argc, argv);
  plan_selection_free(&user.selection);
  return error;
}

void options_free(struct options *options) {
  free(options->rows);
  free(options->passed_on);
  free(options->preset_text);
  for (size_t i = 0; i < sizeof options->environment_flags / sizeof *options->environment_flags; i++)
    free(options->environment_flags[i]);
}

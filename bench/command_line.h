/* command_line.h: what one command line, or one line of a preset, says. */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include "options.h"
#include "plan_options.h"

/* What was said, before presets and defaults fill the rest. Starts as {0}. */
struct command_line {
  struct plan_selection selection;
  const char *preset, *preset_file; /* NULL where not given */
  bool quick;
  unsigned budget_s;  /* 0 where not given */
  const char *filter; /* --benchmark_filter, or NULL */
};

/* An option of the run, as against one that shapes rows. */
struct run_option {
  const char *name;
  const char *argument; /* NULL where it takes none */
  const char *doc;      /* one line */
  bool in_presets;      /* may stand in a preset, too */
  /* Notes its value (NULL where it takes none); 0, or -EINVAL after one line on stderr. */
  int (*take)(struct options *options, struct command_line *line, const char *value);
};

extern const struct run_option run_options[]; /* ends with a NULL name */

/* Parses arguments, of which argv[0] is not read, into `line` and, for what concerns the whole run, `options`. Texts
 * are kept, not copied. In a preset only options that shape rows may stand, and --budget and flags of Google Benchmark
 * that are defaults for the whole run. Returns 0, or -EINVAL after one line on stderr. */
int command_line_parse(struct options *options, struct command_line *line, int argc, char **argv, bool from_preset);

/* Takes what the user set for every run in the environment (BENCHMARK_*), as Google Benchmark would read it, and
 * removes it there. Errors as above. */
int command_line_environment(struct options *options, struct command_line *user);

#endif

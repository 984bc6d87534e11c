/* command_line.c: from arguments to options. A new option of the run is a function that notes its value, and a row of
 * run_options. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "presets.h"
#include "printable.h"
#include "text.h"

#define BUDGET_MAX   1000000 /* seconds of a run, more than a week */
#define MIN_TIME_MAX 1000000 /* seconds of a repetition, more than a week; iterations too */

/* What getopt_long calls an option: above all characters, which it calls short options by. */
enum { PLAN_FIRST = 256, RUN_FIRST = PLAN_FIRST + PLAN_OPTIONS_MAX };

static bool starts_with(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_benchmark_flag(const char *argument) {
  return starts_with(argument, "--benchmark_") || starts_with(argument, "--v=");
}

/* The value of a flag `--benchmark_NAME` or `--benchmark_NAME=VALUE`, or NULL if it is another
 * flag. */
static const char *flag_value(const char *argument, const char *name) {
  if (!starts_with(argument, "--benchmark_"))
    return NULL;
  argument += strlen("--benchmark_");
  size_t length = strlen(name);
  if (strncmp(argument, name, length) != 0)
    return NULL;
  return argument[length] == '=' ? argument + length + 1 : argument[length] == '\0' ? "true" : NULL;
}

static bool is_true(const char *value) {
  return strchr("0fFnN", value[0]) == NULL; /* as Google Benchmark reads truth */
}

static int set_repetitions(struct options *options, const char *text) {
  uint64_t number;
  const char *wrong = plan_options_number(text, &number);
  if (!wrong && (number == 0 || number > INT32_MAX))
    wrong = "is out of range";
  if (wrong)
    return complain("--benchmark_repetitions: '%s' %s", text, wrong);
  options->repetitions = (unsigned)number;
  return 0;
}

/* Seconds; from Google Benchmark 1.8 on with a unit, or a number of iterations instead: what follows the number is for
 * it to judge. */
static int set_min_time(struct options *options, const char *text) {
  char *end;
  double number = strtod(text, &end);
  if (end == text || !(number >= 0 && number <= MIN_TIME_MAX))
    return complain("--benchmark_min_time: '%s' is not between 0 and %d", text, MIN_TIME_MAX);
  if (strlen(text) >= sizeof options->min_time)
    return complain("--benchmark_min_time: '%s' is too long", text);
  memcpy(options->min_time, text, strlen(text) + 1);
  return 0;
}

/* Takes the flags that we act on ourselves, and passes on the others. A preset's flags set only
 * what is not set. */
static int take_benchmark_flag(struct options *options, struct command_line *line, const char *argument,
                               bool from_preset) {
  const char *value;
  if ((value = flag_value(argument, "repetitions")) != NULL)
    return from_preset && options->repetitions ? 0 : set_repetitions(options, value);
  if ((value = flag_value(argument, "min_time")) != NULL)
    return from_preset && options->min_time[0] ? 0 : set_min_time(options, value);
  if (from_preset)
    return complain("a preset may only set --benchmark_repetitions and --benchmark_min_time, not '%s'", argument);
  if ((value = flag_value(argument, "filter")) != NULL)
    line->filter = value;
  else if ((value = flag_value(argument, "time_unit")) != NULL) {
    /* Google Benchmark 1.7.1 ends the process with status 0 for any other. */
    if (strcmp(value, "ns") != 0 && strcmp(value, "us") != 0 && strcmp(value, "ms") != 0 && strcmp(value, "s") != 0)
      return complain("--benchmark_time_unit: '%s' is none of ns, us, ms, s", value);
    options->passed_on[options->passed_on_count++] = argument;
  } else if ((value = flag_value(argument, "format")) != NULL)
    options->format = value;
  else if ((value = flag_value(argument, "out_format")) != NULL)
    options->out_format = value;
  else if ((value = flag_value(argument, "out")) != NULL)
    options->out = value;
  else if ((value = flag_value(argument, "list_tests")) != NULL)
    options->action = is_true(value) ? OPTIONS_LIST_TESTS : options->action;
  else
    options->passed_on[options->passed_on_count++] = argument;
  return 0;
}

/* --- Each function notes the value of an option of the run; 0, or -EINVAL after one line on stderr. --- */

static int take_preset(struct options *options, struct command_line *line, const char *value) {
  (void)options;
  line->preset = value;
  return preset_find(value) ? 0 : complain("--preset: there is no preset '%s' (see --list)", value);
}

static int take_preset_file(struct options *options, struct command_line *line, const char *value) {
  (void)options;
  line->preset_file = value;
  return 0;
}

static int take_dir(struct options *options, struct command_line *line, const char *value) {
  (void)line;
  options->dir = value;
  return *value ? 0 : complain("--dir: no directory given");
}

static int take_latency(struct options *options, struct command_line *line, const char *value) {
  (void)line;
  (void)value;
  options->latency = true;
  return 0;
}

static int take_budget(struct options *options, struct command_line *line, const char *value) {
  (void)options;
  uint64_t number;
  const char *wrong = plan_options_number(value, &number);
  if (!wrong && (number == 0 || number > BUDGET_MAX))
    wrong = "is out of range";
  if (wrong)
    return complain("--budget: '%s' %s", value, wrong);
  line->budget_s = (unsigned)number;
  return 0;
}

static int take_quick(struct options *options, struct command_line *line, const char *value) {
  (void)options;
  (void)value;
  line->quick = true;
  return 0;
}

static int take_dry_run(struct options *options, struct command_line *line, const char *value) {
  (void)line;
  (void)value;
  options->action = OPTIONS_DRY_RUN;
  return 0;
}

static int take_list(struct options *options, struct command_line *line, const char *value) {
  (void)line;
  (void)value;
  options->action = OPTIONS_LIST;
  return 0;
}

static int take_help(struct options *options, struct command_line *line, const char *value) {
  (void)line;
  (void)value;
  options->action = OPTIONS_HELP;
  return 0;
}

static int take_version(struct options *options, struct command_line *line, const char *value) {
  (void)line;
  (void)value;
  options->action = OPTIONS_VERSION;
  return 0;
}

const struct run_option run_options[] = {
    {"preset", "NAME", "a named set of options, for what is not given (see --list)", false, take_preset},
    {"preset-file", "FILE", "the same from a file: one product of options a line, # starts a comment", false,
     take_preset_file},
    {"dir", "DIR", "where files are made (default: $TMPDIR or /tmp)", false, take_dir},
    {"latency", NULL, "record each op's time, for p50, p99, p99.9 and max", false, take_latency},
    {"budget", "SECONDS", "as many of the repetitions as fit into that time, ten at least", true, take_budget},
    {"quick", NULL, "a tenth of the repetitions, three at least", false, take_quick},
    {"dry-run", NULL, "only say which rows there are and how many bytes they write", false, take_dry_run},
    {"list", NULL, "what there is, and what cannot be used here and why", false, take_list},
    {"help", NULL, "this text", false, take_help},
    {"version", NULL, "the version", false, take_version},
    {0},
};
enum { RUN_OPTIONS = sizeof run_options / sizeof *run_options - 1 };

/* What getopt_long would say itself, if it did not print the argument as it is. */
static int complain_of_option(int id, const char *argument) {
  if (id == ':')
    return complain("%s needs a value", argument);
  if (optopt >= PLAN_FIRST)
    return complain("%s: the option takes no value", argument);
  if (optopt != 0)
    return complain("unknown option '-%c'", optopt);
  return complain("unknown or ambiguous option '%s'", argument);
}

int command_line_parse(struct options *options, struct command_line *line, int argc, char **argv, bool from_preset) {
  struct option known[PLAN_OPTIONS_MAX + RUN_OPTIONS + 1] = {0};
  int next = 0;
  for (int i = 0; plan_options[i].name; i++)
    known[next++] = (struct option){
        plan_options[i].name, plan_options[i].argument ? required_argument : optional_argument, NULL, PLAN_FIRST + i};
  for (int i = 0; i < RUN_OPTIONS; i++)
    if (!from_preset || run_options[i].in_presets)
      known[next++] = (struct option){run_options[i].name, run_options[i].argument ? required_argument : no_argument,
                                      NULL, RUN_FIRST + i};

  char **ours = allocate((size_t)argc + 1, sizeof *ours);
  int ours_count = 1, error = 0;
  static char program[] = "gatherbench";
  ours[0] = program;
  for (int i = 1; i < argc && !error; i++) {
    if (is_benchmark_flag(argv[i]))
      error = take_benchmark_flag(options, line, argv[i], from_preset);
    else
      ours[ours_count++] = argv[i];
  }

  opterr = 0;
  optind = 0; /* glibc: start anew, also in the middle of a scan */
  for (int id; !error && (id = getopt_long(ours_count, ours, ":", known, NULL)) != -1;) {
    if (id == '?' || id == ':') {
      error = complain_of_option(id, ours[optind - 1]);
    } else if (id >= RUN_FIRST) {
      error = run_options[id - RUN_FIRST].take(options, line, optarg);
    } else {
      const int option = id - PLAN_FIRST;
      error = plan_option_parse(&plan_options[option], optarg ? optarg : "yes", &line->selection.of[option]);
    }
  }
  if (!error && optind < ours_count)
    error = complain("unexpected argument '%s'", ours[optind]);
  free(ours);
  return error;
}

int command_line_environment(struct options *options, struct command_line *user) {
  static const char *const names[] = {"repetitions", "min_time", "filter", "out", "out_format", "format", "time_unit"};
  int error = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names && !error; i++) {
    char variable[64] = "BENCHMARK_";
    size_t length = strlen(variable);
    for (const char *from = names[i]; *from; from++)
      variable[length++] = *from == '_' ? '_' : (char)(*from - 'a' + 'A');
    const char *value = getenv(variable);
    if (value == NULL || *value == '\0')
      continue;
    size_t size = strlen("--benchmark_=") + strlen(names[i]) + strlen(value) + 1;
    char *flag = options->environment_flags[i] = allocate(size, 1);
    snprintf(flag, size, "--benchmark_%s=%s", names[i], value);
    error = take_benchmark_flag(options, user, flag, false);
    if (unsetenv(variable) < 0)
      error = complain("unsetenv %s: %s", variable, strerror(errno));
  }
  return error;
}

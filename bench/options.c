/* options.c: from the command line to rows. An option that shapes rows is one row of row_options.
 */
#include <errno.h>
#include <getopt.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observer.h"
#include "options.h"
#include "presets.h"
#include "printable.h"
#include "text.h"
#include "workspace.h"

#define PROGRAM "gatherbench"

/* What is beyond these is a mistake, and would cost memory and time before anybody sees it. */
#define ROWS_MAX        100000    /* of all products, before a filter */
#define REPETITIONS_MAX 1000000   /* of all rows */
#define PRESET_MAX      (1 << 20) /* bytes of a preset file */
#define FILTER_MAX      1000      /* characters of a filter, with what its {} repeat */
#define MIN_TIME_MAX    1000000   /* seconds of a repetition, more than a week; iterations too */
#define VALUE_MAX       200       /* characters of one value of a list */
#define THREADS_MAX     1024

#define TEXT_OF(tokens) #tokens
#define TEXT(macro)     TEXT_OF(macro)

/* --- Values: each function sets one field of a plan from text; NULL, or what is wrong with the
 * text. --- */

/* A number of bytes or things, with a suffix k, m or g for powers of 1,024. */
static const char *parse_number(const char *text, uint64_t *number) {
  if (*text < '0' || *text > '9')
    return *text == '-' ? "must not be negative" : "is not a number";
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  unsigned shift = 0;
  if (*end == 'k' || *end == 'K')
    shift = 10, end++;
  else if (*end == 'm' || *end == 'M')
    shift = 20, end++;
  else if (*end == 'g' || *end == 'G')
    shift = 30, end++;
  if (*end != '\0')
    return "is not a number (suffixes: k, m, g)";
  if (errno || value > (uint64_t)INT64_MAX >> shift)
    return "is too large";
  *number = value << shift;
  return NULL;
}

static const char *parse_yes_no(const char *text, bool *value) {
  if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
    return "is neither yes nor no";
  *value = text[0] == 'y';
  return NULL;
}

static const char *set_scope(const char *text, struct gather_plan *plan) {
  plan->scope = gather_scope_find(text);
  return plan->scope ? NULL : "is not a scope (see --list)";
}

/* A strategy, or several with | between them: the first that the rest of the plan allows, so that one list serves files
 * and streams. That a plan is complete shows in its scope. */
static const char *set_strategy(const char *text, struct gather_plan *plan) {
  char name[32];
  bool chosen = false;
  for (;;) {
    size_t length = strcspn(text, "|");
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    const struct gather_strategy *strategy = length < sizeof name ? gather_strategy_find(name) : NULL;
    if (strategy == NULL)
      return "is not a strategy (see --list)";
    if (!chosen) {
      plan->strategy = strategy;
      chosen = plan->scope && gather_plan_refuse(plan) == NULL;
    }
    if (text[length] == '\0')
      return NULL;
    text += length + 1;
  }
}

static const char *set_target(const char *text, struct gather_plan *plan) {
  plan->target = gather_target_find(text);
  return plan->target ? NULL : "is not a target (see --list)";
}

static const char *set_sync(const char *text, struct gather_plan *plan) {
  plan->durability = gather_durability_find(text);
  return plan->durability ? NULL : "is not a durability (see --list)";
}

static const char *set_preallocate(const char *text, struct gather_plan *plan) {
  return parse_yes_no(text, &plan->preallocate);
}

static const char *set_direct(const char *text, struct gather_plan *plan) {
  return parse_yes_no(text, &plan->direct);
}

static const char *set_sync_each(const char *text, struct gather_plan *plan) {
  return parse_yes_no(text, &plan->sync_each);
}

static const char *set_shared_file(const char *text, struct gather_plan *plan) {
  return parse_yes_no(text, &plan->shared_file);
}

static const char *set_verify(const char *text, struct gather_plan *plan) {
  return parse_yes_no(text, &plan->verify);
}

static const char *set_cpu(const char *text, struct gather_plan *plan) {
  uint64_t number;
  const char *wrong = parse_number(text, &number);
  if (wrong)
    return wrong;
  if (number >= 1024) /* CPU_SETSIZE */
    return "is too large";
  plan->cpu = (unsigned)number;
  plan->pinned = true;
  return NULL;
}

static const char *set_threads(const char *text, struct gather_plan *plan) {
  uint64_t number;
  const char *wrong = parse_number(text, &number);
  if (wrong)
    return wrong;
  if (number == 0 || number > THREADS_MAX)
    return "must be 1 to " TEXT(THREADS_MAX);
  plan->threads = (unsigned)number;
  return NULL;
}

static const char *set_window(const char *text, struct gather_plan *plan) {
  return parse_number(text, &plan->window_bytes);
}

static const char *set_file_bytes(const char *text, struct gather_plan *plan) {
  return parse_number(text, &plan->file_bytes);
}

static const char *set_count(const char *text, struct gather_plan *plan) {
  uint64_t count;
  const char *wrong = parse_number(text, &count);
  if (wrong)
    return wrong;
  if (count == 0)
    return "must be at least 1";
  if (count > SIZE_MAX / sizeof(struct iovec))
    return "is too large";
  plan->count = (size_t)count;
  return NULL;
}

static const char *set_size(const char *text, struct gather_plan *plan) {
  char part[64];
  plan->sizes_count = 0;
  for (;;) {
    size_t length = strcspn(text, "+");
    if (length >= sizeof part)
      return "is not a size";
    if (plan->sizes_count == GATHER_SIZES_MAX)
      return "has more than eight parts";
    memcpy(part, text, length);
    part[length] = '\0';
    uint64_t bytes;
    const char *wrong = parse_number(part, &bytes);
    if (wrong)
      return wrong;
    plan->sizes[plan->sizes_count++] = (size_t)bytes;
    if (text[length] == '\0')
      return NULL;
    text += length + 1;
  }
}

static const char *set_buffers(const char *text, struct gather_plan *plan) {
  if (strcmp(text, "one") != 0 && strcmp(text, "distinct") != 0)
    return "is neither distinct nor one";
  plan->reuse_buffer = strcmp(text, "one") == 0;
  return NULL;
}

/* --- Options that shape rows. The last one varies fastest, so that strategies stand side by side.
 * --- */

static const struct row_option {
  const char *name;
  const char *argument; /* NULL for yes, if nothing is said */
  const char *usual;    /* what it is where neither user nor preset say; NULL for nothing */
  const char *doc;
  bool list; /* several values, which multiply */
  const char *(*set)(const char *text, struct gather_plan *plan);
} row_options[] = {
    {"scope", "op|file", "op", "what one timed op is: a batch, or a whole file", false, set_scope},
    {"target", "LIST", "file", "what is written to", true, set_target},
    {"sync", "LIST", "none", "how a batch is made durable", true, set_sync},
    {"sync-each", NULL, "no", "scope file: make each batch durable, as in a growing log", false, set_sync_each},
    {"direct", "no,yes", "no", "write past the page cache, with O_DIRECT", true, set_direct},
    {"preallocate", "no,yes", "no", "scope file: allocate the file's blocks first", true, set_preallocate},
    {"window", "BYTES", "64m", "scope op: what is overwritten on a file", false, set_window},
    {"file-bytes", "BYTES", "100000000", "scope file: what is written", false, set_file_bytes},
    {"threads", "LIST", "1", "threads that write at the same time, each to a file of its own", true, set_threads},
    {"shared-file", NULL, "no", "scope op: the threads' windows lie in one file", false, set_shared_file},
    {"cpu", "N", NULL, "keep the writer on processor N", false, set_cpu},
    {"buffers", "distinct|one", "distinct", "buffers of a batch, or one that is used again", false, set_buffers},
    {"verify", NULL, "no", "read back what the last op wrote, and compare", false, set_verify},
    {"count", "LIST", "4", "buffers in a batch", true, set_count},
    {"size", "LIST", "4k", "bytes of a buffer: 16, 4k, 1m, or a pattern such as 24+4096", true, set_size},
    {"strategy", "LIST", "write,writev,coalesce", "how a batch is written", true, set_strategy},
};
enum { ROW_OPTIONS = sizeof row_options / sizeof *row_options };

/* What each option was given, or NULL. */
struct selection {
  const char *given[ROW_OPTIONS];
};

/* Splits off the next value of a list, in place; NULL after the last. An empty list has one empty
 * value. */
static char *next_value(char **list) {
  char *value = *list;
  if (value != NULL) {
    char *comma = strchr(value, ',');
    if (comma)
      *comma++ = '\0';
    *list = comma;
  }
  return value;
}

/* Checks all values that an option was given. */
static int check_values(const struct row_option *option, const char *text) {
  struct gather_plan plan = {0};
  char *copy = strdup(text), *list = copy;
  int error = copy ? 0 : complain("out of memory");
  if (!error && !option->list && strchr(text, ','))
    error = complain("--%s takes one value: '%s'", option->name, text);
  for (char *value; !error && (value = next_value(&list)) != NULL;) {
    if (strlen(value) > VALUE_MAX) {
      error = complain("--%s: a value is longer than %d characters", option->name, VALUE_MAX);
      break;
    }
    const char *wrong = option->set(value, &plan);
    if (wrong)
      error = complain("--%s: '%s' %s", option->name, value, wrong);
  }
  free(copy);
  return error;
}

/* --- Options of the run. --- */

/* What getopt_long calls an option: above all characters, which it calls short options by. */
enum { ROW_FIRST = 256, RUN_FIRST = ROW_FIRST + ROW_OPTIONS };

enum run_option_id {
  RUN_DIR = RUN_FIRST,
  RUN_PRESET,
  RUN_PRESET_FILE,
  RUN_QUICK,
  RUN_LATENCY,
  RUN_DRY_RUN,
  RUN_LIST,
  RUN_HELP,
  RUN_VERSION,
};

static const struct run_option {
  enum run_option_id id;
  const char *name;
  const char *argument; /* NULL where it takes none */
  const char *doc;
} run_options[] = {
    {RUN_PRESET, "preset", "NAME", "a named set of options, for what is not given (see --list)"},
    {RUN_PRESET_FILE, "preset-file", "FILE", "the same from a file: one product of options a line, # starts a comment"},
    {RUN_DIR, "dir", "DIR", "where files are made (default: $TMPDIR or /tmp)"},
    {RUN_LATENCY, "latency", NULL, "record each op's time, for p50, p99, p99.9 and max"},
    {RUN_QUICK, "quick", NULL, "a tenth of the repetitions, three at least"},
    {RUN_DRY_RUN, "dry-run", NULL, "only say which rows there are and how many bytes they write"},
    {RUN_LIST, "list", NULL, "what there is, and what cannot be used here and why"},
    {RUN_HELP, "help", NULL, "this text"},
    {RUN_VERSION, "version", NULL, "the version"},
};
enum { RUN_OPTIONS = sizeof run_options / sizeof *run_options };

/* What a command line or a preset's line said, before presets and defaults fill the rest. */
struct parsed {
  struct selection selection;
  const char *preset, *preset_file;
  bool quick;
  const char *filter;
};

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
  const char *wrong = parse_number(text, &number);
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
static int take_benchmark_flag(struct options *options, struct parsed *parsed, const char *argument, bool from_preset) {
  const char *value;
  if ((value = flag_value(argument, "repetitions")) != NULL)
    return from_preset && options->repetitions ? 0 : set_repetitions(options, value);
  if ((value = flag_value(argument, "min_time")) != NULL)
    return from_preset && options->min_time[0] ? 0 : set_min_time(options, value);
  if (from_preset)
    return complain("a preset may only set --benchmark_repetitions and --benchmark_min_time, not '%s'", argument);
  if ((value = flag_value(argument, "filter")) != NULL)
    parsed->filter = value;
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

static int take_run_option(struct options *options, struct parsed *parsed, int id, const char *value) {
  switch ((enum run_option_id)id) {
  case RUN_DIR:
    options->dir = value;
    return *value ? 0 : complain("--dir: no directory given");
  case RUN_PRESET:
    parsed->preset = value;
    return preset_find(value) ? 0 : complain("--preset: there is no preset '%s' (see --list)", value);
  case RUN_PRESET_FILE:
    parsed->preset_file = value;
    return 0;
  case RUN_LATENCY:
    options->latency = true;
    return 0;
  case RUN_QUICK:
    parsed->quick = true;
    return 0;
  case RUN_DRY_RUN:
    options->action = OPTIONS_DRY_RUN;
    return 0;
  case RUN_LIST:
    options->action = OPTIONS_LIST;
    return 0;
  case RUN_HELP:
    options->action = OPTIONS_HELP;
    return 0;
  case RUN_VERSION:
    options->action = OPTIONS_VERSION;
    return 0;
  }
  return -EINVAL;
}

/* What getopt_long would say itself, if it did not print the argument as it is. */
static int complain_of_option(int id, const char *argument) {
  if (id == ':')
    return complain("%s needs a value", argument);
  if (optopt >= ROW_FIRST)
    return complain("%s: the option takes no value", argument);
  if (optopt != 0)
    return complain("unknown option '-%c'", optopt);
  return complain("unknown or ambiguous option '%s'", argument);
}

/* Parses one command line, whose argv[0] is not read. Texts are kept, not copied. */
static int parse_line(struct options *options, struct parsed *parsed, int argc, char **argv, bool from_preset) {
  struct option known[ROW_OPTIONS + RUN_OPTIONS + 1] = {0};
  for (int i = 0; i < ROW_OPTIONS; i++)
    known[i] = (struct option){row_options[i].name, row_options[i].argument ? required_argument : optional_argument,
                               NULL, ROW_FIRST + i};
  for (int i = 0; i < RUN_OPTIONS && !from_preset; i++)
    known[ROW_OPTIONS + i] = (struct option){
        run_options[i].name, run_options[i].argument ? required_argument : no_argument, NULL, run_options[i].id};

  char **ours = allocate((size_t)argc + 1, sizeof *ours);
  int ours_count = 1, error = 0;
  static char program[] = PROGRAM;
  ours[0] = program;
  for (int i = 1; i < argc && !error; i++) {
    if (is_benchmark_flag(argv[i]))
      error = take_benchmark_flag(options, parsed, argv[i], from_preset);
    else
      ours[ours_count++] = argv[i];
  }

  opterr = 0;
  optind = 0; /* glibc: start anew, also in the middle of a scan */
  for (int id; !error && (id = getopt_long(ours_count, ours, ":", known, NULL)) != -1;) {
    if (id == '?' || id == ':') {
      error = complain_of_option(id, ours[optind - 1]);
    } else if (id >= RUN_FIRST) {
      error = take_run_option(options, parsed, id, optarg);
    } else {
      const char *value = optarg ? optarg : "yes";
      parsed->selection.given[id - ROW_FIRST] = value;
      error = check_values(&row_options[id - ROW_FIRST], value);
    }
  }
  if (!error && optind < ours_count)
    error = complain("unexpected argument '%s'", ours[optind]);
  free(ours);
  return error;
}

/* --- From options to rows. --- */

int options_row_name(const struct gather_plan *plan, char *name, size_t size) {
  int length = gather_plan_name(plan, name, size);
  if (length < 0)
    return length;
  size_t rest = size - (size_t)length;
  int added = plan->threads > 1 ? snprintf(name + length, rest, "/real_time/threads:%u", plan->threads)
                                : snprintf(name + length, rest, "/real_time");
  return added < 0 || (size_t)added >= rest ? -ENAMETOOLONG : 0;
}

/* What all rows are made with. */
struct making {
  struct options *options;
  const struct selection *user; /* lies over what a preset's line selects */
  const regex_t *filter;        /* NULL where all rows are wanted */
  bool negated;                 /* the rows that the filter does not match are wanted */
  size_t asked;                 /* rows so far, with those that the filter left out */
};

static int add_row(const struct making *making, const struct gather_plan *plan) {
  struct options *options = making->options;
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
  if (making->filter && (regexec(making->filter, row->name, 0, NULL, 0) == 0) == making->negated)
    return 0;
  options->rows_count++;
  options->refused_count += row->refused != NULL;
  return 0;
}

/* What an option is given, by the user or else the preset's line or else by itself; NULL for nothing. */
static const char *chosen_text(const struct making *making, const struct selection *line, int option) {
  if (making->user->given[option])
    return making->user->given[option];
  return line->given[option] ? line->given[option] : row_options[option].usual;
}

/* The product of all values, from option `index` on. */
static int add_product(const struct making *making, const struct selection *line, int index,
                       const struct gather_plan *plan) {
  if (index == ROW_OPTIONS)
    return add_row(making, plan);
  const char *text = chosen_text(making, line, index);
  if (text == NULL)
    return add_product(making, line, index + 1, plan);
  char *copy = strdup(text), *list = copy;
  int error = copy ? 0 : complain("out of memory");
  for (char *value; !error && (value = next_value(&list)) != NULL;) {
    struct gather_plan next = *plan;
    row_options[index].set(value, &next); /* checked when it was parsed */
    error = add_product(making, line, index + 1, &next);
  }
  free(copy);
  return error;
}

static size_t values_count(const char *text) {
  size_t count = 1;
  for (; text && (text = strchr(text, ',')) != NULL; text++)
    count++;
  return count;
}

/* The rows that a line asks for, unless there are too many of them. */
static int add_selection(struct making *making, const struct selection *line) {
  size_t rows = 1;
  for (int i = 0; i < ROW_OPTIONS && rows <= ROWS_MAX; i++)
    rows *= values_count(chosen_text(making, line, i));
  making->asked += rows;
  if (making->asked > ROWS_MAX)
    return complain("more than %d rows", ROWS_MAX);
  return add_product(making, line, 0, &(struct gather_plan){0});
}

static int compare_names(const void *left, const void *right) {
  const struct options_row *const *one = left, *const *other = right;
  int order = strcmp((*one)->name, (*other)->name);
  return order ? order : (*one > *other) - (*one < *other);
}

/* Lines of a preset may overlap; a row that is asked for twice is measured once. Rows that share a name but not a plan
 * could not be told apart in the results. */
static int remove_twins(struct options *options) {
  const struct options_row **sorted = allocate(options->rows_count, sizeof *sorted);
  bool *twin = allocate(options->rows_count, sizeof *twin);
  for (size_t i = 0; i < options->rows_count; i++)
    sorted[i] = &options->rows[i];
  qsort(sorted, options->rows_count, sizeof *sorted, compare_names);
  int error = 0;
  for (size_t i = 1; i < options->rows_count && !error; i++) {
    if (strcmp(sorted[i - 1]->name, sorted[i]->name) != 0)
      continue;
    if (sorted[i - 1]->plan.reuse_buffer != sorted[i]->plan.reuse_buffer ||
        sorted[i - 1]->plan.pinned != sorted[i]->plan.pinned || sorted[i - 1]->plan.cpu != sorted[i]->plan.cpu)
      error = complain("two rows differ only in what no name shows (--buffers, --cpu): %s", sorted[i]->name);
    twin[sorted[i] - options->rows] = true;
  }
  size_t kept = 0;
  for (size_t i = 0; i < options->rows_count && !error; i++) {
    if (twin[i])
      options->refused_count -= options->rows[i].refused != NULL;
    else
      options->rows[kept++] = options->rows[i];
  }
  if (!error)
    options->rows_count = kept;
  free(sorted);
  free(twin);
  return error;
}

/* A preset's line, split in place. */
static int add_line(struct making *making, char *line) {
  line[strcspn(line, "#")] = '\0';
  char *words[64] = {NULL}, *position = NULL;
  int count = 1;
  for (char *word = strtok_r(line, " \t\r\n", &position); word; word = strtok_r(NULL, " \t\r\n", &position)) {
    if (count == sizeof words / sizeof *words)
      return complain("a preset's line has too many options");
    words[count++] = word;
  }
  if (count == 1)
    return 0;
  struct parsed parsed = {0};
  int error = parse_line(making->options, &parsed, count, words, true);
  return error ? error : add_selection(making, &parsed.selection);
}

/* All of a preset's lines as one text with a newline after each. */
static char *preset_text(const struct preset *preset) {
  size_t length = 1;
  for (const char *const *line = preset->lines; *line; line++)
    length += strlen(*line) + 1;
  char *text = allocate(length, 1), *end = text;
  for (const char *const *line = preset->lines; *line; line++)
    end += sprintf(end, "%s\n", *line);
  return text;
}

/* A preset file's text, or NULL after one line that says why there is none. */
static char *file_text(const char *path) {
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    complain("open %s: %s", path, strerror(errno));
    return NULL;
  }
  char *text = allocate(PRESET_MAX + 1, 1);
  size_t length = fread(text, 1, PRESET_MAX + 1, file);
  const char *wrong = ferror(file)                 ? strerror(errno)
                      : length == 0                ? "the file is empty"
                      : length > PRESET_MAX        ? "the file is too large for a preset"
                      : memchr(text, '\0', length) ? "the file is no text"
                                                   : NULL;
  (void)fclose(file); /* nothing was written */
  if (wrong == NULL)
    return text;
  complain("read %s: %s", path, wrong);
  free(text);
  return NULL;
}

static int add_rows(struct making *making) {
  if (making->options->preset_text == NULL)
    return add_selection(making, making->user);
  int error = 0;
  for (char *line = making->options->preset_text, *next; line && !error; line = next) {
    next = strchr(line, '\n');
    if (next)
      *next++ = '\0';
    error = add_line(making, line);
  }
  return error;
}

static bool nothing_given(const struct parsed *user) {
  for (int i = 0; i < ROW_OPTIONS; i++)
    if (user->selection.given[i])
      return false;
  return true;
}

static int choose_preset(struct options *options, const struct parsed *user) {
  if (user->preset && user->preset_file)
    return complain("--preset and --preset-file exclude each other");
  const char *name = user->preset;
  if (name == NULL && user->preset_file == NULL && nothing_given(user))
    name = presets[0].name;
  if (name)
    options->preset_text = preset_text(preset_find(name));
  else if (user->preset_file && (options->preset_text = file_text(user->preset_file)) == NULL)
    return -EINVAL;
  options->preset = name ? name : user->preset_file;
  return 0;
}

/* Whether a filter can be compiled and matched in little time and memory. regcomp copies what is repeated, within
 * itself too; back-references take exponential time. */
static const char *refuse_filter(const char *filter) {
  size_t size = strlen(filter);
  for (const char *at = filter; *at && size <= FILTER_MAX; at++) {
    if (*at == '\\' && at[1] != '\0') {
      if (*++at >= '1' && *at <= '9')
        return "has back-references, which are not supported";
    } else if (*at == '{') {
      char *end;
      unsigned long least = strtoul(at + 1, &end, 10), most = *end == ',' ? strtoul(end + 1, NULL, 10) : 0;
      most = most > least ? most : least > 0 ? least : 1;
      size = most > FILTER_MAX ? FILTER_MAX + 1 : size * most;
    }
  }
  return size > FILTER_MAX ? "is too long, or repeats too much" : NULL;
}

static int compile_filter(const char *filter, regex_t *compiled) {
  const char *refused = refuse_filter(filter);
  if (refused)
    return complain("--benchmark_filter: the filter %s", refused);
  int wrong = regcomp(compiled, filter, REG_EXTENDED | REG_NOSUB);
  if (wrong) {
    char why[128];
    regerror(wrong, compiled, why, sizeof why);
    return complain("--benchmark_filter: '%s': %s", filter, why);
  }
  return 0;
}

/* Google Benchmark's minimum time is one for all rows, so they must be of one scope. */
static int check_scopes(const struct options *options) {
  for (size_t i = 1; i < options->rows_count; i++)
    if (options->rows[i].plan.scope != options->rows[0].plan.scope)
      return complain("rows of the scopes op and file cannot be measured in one run");
  return 0;
}

/* What a user sets for every run in the environment, as Google Benchmark would read it. */
static int take_environment(struct options *options, struct parsed *user) {
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

static void fill_rest(struct options *options, bool quick, bool repetitions_given) {
  bool files = options->rows_count > 0 && (options->rows[0].plan.scope->offers & GATHER_CREATED);
  if (options->repetitions == 0)
    options->repetitions = files ? 20 : 10;
  if (options->min_time[0] == '\0')
    snprintf(options->min_time, sizeof options->min_time, "%s", files ? "1e-9" : "0.05");
  if (quick && !repetitions_given)
    options->repetitions = options->repetitions > 30 ? options->repetitions / 10 : 3;
}

static int check_format(const char *flag, const char *value) {
  if (strcmp(value, "json") == 0 || strcmp(value, "csv") == 0 || strcmp(value, "console") == 0)
    return 0;
  return complain("--benchmark_%s: '%s' is none of json, csv, console", flag, value);
}

int options_parse(struct options *options, int argc, char **argv) {
  const char *temporary = getenv("TMPDIR");
  *options = (struct options){
      .dir = temporary && *temporary ? temporary : "/tmp",
      .out_format = "json",
      .passed_on = allocate((size_t)argc + 9, sizeof *options->passed_on),
  };
  struct parsed user = {0};
  int error = take_environment(options, &user);
  if (!error)
    error = parse_line(options, &user, argc, argv, false);
  if (!error)
    error = check_format("format", options->format ? options->format : "json");
  if (!error)
    error = check_format("out_format", options->out_format);
  if (options->out && *options->out == '\0')
    options->out = NULL;
  if (!error)
    error = choose_preset(options, &user);
  if (error)
    return error;

  regex_t compiled;
  struct making making = {.options = options, .user = &user.selection};
  if (user.filter && *user.filter && strcmp(user.filter, "all") != 0) {
    making.negated = user.filter[0] == '-';
    if ((error = compile_filter(user.filter + making.negated, &compiled)) != 0)
      return error;
    making.filter = &compiled;
  }
  bool repetitions_given = options->repetitions > 0;
  error = add_rows(&making);
  if (making.filter)
    regfree(&compiled);
  if (!error)
    error = remove_twins(options);
  if (!error)
    error = check_scopes(options);
  fill_rest(options, user.quick, repetitions_given);
  if (!error && options->rows_count > REPETITIONS_MAX / options->repetitions)
    error = complain("more than %d repetitions of all rows", REPETITIONS_MAX);
  return error;
}

void options_free(struct options *options) {
  free(options->rows);
  free(options->passed_on);
  free(options->preset_text);
  for (size_t i = 0; i < sizeof options->environment_flags / sizeof *options->environment_flags; i++)
    free(options->environment_flags[i]);
}

uint64_t options_disk_bytes(const struct options *options) {
  uint64_t slots[2 * THREADS_MAX] = {0}, largest_file = 0;
  for (size_t i = 0; i < options->rows_count; i++) {
    const struct gather_plan *plan = &options->rows[i].plan;
    uint64_t bytes = options->rows[i].refused ? 0 : gather_plan_disk_bytes(plan);
    if (plan->scope->offers & GATHER_CREATED) {
      largest_file = bytes > largest_file ? bytes : largest_file;
      continue;
    }
    unsigned files = plan->shared_file ? 1 : gather_plan_threads(plan);
    for (unsigned thread = 0; thread < files; thread++) {
      uint64_t *slot = &slots[gather_plan_slot(plan, thread)];
      *slot = bytes / files > *slot ? bytes / files : *slot;
    }
  }
  uint64_t sum = largest_file;
  for (size_t i = 0; i < 2 * THREADS_MAX; i++)
    sum = sum > UINT64_MAX - slots[i] ? UINT64_MAX : sum + slots[i];
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

/* --- Help and list. --- */

static void print_option(const char *name, const char *argument, const char *doc, const char *usual) {
  char option[40];
  snprintf(option, sizeof option, "--%s%s%s", name, argument ? "=" : "", argument ? argument : "");
  printf("  %-24s %s", option, doc);
  if (usual && argument)
    printf(" (default: %s)", usual);
  putchar('\n');
}

void options_print_help(void) {
  puts("Usage: " PROGRAM " [OPTION ...] [--benchmark_FLAG ...]\n"
       "\n"
       "Measures whether N buffers are best written one by one, copied together and written once, "
       "or gathered.\n"
       "A LIST is separated by commas; lists multiply. Without options: --preset=blog.\n"
       "\n"
       "What is measured:");
  for (int i = 0; i < ROW_OPTIONS; i++)
    print_option(row_options[i].name, row_options[i].argument, row_options[i].doc, row_options[i].usual);
  puts("\nThe run:");
  for (int i = 0; i < RUN_OPTIONS; i++)
    print_option(run_options[i].name, run_options[i].argument, run_options[i].doc, NULL);
  puts("\nExit status: 0 all rows measured; 1 a row failed or nothing matched; 2 bad usage; "
       "128+signal when interrupted.\n"
       "\n"
       "Google Benchmark's flags follow. Random interleaving, single repetitions in the results "
       "and aggregates on the\n"
       "screen are the default here; repetitions and minimum time come from the preset.\n");
}

static void print_row(const char *name, const char *doc, const char *(*missing)(void)) {
  printf("  %-12s %s\n", name, doc);
  const char *reason = missing ? missing() : NULL;
  if (reason)
    printf("  %-12s n/a here: %s\n", "", reason);
}

/* What a preset file asks for, which has been read into rows. */
static void print_preset_file(const struct options *options) {
  if (options->preset == NULL || preset_find(options->preset))
    return;
  printf("\nPreset file %s\n", options->preset);
  for (size_t i = 0; i < options->rows_count; i++)
    printf("  %s%s%s\n", options->rows[i].name, options->rows[i].refused ? "; n/a: " : "",
           options->rows[i].refused ? options->rows[i].refused : "");
}

void options_print_list(const struct options *options) {
  puts("Scopes (--scope)");
  for (const struct gather_scope *const *row = gather_scopes; *row; row++)
    print_row((*row)->name, (*row)->doc, NULL);
  puts("\nStrategies (--strategy)");
  for (const struct gather_strategy *const *row = gather_strategies; *row; row++)
    print_row((*row)->name, (*row)->doc, (*row)->missing);
  puts("\nTargets (--target)");
  for (const struct gather_target *const *row = gather_targets; *row; row++)
    print_row((*row)->name, (*row)->doc, NULL);
  puts("\nDurabilities (--sync)");
  for (const struct gather_durability *const *row = gather_durabilities; *row; row++)
    print_row((*row)->name, (*row)->doc, (*row)->missing);
  puts("\nCounters that a run tells of (in the results)");
  for (const struct gather_observer *const *row = gather_observers; *row; row++) {
    char doc[256];
    snprintf(doc, sizeof doc, "%s: %s", (*row)->unit, (*row)->doc);
    print_row((*row)->name, doc, NULL);
  }
  puts("\nPresets (--preset)");
  for (const struct preset *preset = presets; preset->name; preset++)
    print_row(preset->name, preset->doc, NULL);
  print_preset_file(options);
}

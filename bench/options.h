/* options.h: what the user asked for. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "gather.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A counter that one op told of, which was not timed. */
struct options_counter {
  const char *name;
  double value;
};

/* A plan that is to be measured, or was refused. */
struct options_row {
  struct gather_plan plan;
  char name[GATHER_NAME_MAX]; /* with what Google Benchmark appends */
  const char *refused;        /* NULL, or why it cannot be measured */
  const char *failed;         /* NULL, or what failed when it was tried */
  struct options_counter untimed[4];
  unsigned untimed_count;
  char reason[160]; /* what those two point to where it had to be found out by trying */
};

enum options_action { OPTIONS_RUN, OPTIONS_LIST, OPTIONS_LIST_TESTS, OPTIONS_DRY_RUN, OPTIONS_HELP, OPTIONS_VERSION };

struct options {
  enum options_action action;
  const char *dir;          /* where files are made */
  const char *preset;       /* the preset's name or file, or NULL where there was none */
  struct options_row *rows; /* all that was asked for and that the filter lets through */
  size_t rows_count;
  size_t refused_count;   /* rows of them that are refused */
  bool latency;           /* record each op's time */
  unsigned repetitions;   /* of each row */
  unsigned budget_s;      /* seconds into which they are to fit; 0 for no limit */
  char min_time[32];      /* seconds of a repetition at least, as Google Benchmark's flag */
  const char *out;        /* the results file, or NULL */
  const char *out_format; /* json, csv or console */
  const char *format;     /* of the screen: json, csv or console; NULL for our own table */
  const char **passed_on; /* the user's flags for Google Benchmark, without those that stand in
                             fields above */
  int passed_on_count;
  char *preset_text;          /* what the fields above may point into */
  char *environment_flags[8]; /* the same */
};

/* Parses the command line and the environment ($TMPDIR, BENCHMARK_*). Returns 0; -EINVAL after one
 * line on stderr that says what is wrong. options_free releases it in either case. */
int options_parse(struct options *options, int argc, char **argv);

void options_free(struct options *options);

/* Our half of --help. */
void options_print_help(void);

/* The tables: every row with its doc, and why it cannot be used here; and the presets, with their lines. */
void options_print_list(const struct options *options);

/* The bytes that the rows need in the directory at any one time: files of the scope `op` stay until the end. */
uint64_t options_disk_bytes(const struct options *options);

/* Finds out by trying which rows this directory cannot do, and marks them as refused, or as failed where the attempt
 * itself failed; no further row is tried once `stop` returns true. */
void options_probe(struct options *options, struct gather_workspace *workspace, bool (*stop)(void));

/* The least ops of a repetition. Ops with something to prepare before each find colder caches than ops in a row, which
 * shows where a file is small. */
unsigned options_ops_min(const struct gather_plan *plan);

/* The name of the row in the results: the plan's, with what Google Benchmark appends. -ENAMETOOLONG if it does not
 * fit. */
int options_row_name(const struct gather_plan *plan, char *name, size_t size);

#ifdef __cplusplus
}
#endif

#endif

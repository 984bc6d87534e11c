/* help.c: --help and --list, from the tables. */
#include <stdio.h>

#include "command_line.h"
#include "observer.h"
#include "presets.h"

static void print_option(const char *name, const char *argument, const char *doc, const char *default_value) {
  char option[40];
  snprintf(option, sizeof option, "--%s%s%s", name, argument ? "=" : "", argument ? argument : "");
  printf("  %-24s %s", option, doc);
  if (default_value && argument)
    printf(" (default: %s)", default_value);
  putchar('\n');
}

void options_print_help(void) {
  puts("Usage: gatherbench [OPTION ...] [--benchmark_FLAG ...]\n"
       "\n"
       "Measures whether N buffers are best written one by one, copied together and written once, "
       "or gathered.\n"
       "A LIST is separated by commas; lists multiply. Without options: --preset=blog.\n"
       "\n"
       "What is measured:");
  for (const struct plan_option *option = plan_options; option->name; option++)
    print_option(option->name, option->argument, option->doc, option->default_value);
  puts("\nThe run:");
  for (const struct run_option *option = run_options; option->name; option++)
    print_option(option->name, option->argument, option->doc, NULL);
  puts("\nExit status: 0 all rows measured; 1 a row failed; 2 bad usage; 3 nothing to measure; "
       "128+signal when interrupted.\n"
       "\n"
       "Google Benchmark's flags follow. Random interleaving, single repetitions in the results "
       "and aggregates on the\n"
       "screen are the default here; repetitions and minimum time come from the preset.\n");
}

static void print_row(const char *name, const char *doc, const char *(*unavailable_reason)(void)) {
  printf("  %-12s %s\n", name, doc);
  const char *reason = unavailable_reason ? unavailable_reason() : NULL;
  if (reason)
    printf("  %-12s n/a here: %s\n", "", reason);
}

/* With the system call under test. */
static void print_strategy(const struct gather_strategy *strategy) {
  char doc[256];
  int length = snprintf(doc, sizeof doc, "%s", strategy->doc);
  if (strategy->call)
    snprintf(doc + length, sizeof doc - (size_t)length, strategy->positioned_call ? " (%s; %s at offsets)" : " (%s)",
             strategy->call, strategy->positioned_call);
  print_row(strategy->name, doc, strategy->unavailable_reason);
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
    print_strategy(*row);
  puts("\nTargets (--target)");
  for (const struct gather_target *const *row = gather_targets; *row; row++)
    print_row((*row)->name, (*row)->doc, NULL);
  puts("\nWays of creating a file (--create)");
  for (const struct gather_create *const *row = gather_creates; *row; row++)
    print_row((*row)->name, (*row)->doc, NULL);
  puts("\nDurabilities (--sync)");
  for (const struct gather_durability *const *row = gather_durabilities; *row; row++)
    print_row((*row)->name, (*row)->doc, (*row)->unavailable_reason);
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

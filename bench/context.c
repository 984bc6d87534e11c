/* context.c: facts for the results' context. */
#include <stdio.h>
#include <string.h>

#include "circumstances.h"
#include "config.h"
#include "context.h"
#include "environment.h"
#include "printable.h"
#include "spoiled.h"
#include "sync_proof.h"
#include "text.h"

static void add_command(int argc, char **argv, context_add *add) {
  struct text command = {0};
  text_add(&command, "gatherbench");
  for (int i = 1; i < argc; i++)
    text_add(&command, " %s", argv[i]);
  add("command", command.bytes);
  text_free(&command);
}

/* What the rows have in common, and which of them are not measured. */
static void add_rows(const struct options *options, context_add *add) {
  struct text refused = {0};
  size_t reused = 0;
  unsigned laid = 0; /* a bit for each way */
  for (size_t i = 0; i < options->rows_count; i++) {
    const struct options_row *row = &options->rows[i];
    reused += row->plan.reuse_buffer;
    laid |= gather_plan_finds_bytes(&row->plan) ? 1U << row->plan.laid : 0;
    if (row->refused)
      text_add(&refused, "%s%s: %s", refused.length ? "\n" : "", row->name, row->refused);
  }
  add("buffers", reused == 0 ? "distinct" : reused == options->rows_count ? "one, used again" : "distinct or one");
  for (int i = 0; i < GATHER_LAIDS; i++)
    if (laid == 1U << i)
      add("laid", gather_laid_names[i]);
  if ((laid & (laid - 1)) != 0)
    add("laid", "several");
  if (refused.length)
    add("refused", refused.bytes);
  text_free(&refused);
}

void context_begin(struct run_context *context, const struct options *options, int argc, char **argv,
                   context_add *add) {
  *context = (struct run_context){.options = options, .add = add};
  add("version", GATHERBENCH_VERSION);
  add("build_type", GATHERBENCH_BUILD_TYPE);
  add_command(argc, argv, add);
  if (options->preset)
    add("preset", options->preset);
  gather_environment_each(options->dir, add);
  add_rows(options, add);
  if (options->budget_s) {
    char budget[16];
    snprintf(budget, sizeof budget, "%u", options->budget_s);
    add("budget_s", budget);
  }
  if (*sync_proof_text())
    add("sync_proof", sync_proof_text());
  gather_contention_begin(&context->contention, options_disk_bytes(options) > 0 ? options->dir : NULL);
}

static void add_spoiled(const char *sentence) {
  spoiled_add("%s", sentence);
}

void context_end(struct run_context *context) {
  if (context->ended)
    return;
  context->ended = true;
  circumstances_spoil(context->options); /* now, for a tracer may have come meanwhile */
  gather_contention_end(&context->contention, context->add, add_spoiled);
  if (*spoiled_text())
    context->add("spoiled", spoiled_text());
  if (*went_without_text())
    context->add("went_without", went_without_text());
}

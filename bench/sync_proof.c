/* sync_proof.c: each durability once in each scope, for the calls and their flags are not the same in all. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "environment.h"
#include "printable.h"
#include "proof.h"
#include "spoiled.h"
#include "sync_proof.h"

#define REACHED "reached the device"
#define MISSED  "did not reach the device"
#define UNKNOWN "not known"

static char told[512];
static char unflushed[128]; /* durabilities that do not flush, with commas */

const char *sync_proof_text(void) {
  return told;
}

/* Keeps the worst result, and of equal ones the first. */
static void tell(const char *what, const char *why) {
  static const char *const worst[] = {MISSED, UNKNOWN, REACHED};
  for (size_t i = 0; i < sizeof worst / sizeof *worst; i++) {
    if (strncmp(told, worst[i], strlen(worst[i])) == 0)
      return;
    if (strcmp(what, worst[i]) == 0)
      break;
  }
  snprintf(told, sizeof told, "%s%s%s", what, why ? ": " : "", why ? why : "");
}

/* Whether a row makes something durable in a file. */
static bool syncs(const struct gather_plan *plan) {
  return strcmp(plan->durability->name, "none") != 0 && plan->target == gather_target_find("file");
}

static bool is_measured(const struct options_row *row) {
  return !row->refused && !row->failed;
}

/* A known reason why syncs do nothing here: " (WHY)", or "". */
static void hint(const char *dir, char *text, size_t size) {
  char options[GATHER_FACT_MAX];
  const char *preload = getenv("LD_PRELOAD");
  char shown[128];
  *text = '\0';
  if (preload && *preload)
    snprintf(text, size, " (LD_PRELOAD is %s)", printable(preload, shown, sizeof shown));
  else if (gather_environment_read(dir, "mount_options", options, sizeof options) == 0 && strstr(options, "volatile"))
    snprintf(text, size, " (the overlay is mounted volatile)");
}

/* What a proof means for its durability; true if rows are refused for it, with the reason in reason[size]. */
static bool judge(const struct gather_proof *proof, const char *durability, const char *dir, char *reason,
                  size_t size) {
  char why[256];
  switch (proof->result) {
  case GATHER_REACHED_DEVICE:
    tell(REACHED, NULL);
    return false;
  case GATHER_FLUSH_NOT_KNOWN:
    tell(UNKNOWN, "the device has a write cache and counts no flushes");
    return false;
  case GATHER_NOT_FLUSHED:
    snprintf(why, sizeof why, "%s wrote to it and did not flush its cache", durability);
    tell(MISSED, why);
    if (strstr(unflushed, durability) == NULL)
      snprintf(unflushed + strlen(unflushed), sizeof unflushed - strlen(unflushed), "%s%s", *unflushed ? ", " : "",
               durability);
    return false;
  case GATHER_NOT_WRITTEN:
    hint(dir, why, sizeof why);
    snprintf(reason, size, "%s, of %llu bytes %llu arrived%s", durability, (unsigned long long)proof->written,
             (unsigned long long)proof->arrived, why);
    tell(MISSED, reason);
    snprintf(reason, size, "%s does not reach the device: of %llu bytes %llu arrived%s", durability,
             (unsigned long long)proof->written, (unsigned long long)proof->arrived, why);
    return true;
  }
  return false;
}

/* Refuses or fails all rows from `first` on that have its durability and scope. */
static void mark_rows(struct options *options, size_t first, bool failed, const char *reason) {
  const struct gather_plan like = options->rows[first].plan;
  for (size_t i = first; i < options->rows_count; i++) {
    struct options_row *row = &options->rows[i];
    if (!is_measured(row) || !syncs(&row->plan) || row->plan.durability != like.durability ||
        row->plan.scope != like.scope)
      continue;
    snprintf(row->reason, sizeof row->reason, "%s", reason);
    if (failed)
      row->failed = row->reason;
    else
      row->refused = row->reason;
    options->refused_count += !failed;
  }
}

/* Whether an earlier row was tried for the same durability and scope. */
static bool was_tried(const struct options *options, size_t index) {
  const struct gather_plan *plan = &options->rows[index].plan;
  for (size_t i = 0; i < index; i++) {
    const struct options_row *row = &options->rows[i];
    if (is_measured(row) && syncs(&row->plan) && row->plan.durability == plan->durability &&
        row->plan.scope == plan->scope)
      return true;
  }
  return false;
}

/* The measured row that syncs and whose bytes repeat soonest, if they do within what is written for the proof; or the
 * number of rows. */
static size_t most_repetitive(const struct options *options) {
  size_t found = options->rows_count;
  uint64_t least = GATHER_ARRIVAL_BYTES;
  for (size_t i = 0; i < options->rows_count; i++) {
    const struct options_row *row = &options->rows[i];
    uint64_t bytes = gather_plan_distinct_bytes(&row->plan);
    if (is_measured(row) && syncs(&row->plan) && bytes > 0 && bytes < least &&
        gather_plan_batch_bytes(&row->plan) < GATHER_ARRIVAL_BYTES) {
      least = bytes;
      found = i;
    }
  }
  return found;
}

/* A tenth less is too little: a file system writes more than it was given, for its own needs, unless it packs. */
static void prove_arrival(struct options *options, struct gather_workspace *workspace,
                          const struct gather_device *device) {
  size_t index = most_repetitive(options);
  if (index == options->rows_count)
    return;
  struct gather_proof proof;
  char reason[sizeof options->rows->reason];
  int error = gather_prove_arrival(&options->rows[index].plan, workspace, device, &proof, reason, sizeof reason);
  if (error)
    mark_rows(options, index, true, reason);
  else if (proof.arrived < proof.written / 10 * 9)
    spoiled_add(
        "the file system packs the bytes that the rows repeat: of %llu that were synced %llu reached the device",
        (unsigned long long)proof.written, (unsigned long long)proof.arrived);
}

void sync_proof(struct options *options, struct gather_workspace *workspace, bool (*stop)(void)) {
  struct gather_device device;
  bool any = false, found = false, refused = false;
  for (size_t i = 0; i < options->rows_count && !stop(); i++) {
    const struct options_row *row = &options->rows[i];
    if (!is_measured(row) || !syncs(&row->plan) || was_tried(options, i))
      continue;
    if (!any) {
      any = true;
      int error = gather_device_find(options->dir, &device);
      found = error == 0;
      if (error == -ENODEV) {
        tell(MISSED, device.reason);
        spoiled_add("%s lies in memory: nothing makes a file there durable", options->dir);
      } else if (error) {
        tell(UNKNOWN, device.reason ? device.reason : strerror(-error));
      }
    }
    if (!found)
      return;
    struct gather_proof proof;
    char reason[sizeof row->reason];
    int error = gather_prove_sync(&row->plan, workspace, &device, &proof, reason, sizeof reason);
    if (error || judge(&proof, row->plan.durability->name, options->dir, reason, sizeof reason)) {
      refused = true;
      mark_rows(options, i, error != 0, reason);
    }
  }
  if (*unflushed)
    spoiled_add("%s: no flush of the device's write cache, so what is durable is lost with the power", unflushed);
  if (found && !refused && !stop()) /* bytes that no sync sends cannot be missed */
    prove_arrival(options, workspace, &device);
}

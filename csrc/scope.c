/* scope.c: what one timed op is. A new scope is its functions, the row below them, and an entry in the table. */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

uint64_t gather_clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now); /* fails for an unknown clock only */
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Makes what was written durable, where that takes a call of its own, and notes how long it took. */
static int sync_after(struct gather_run *run) {
  if (run->sync == NULL)
    return 0;
  uint64_t begin_ns = gather_clock_ns();
  int error = run->sync(run->fd);
  run->stats.sync_ns += gather_clock_ns() - begin_ns;
  return error ? gather_fail(run, run->plan->durability->sync_call, error) : 0;
}

/* On a target without a window. */
static int op_plain(struct gather_run *run) {
  return run->write(run, &run->batch, 0);
}

/* The same, where somebody counts what arrives. */
static int op_stream(struct gather_run *run) {
  int error = run->write(run, &run->batch, 0);
  run->ops += !error;
  return error;
}

/* On a file: batch after batch through the window, and from its start again. */
static int op_window(struct gather_run *run) {
  if (GATHER_UNLIKELY(run->position > run->position_end)) {
    run->position = run->position_begin;
    if (run->rewinds && lseek(run->fd, run->position, SEEK_SET) < 0)
      return gather_fail(run, "lseek", -errno);
  }
  int error = run->write(run, &run->batch, run->position);
  if (GATHER_UNLIKELY(error))
    return error;
  run->position += (int64_t)run->batch.bytes;
  return sync_after(run);
}

static int batch_scope_open(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  int error = plan->target->open(run);
  if (error)
    return error;
  run->op = run->reader ? op_stream : op_plain;
  if (plan->target->provided & GATHER_IS_FILE) {
    run->op = op_window;
    run->position_begin = plan->shared_file ? (int64_t)(plan->window_bytes * run->thread) : 0;
    run->position_end = run->position_begin + (int64_t)(plan->window_bytes - run->batch.bytes);
    run->position = run->position_end + 1; /* the first op begins as every later round does */
    run->rewinds = !(plan->strategy->required & GATHER_OFFSETS) && !plan->strategy->positioned_call &&
                   (plan->strategy->provided & GATHER_WRITES);
  }
  return 0;
}

static int batch_scope_close(struct gather_run *run) {
  return run->plan->target->close(run);
}

static const struct gather_scope scope_op = {
    .name = "op",
    .doc = "one batch, made durable; on a file it overwrites a window that was written before",
    .provided = GATHER_WINDOWED,
    .open = batch_scope_open,
    .close = batch_scope_close,
};

/* --- The scope `file`. --- */

/* All batches of a file, at explicit offsets where the strategy has them. */
static int write_file(struct gather_run *run) {
  const bool sync_each = run->plan->sync_each;
  int64_t offset = 0;
  for (uint64_t i = 0; i < run->batches; i++) {
    int error = run->write(run, &run->batch, offset);
    if (!error && sync_each)
      error = sync_after(run);
    if (error)
      return error;
    offset += (int64_t)run->batch.bytes;
  }
  if (run->remainder.bytes == 0)
    return 0;
  int error = run->write(run, &run->remainder, offset);
  return error || !sync_each ? error : sync_after(run);
}

/* Five clock readings: the phases of an op are the times between them. */
static int op_file(struct gather_run *run) {
  struct gather_stats *stats = &run->stats;
  const uint64_t begin_ns = gather_clock_ns();
  int error = run->open_file(run);
  if (GATHER_UNLIKELY(error))
    return error;
  const uint64_t opened_ns = gather_clock_ns(), synced_before_ns = stats->sync_ns;
  error = write_file(run);
  const uint64_t written_ns = gather_clock_ns(), synced_meanwhile_ns = stats->sync_ns - synced_before_ns;
  if (!error && run->sync_file && (error = run->sync_file(run->fd)) != 0)
    gather_fail(run, run->plan->durability->sync_call, error);
  const uint64_t synced_ns = run->sync_file ? gather_clock_ns() : written_ns;
  if (GATHER_UNLIKELY(!error && run->inspect))
    error = run->inspect(run);
  int close_error = run->close_file(run);
  const uint64_t closed_ns = gather_clock_ns();
  stats->open_ns += opened_ns - begin_ns;
  stats->write_ns += written_ns - opened_ns - synced_meanwhile_ns;
  stats->sync_ns += synced_ns - written_ns;
  stats->close_ns += closed_ns - synced_ns;
  run->left = !error && !close_error;
  return error ? error : close_error;
}

static int file_scope_open(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  run->op = op_file;
  run->sync_file = plan->sync_each ? NULL : run->sync;
  run->open_file = plan->target->open;
  run->close_file = plan->target->close;
  if (!(plan->target->provided & GATHER_IS_FILE))
    return 0;
  const struct gather_create *create = gather_plan_create(plan);
  run->open_file = create->open;
  run->close_file = create->finish;
  return gather_create_open(run);
}

static int file_scope_close(struct gather_run *run) {
  return run->plan->target->provided & GATHER_IS_FILE ? gather_create_close(run) : 0;
}

int gather_prepare(struct gather_run *run) {
  return gather_plan_keeps(run->plan) ? gather_create_prepare(run) : 0;
}

static const struct gather_scope scope_file = {
    .name = "file",
    .doc = "a whole file: opened, written batch by batch, made durable once at the end, closed",
    .required = GATHER_REOPENED,
    .provided = GATHER_WHOLE_FILE,
    .open = file_scope_open,
    .close = file_scope_close,
};

const struct gather_scope *const gather_scopes[] = {&scope_op, &scope_file, NULL};

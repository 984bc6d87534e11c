/* run.c: opening, running and closing a plan. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/* Makes what was written durable, where that takes a call of its own. */
static int sync_after(struct gather_run *run) {
  const struct gather_durability *durability = run->plan->durability;
  if (durability->sync == NULL)
    return 0;
  int error = durability->sync(run->fd);
  return error ? gather_fail(run, durability->sync_call, -error) : 0;
}

/* The scope `op`, on a target without a window and nothing to sync. */
static int op_plain(struct gather_run *run) {
  return run->write(run, &run->batch, 0);
}

/* The scope `op`, on a file: batch after batch through the window, and from its start again. */
static int op_window(struct gather_run *run) {
  if (GATHER_UNLIKELY(run->position > run->position_end)) {
    run->position = 0;
    if (run->rewinds && lseek(run->fd, 0, SEEK_SET) < 0)
      return gather_fail(run, "lseek", errno);
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
  run->op = op_plain;
  if (plan->target->offers & GATHER_ALLOCATED) {
    run->op = op_window;
    run->position_end = (int64_t)(plan->window_bytes - run->batch.bytes);
    run->rewinds = !(plan->strategy->needs & GATHER_OFFSETS);
  }
  return 0;
}

static int batch_scope_close(struct gather_run *run) {
  return run->plan->target->close(run);
}

static const struct gather_scope scope_op = {
    .name = "op",
    .doc = "one batch, made durable; on a file it overwrites a window that was written before",
    .open = batch_scope_open,
    .close = batch_scope_close,
};

/* The scope `file`: all batches of a file that is new, at explicit offsets where the strategy has
 * them. */
static int write_file(struct gather_run *run) {
  int64_t offset = 0;
  for (uint64_t i = 0; i < run->batches; i++) {
    int error = run->write(run, &run->batch, offset);
    if (error)
      return error;
    offset += (int64_t)run->batch.bytes;
  }
  int error = run->tail.bytes > 0 ? run->write(run, &run->tail, offset) : 0;
  return error ? error : sync_after(run);
}

static int op_file(struct gather_run *run) {
  int error = run->plan->target->create(run);
  if (error)
    return error;
  error = write_file(run);
  if (!error && run->inspect)
    error = run->inspect(run);
  const char *operation = run->operation;
  int remove_error = run->plan->target->remove(run);
  if (!error)
    return remove_error;
  run->operation = operation; /* the first error is the one to tell */
  return error;
}

static int file_scope_open(struct gather_run *run) {
  run->op = op_file;
  if (!(run->plan->target->offers & GATHER_ALLOCATED))
    return 0;
  int fd = gather_workspace_private(run->workspace);
  if (fd < 0)
    return gather_fail(run, run->workspace->operation, -fd);
  snprintf(run->file_name, sizeof run->file_name, "file-%u", run->workspace->files++);
  return 0;
}

static int file_scope_close(struct gather_run *run) {
  (void)run;
  return 0;
}

static const struct gather_scope scope_file = {
    .name = "file",
    .doc = "a whole file: created, written batch by batch, made durable once at the end, deleted "
           "and closed",
    .needs = GATHER_REOPENED,
    .offers = GATHER_CREATED,
    .open = file_scope_open,
    .close = file_scope_close,
};

const struct gather_scope *const gather_scopes[] = {&scope_op, &scope_file, NULL};

int gather_open(struct gather_run *run, const struct gather_plan *plan,
                struct gather_workspace *workspace) {
  *run = (struct gather_run){
      .write = plan->strategy->write,
      .fd = -1,
      .positioned = (plan->target->offers & GATHER_OFFSETS) != 0,
      .plan = plan,
      .workspace = workspace,
  };
  int error = gather_batches_open(run);
  if (error)
    return error;
  error = plan->scope->open(run);
  if (error)
    gather_batches_close(run);
  return error;
}

int gather_close(struct gather_run *run) {
  int error = run->plan->scope->close(run);
  gather_batches_close(run);
  return error;
}

/* Reads exactly `bytes` at `offset`; a file that ends before is as wrong as one with other bytes.
 */
static int read_all(struct gather_run *run, int fd, char *memory, size_t bytes, int64_t offset) {
  for (size_t done = 0; done < bytes;) {
    ssize_t result = pread(fd, memory + done, bytes - done, offset + (int64_t)done);
    if (result > 0)
      done += (size_t)result;
    else if (result == 0)
      return gather_fail(run, "verify", EBADMSG);
    else if (errno != EINTR)
      return gather_fail(run, "pread", errno);
  }
  return 0;
}

static int verify_batch(struct gather_run *run, int fd, const struct gather_batch *batch,
                        int64_t offset) {
  int error = 0;
  for (size_t i = 0; i < batch->buffers_count && !error; i++) {
    const struct iovec *buffer = &batch->buffers[i];
    char *memory = malloc(buffer->iov_len + 1);
    if (memory == NULL)
      return gather_fail(run, "malloc", ENOMEM);
    error = read_all(run, fd, memory, buffer->iov_len, offset);
    if (!error && memcmp(memory, buffer->iov_base, buffer->iov_len) != 0)
      error = gather_fail(run, "verify", EBADMSG);
    free(memory);
    offset += (int64_t)buffer->iov_len;
  }
  return error;
}

static int verify_file(struct gather_run *run) {
  int fd = openat(run->workspace->private_fd, run->file_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return gather_fail(run, "open", errno);
  int error = 0;
  int64_t offset = 0;
  for (uint64_t i = 0; i < run->batches && !error; i++) {
    error = verify_batch(run, fd, &run->batch, offset);
    offset += (int64_t)run->batch.bytes;
  }
  if (!error)
    error = verify_batch(run, fd, &run->tail, offset);
  off_t end = lseek(fd, 0, SEEK_END);
  if (!error && end < 0)
    error = gather_fail(run, "lseek", errno);
  if (!error && (uint64_t)end != run->plan->file_bytes)
    error = gather_fail(run, "verify", EBADMSG);
  if (close(fd) < 0 && !error)
    error = gather_fail(run, "close", errno);
  return error;
}

int gather_verify(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  if (!(plan->target->offers & GATHER_ALLOCATED) || !(plan->strategy->offers & GATHER_BYTES))
    return 0;
  if (plan->scope->offers & GATHER_CREATED)
    return verify_file(run);
  return verify_batch(run, run->fd, &run->batch, run->position - (int64_t)run->batch.bytes);
}

/* verify.c: reading back what an op wrote. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

int gather_open_for_reading(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  if (plan->scope->provided & GATHER_WHOLE_FILE) {
    int fd = openat(run->workspace->private_fd, run->file_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? gather_fail(run, "open for reading", -errno) : fd;
  }
  return gather_workspace_window(run, gather_plan_window_index(plan, run->thread), 0, 0);
}

int gather_close_after_reading(struct gather_run *run, int fd, int error) {
  if (close(fd) < 0 && !error)
    error = gather_fail(run, "close", -errno);
  return error;
}

/* Reads exactly `bytes` at `offset`; a file that ends before is as wrong as one with other bytes. */
static int read_all(struct gather_run *run, int fd, char *memory, size_t bytes, int64_t offset) {
  for (size_t done = 0; done < bytes;) {
    ssize_t result = pread(fd, memory + done, bytes - done, offset + (int64_t)done);
    if (result > 0)
      done += (size_t)result;
    else if (result == 0)
      return gather_fail(run, "verify", -EBADMSG);
    else if (errno != EINTR)
      return gather_fail(run, "pread", -errno);
  }
  return 0;
}

static int verify_batch(struct gather_run *run, int fd, const struct gather_batch *batch, int64_t offset) {
  enum { CHUNK = 1 << 16 };
  char *memory = malloc(CHUNK);
  if (memory == NULL)
    return gather_fail(run, "malloc", -ENOMEM);
  int error = 0;
  for (size_t i = 0; i < batch->buffers_count && !error; i++) {
    const char *expected = batch->buffers[i].iov_base;
    for (size_t rest = batch->buffers[i].iov_len, bytes; rest > 0 && !error; rest -= bytes) {
      bytes = rest < CHUNK ? rest : CHUNK;
      error = read_all(run, fd, memory, bytes, offset);
      if (!error && memcmp(memory, expected, bytes) != 0)
        error = gather_fail(run, "verify", -EBADMSG);
      expected += bytes;
      offset += (int64_t)bytes;
    }
  }
  free(memory);
  return error;
}

static int verify_file(struct gather_run *run, int fd) {
  int error = 0;
  int64_t offset = 0;
  for (uint64_t i = 0; i < run->batches && !error; i++) {
    error = verify_batch(run, fd, &run->batch, offset);
    offset += (int64_t)run->batch.bytes;
  }
  if (!error && run->remainder.bytes > 0)
    error = verify_batch(run, fd, &run->remainder, offset);
  if (error)
    return error;
  off_t end = lseek(fd, 0, SEEK_END);
  if (end < 0)
    return gather_fail(run, "lseek", -errno);
  return (uint64_t)end == run->plan->file_bytes ? 0 : gather_fail(run, "verify", -EBADMSG);
}

int gather_verify(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  if (!(plan->target->provided & GATHER_IS_FILE) || !(plan->strategy->provided & GATHER_WRITES))
    return 0;
  int fd = gather_open_for_reading(run);
  if (fd < 0)
    return fd;
  int error = (plan->scope->provided & GATHER_WHOLE_FILE)
                  ? verify_file(run, fd)
                  : verify_batch(run, fd, &run->batch, run->position - (int64_t)run->batch.bytes);
  return gather_close_after_reading(run, fd, error);
}

/* Overwrites bytes with others: every op writes the same ones, and those of an earlier op must not pass for this one's.
 * Closes the descriptor. */
static int overwrite_with_zeros(struct gather_run *run, int fd, int64_t offset, uint64_t bytes) {
  static const char zeros[4096];
  int error = 0;
  for (uint64_t rest = bytes; rest > 0 && !error;) {
    ssize_t result = pwrite(fd, zeros, rest < sizeof zeros ? (size_t)rest : sizeof zeros, offset);
    if (result > 0) {
      rest -= (uint64_t)result;
      offset += result;
    } else if (result == 0 || errno != EINTR) {
      error = gather_fail(run, "prepare to verify", result == 0 ? -EIO : -errno);
    }
  }
  return gather_close_after_reading(run, fd, error);
}

/* The place of the next batch. */
static int clear_window(struct gather_run *run) {
  int fd = gather_workspace_window(run, gather_plan_window_index(run->plan, run->thread), 0, 0);
  int64_t offset = run->position > run->position_end ? run->position_begin : run->position;
  return fd < 0 ? fd : overwrite_with_zeros(run, fd, offset, run->batch.bytes);
}

/* The old file of the next op. */
static int clear_file(struct gather_run *run) {
  int fd = openat(run->workspace->private_fd, run->saved_name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  return fd < 0 ? gather_fail(run, "open the old file", -errno)
                : overwrite_with_zeros(run, fd, 0, run->plan->file_bytes);
}

/* An op that makes a file is looked at while the file is there. */
static int verified_file(struct gather_run *run) {
  int error = gather_plan_create(run->plan)->replaces ? clear_file(run) : 0;
  if (!error)
    error = gather_prepare(run);
  if (error)
    return error;
  int (*before)(struct gather_run *) = run->inspect;
  run->inspect = gather_verify;
  error = gather_op(run);
  run->inspect = before;
  return error;
}

int gather_verified_op(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  if (!(plan->target->provided & GATHER_IS_FILE) || !(plan->strategy->provided & GATHER_WRITES))
    return gather_op(run); /* there is nothing to read back, or the reader of a stream compares */
  if (plan->scope->provided & GATHER_WHOLE_FILE)
    return verified_file(run);
  int error = clear_window(run);
  if (!error)
    error = gather_op(run);
  return error ? error : gather_verify(run);
}

/* target.c: what is written to. A new target is its functions, the row below them, and an entry in
 * the table. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "internal.h"

static int close_fd(struct gather_run *run) {
  int fd = run->fd;
  run->fd = -1;
  /* Not repeated after EINTR: the descriptor is gone all the same (close(2), on Linux). */
  return close(fd) < 0 ? gather_fail(run, "close", errno) : 0;
}

/* A file's `open` takes the window that every row overwrites. */
static int file_open(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  int fd =
      gather_workspace_window(run->workspace, plan->window_bytes, plan->durability->open_flags);
  if (fd < 0)
    return gather_fail(run, run->workspace->operation, -fd);
  run->fd = fd;
  return 0;
}

/* posix_fallocate returns its error, and may be interrupted. */
static int preallocate(int fd, uint64_t bytes) {
  int error;
  do
    error = posix_fallocate(fd, 0, (off_t)bytes);
  while (error == EINTR);
  return error;
}

/* As .NET's FileStream opens a file: create and truncate it, and take an advisory shared lock,
 * which a file system may not have. The directory is ours alone, so no link can stand in the way;
 * O_NOFOLLOW says so. */
static int file_create(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  int fd = openat(
      run->workspace->private_fd, run->file_name,
      O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC | plan->durability->open_flags, 0600);
  if (fd < 0)
    return gather_fail(run, "open", errno);
  run->fd = fd;

  int error;
  if (flock(fd, LOCK_SH | LOCK_NB) < 0 && errno != ENOTSUP && errno != ENOLCK && errno != ENOSYS) {
    error = gather_fail(run, "flock", errno);
    goto err;
  }
  if (plan->preallocate) {
    error = preallocate(fd, plan->file_bytes);
    if (error) {
      error = gather_fail(run, "posix_fallocate", error);
      goto err;
    }
  }
  return 0;

err:
  /* The first error is the one to tell; the file must go all the same. */
  (void)unlinkat(run->workspace->private_fd, run->file_name, 0);
  (void)close(fd);
  run->fd = -1;
  return error;
}

/* The blog's loop deletes the file before it closes it. */
static int file_remove(struct gather_run *run) {
  int error = 0;
  if (unlinkat(run->workspace->private_fd, run->file_name, 0) < 0)
    error = gather_fail(run, "unlink", errno);
  int close_error = close_fd(run);
  return error ? error : close_error;
}

static const struct gather_target target_file = {
    .name = "file",
    .doc = "a file in the directory given",
    .offers = GATHER_OFFSETS | GATHER_DURABLE | GATHER_REOPENED | GATHER_ALLOCATED,
    .open = file_open,
    .close = close_fd,
    .create = file_create,
    .remove = file_remove,
};

static int null_open(struct gather_run *run) {
  run->fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  return run->fd < 0 ? gather_fail(run, "open", errno) : 0;
}

static const struct gather_target target_null = {
    .name = "null",
    .doc = "/dev/null: what the calls cost without a file system",
    .offers = GATHER_OFFSETS | GATHER_REOPENED,
    .open = null_open,
    .close = close_fd,
    .create = null_open,
    .remove = close_fd,
};

const struct gather_target *const gather_targets[] = {&target_file, &target_null, NULL};

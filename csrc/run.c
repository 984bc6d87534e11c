/* run.c: opening, running and closing a plan. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

/* --- The scope `op`. --- */

uint64_t gather_clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now); /* fails for an unknown clock only */
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Makes what was written durable, where that takes a call of its own, and notes how long it took. */
static int sync_after(struct gather_run *run) {
  const struct gather_durability *durability = run->plan->durability;
  if (durability->sync == NULL)
    return 0;
  uint64_t begin_ns = gather_clock_ns();
  int error = durability->sync(run->fd);
  run->stats.sync_ns += gather_clock_ns() - begin_ns;
  return error ? gather_fail(run, durability->sync_call, -error) : 0;
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
  run->op = run->reader ? op_stream : op_plain;
  if (plan->target->offers & GATHER_ALLOCATED) {
    run->op = op_window;
    run->position_begin = plan->shared_file ? (int64_t)(plan->window_bytes * run->thread) : 0;
    run->position_end = run->position_begin + (int64_t)(plan->window_bytes - run->batch.bytes);
    run->position = run->position_end + 1; /* the first op begins as every later round does */
    /* Joined strategies use offsets where there are some. */
    run->rewinds = !(plan->strategy->needs & GATHER_OFFSETS) && (plan->strategy->offers & GATHER_BYTES) &&
                   plan->strategy->layout != GATHER_JOINED;
  }
  return 0;
}

static int batch_scope_close(struct gather_run *run) {
  return run->plan->target->close(run);
}

static const struct gather_scope scope_op = {
    .name = "op",
    .doc = "one batch, made durable; on a file it overwrites a window that was written before",
    .offers = GATHER_WINDOWED,
    .open = batch_scope_open,
    .close = batch_scope_close,
};

/* --- The scope `file`. --- */

/* All batches of a file that is new, at explicit offsets where the strategy has them. */
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
  int error = run->tail.bytes > 0 ? run->write(run, &run->tail, offset) : 0;
  if (error || (sync_each && run->tail.bytes == 0))
    return error;
  return sync_after(run);
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
  int fd = gather_workspace_name(run->workspace, run->file_name, sizeof run->file_name);
  return fd < 0 ? gather_fail(run, run->workspace->operation, -fd) : 0;
}

static int file_scope_close(struct gather_run *run) {
  (void)run;
  return 0;
}

static const struct gather_scope scope_file = {
    .name = "file",
    .doc = "a whole file: created, written batch by batch, made durable once at the end, deleted and closed",
    .needs = GATHER_REOPENED,
    .offers = GATHER_CREATED,
    .open = file_scope_open,
    .close = file_scope_close,
};

const struct gather_scope *const gather_scopes[] = {&scope_op, &scope_file, NULL};

/* --- Opening and closing. --- */

#ifdef __linux__
struct gather_affinity {
  cpu_set_t before;
};

/* Keeps the calling thread on the plan's processor. Threads that were started before, such as a reader, stay free. */
static int pin(struct gather_run *run) {
  if (!run->plan->pinned)
    return 0;
  struct gather_affinity *affinity = malloc(sizeof *affinity);
  if (affinity == NULL)
    return gather_fail(run, "malloc", ENOMEM);
  cpu_set_t one;
  CPU_ZERO(&one);
  if (run->plan->cpu < CPU_SETSIZE)
    CPU_SET(run->plan->cpu, &one);
  if (sched_getaffinity(0, sizeof affinity->before, &affinity->before) < 0 ||
      sched_setaffinity(0, sizeof one, &one) < 0) {
    int error = errno;
    free(affinity);
    return gather_fail(run, "sched_setaffinity", error);
  }
  run->affinity = affinity;
  return 0;
}

static int unpin(struct gather_run *run) {
  if (run->affinity == NULL)
    return 0;
  int error = sched_setaffinity(0, sizeof run->affinity->before, &run->affinity->before) < 0 ? errno : 0;
  free(run->affinity);
  run->affinity = NULL;
  return error ? gather_fail(run, "sched_setaffinity", error) : 0;
}
#else
static int pin(struct gather_run *run) {
  return run->plan->pinned ? gather_fail(run, "pin to a processor", ENOTSUP) : 0;
}

static int unpin(struct gather_run *run) {
  (void)run;
  return 0;
}
#endif

int gather_open(struct gather_run *run, const struct gather_plan *plan, struct gather_workspace *workspace,
                unsigned thread) {
  *run = (struct gather_run){
      .write = plan->strategy->write,
      .fd = -1,
      .call_flags = plan->durability->call_flags,
      .positioned = (plan->target->offers & GATHER_OFFSETS) != 0,
      .plan = plan,
      .workspace = workspace,
      .thread = thread,
  };
  int error = gather_batches_open(run);
  if (error)
    return error;
  if (plan->strategy->open && (error = plan->strategy->open(run)) != 0)
    goto err_batches;
  error = plan->scope->open(run);
  if (error)
    goto err_strategy;
  error = pin(run);
  if (error)
    goto err_scope;
  return 0;

  const char *operation;
err_scope:
  operation = run->operation;
  (void)plan->scope->close(run); /* the first error is the one to tell */
  run->operation = operation;
err_strategy:
  if (plan->strategy->close)
    plan->strategy->close(run);
err_batches:
  gather_batches_close(run);
  return error;
}

/* So that writing back disturbs nobody else's times, and its errors are told of the run that wrote. pg_test_fsync, too,
 * syncs what it wrote before it measures. A run that failed is not settled: what failed once can do more harm when it
 * is tried again, as on ext4, which then gives up its journal. */
static int settle(struct gather_run *run) {
  if (run->operation || !(run->plan->target->offers & GATHER_ALLOCATED))
    return 0;
  int error = gather_workspace_settle(run->workspace);
  return error ? gather_fail(run, run->workspace->operation, -error) : 0;
}

/* The first error is the one to tell. */
int gather_close(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  int error = unpin(run);
  const char *operation = run->operation;
  int close_error = plan->scope->close(run);
  if (!error) {
    error = close_error;
    operation = run->operation;
  }
  int settle_error = settle(run);
  if (!error) {
    error = settle_error;
    operation = run->operation;
  }
  run->operation = operation;
  if (plan->strategy->close)
    plan->strategy->close(run);
  gather_batches_close(run);
  return error;
}

/* --- Looking at what was written. --- */

/* A descriptor of its own, past O_DIRECT's rules, for what the run wrote. */
static int open_for_reading(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  int fd;
  if (plan->scope->offers & GATHER_CREATED) {
    fd = openat(run->workspace->private_fd, run->file_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? gather_fail(run, "open for reading", errno) : fd;
  }
  fd = gather_workspace_window(run->workspace, gather_plan_slot(plan, run->thread), 0, 0);
  return fd < 0 ? gather_fail(run, run->workspace->operation, -fd) : fd;
}

/* Closes it; the first error is the one to tell. */
static int close_after_reading(struct gather_run *run, int fd, int error) {
  if (close(fd) < 0 && !error)
    error = gather_fail(run, "close", errno);
  return error;
}

/* Reads exactly `bytes` at `offset`; a file that ends before is as wrong as one with other bytes. */
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

static int verify_batch(struct gather_run *run, int fd, const struct gather_batch *batch, int64_t offset) {
  enum { CHUNK = 1 << 16 };
  char *memory = malloc(CHUNK);
  if (memory == NULL)
    return gather_fail(run, "malloc", ENOMEM);
  int error = 0;
  for (size_t i = 0; i < batch->buffers_count && !error; i++) {
    const char *expected = batch->buffers[i].iov_base;
    for (size_t rest = batch->buffers[i].iov_len, bytes; rest > 0 && !error; rest -= bytes) {
      bytes = rest < CHUNK ? rest : CHUNK;
      error = read_all(run, fd, memory, bytes, offset);
      if (!error && memcmp(memory, expected, bytes) != 0)
        error = gather_fail(run, "verify", EBADMSG);
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
  if (!error && run->tail.bytes > 0)
    error = verify_batch(run, fd, &run->tail, offset);
  if (error)
    return error;
  off_t end = lseek(fd, 0, SEEK_END);
  if (end < 0)
    return gather_fail(run, "lseek", errno);
  return (uint64_t)end == run->plan->file_bytes ? 0 : gather_fail(run, "verify", EBADMSG);
}

int gather_verify(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  if (!(plan->target->offers & GATHER_ALLOCATED) || !(plan->strategy->offers & GATHER_BYTES))
    return 0;
  int fd = open_for_reading(run);
  if (fd < 0)
    return fd;
  int error = (plan->scope->offers & GATHER_CREATED)
                  ? verify_file(run, fd)
                  : verify_batch(run, fd, &run->batch, run->position - (int64_t)run->batch.bytes);
  return close_after_reading(run, fd, error);
}

/* Overwrites the place of the next batch with other bytes: every op writes the same ones, and those of an earlier op
 * must not pass for this one's. */
static int scramble(struct gather_run *run) {
  static const char zeros[4096];
  int fd = gather_workspace_window(run->workspace, gather_plan_slot(run->plan, run->thread), 0, 0);
  if (fd < 0)
    return gather_fail(run, run->workspace->operation, -fd);
  int64_t offset = run->position > run->position_end ? run->position_begin : run->position;
  int error = 0;
  for (uint64_t rest = run->batch.bytes; rest > 0 && !error;) {
    ssize_t result = pwrite(fd, zeros, rest < sizeof zeros ? (size_t)rest : sizeof zeros, offset);
    if (result > 0) {
      rest -= (uint64_t)result;
      offset += result;
    } else if (result == 0 || errno != EINTR) {
      error = gather_fail(run, "prepare to verify", result == 0 ? EIO : errno);
    }
  }
  return close_after_reading(run, fd, error);
}

int gather_verified_op(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  if (!(plan->target->offers & GATHER_ALLOCATED) || !(plan->strategy->offers & GATHER_BYTES))
    return gather_op(run); /* there is nothing to read back, or the reader of a stream compares */
  if (plan->scope->offers & GATHER_CREATED) {
    int (*before)(struct gather_run *) = run->inspect;
    run->inspect = gather_verify;
    int error = gather_op(run);
    run->inspect = before;
    return error;
  }
  int error = scramble(run);
  if (!error)
    error = gather_op(run);
  return error ? error : gather_verify(run);
}

/* Whether the last op went past the page cache: its first page is not in it. Some file systems take O_DIRECT and ignore
 * it. -EOPNOTSUPP if it did not. */
static int check_direct(struct gather_run *run) {
  int fd = open_for_reading(run);
  if (fd < 0)
    return fd;
  int error = 0;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void *mapping = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
  unsigned char resident = 0;
  if (mapping == MAP_FAILED && errno == ENODEV) {
    error = gather_fail(run, "whether O_DIRECT is ignored cannot be told: mmap", EOPNOTSUPP);
  } else if (mapping == MAP_FAILED) {
    error = gather_fail(run, "mmap", errno);
  } else {
    if (mincore(mapping, page, (void *)&resident) < 0)
      error = gather_fail(run, "mincore", errno);
    (void)munmap(mapping, page);
  }
  if (!error && (resident & 1))
    error = gather_fail(run, "O_DIRECT is ignored by the file system", EOPNOTSUPP);
  return close_after_reading(run, fd, error);
}

/* Whether the file system can allocate blocks: where it cannot, glibc's posix_fallocate writes a byte into each. */
static int check_preallocate(struct gather_run *run) {
#if HAVE_FALLOCATE
  while (fallocate(run->fd, 0, 0, 1) < 0)
    if (errno != EINTR)
      return gather_fail(run, "fallocate", errno);
#else
  (void)run;
#endif
  return 0;
}

/* What is looked at while the file of a probe is still there. */
static int check_file(struct gather_run *run) {
  int error = run->plan->preallocate ? check_preallocate(run) : 0;
  return error || !run->plan->direct ? error : check_direct(run);
}

/* Errors that mean "not here", not "something broke". */
static bool means_unavailable(int error) {
  return error == -EOPNOTSUPP || error == -EINVAL || error == -ENOSYS || error == -ENOTSUP;
}

int gather_plan_probe(const struct gather_plan *plan, struct gather_workspace *workspace, char *reason, size_t size) {
  if (!plan->direct && !plan->preallocate && !plan->durability->call_flags)
    return 0;
  struct gather_plan small = *plan;
  small.file_bytes = gather_plan_batch_bytes(plan); /* one real batch tells as much as a whole file */
  struct gather_run run;
  int error = gather_open(&run, &small, workspace, gather_plan_threads(plan) - 1); /* at the largest offset */
  bool opened = !error;
  bool files = (plan->scope->offers & GATHER_CREATED) != 0;
  if (opened && files)
    run.inspect = check_file;
  if (opened)
    error = gather_op(&run);
  if (!error && plan->direct && !files)
    error = check_direct(&run);
  if (error)
    snprintf(reason, size, "%s: %s", run.operation, strerror(-error));
  int close_error = opened ? gather_close(&run) : 0;
  if (error)
    return means_unavailable(error) ? 1 : error;
  if (close_error)
    snprintf(reason, size, "%s: %s", run.operation, strerror(-close_error));
  return close_error;
}

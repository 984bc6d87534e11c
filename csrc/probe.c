/* probe.c: what only a real transfer can tell of a plan. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

/* Whether the last op went past the page cache: its first page is not in it. Some file systems take O_DIRECT and ignore
 * it. -EOPNOTSUPP if it did not. */
static int check_direct(struct gather_run *run) {
  int fd = gather_open_for_reading(run);
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
  return gather_close_after_reading(run, fd, error);
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

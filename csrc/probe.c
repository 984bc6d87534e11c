/* probe.c: what only a real transfer can tell of a plan. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

/* A plan without O_DIRECT is tried with a batch of at most so many bytes. */
#define PROBED_BYTES 512

#define IGNORED "O_DIRECT is ignored by the file system"

/* The first page of what the last op wrote, mapped and never touched, and what mincore(2) says of it. */
struct page {
  char *address;
  size_t bytes;
  size_t within; /* where in it the op began, in whole units of HOST_PAGE_BYTES */
};

/* The least page of a kernel that may run qemu-user, which passes on what that one says of its own pages: they may be
 * smaller than ours, and the others of ours may lie beyond the file's end, or belong to another op. */
#define HOST_PAGE_BYTES 4096

static int page_open(struct gather_run *run, struct page *page, int fd, int64_t offset) {
  const size_t bytes = (size_t)sysconf(_SC_PAGESIZE), within = (size_t)(offset % (int64_t)bytes);
  void *address = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)offset - (off_t)within);
  if (address == MAP_FAILED)
    return errno == ENODEV ? gather_fail(run, "whether O_DIRECT is ignored cannot be told: mmap", -EOPNOTSUPP)
                           : gather_fail(run, "mmap", -errno);
  *page = (struct page){address, bytes, within - within % HOST_PAGE_BYTES};
  return 0;
}

static void page_close(const struct page *page) {
  (void)munmap(page->address, page->bytes);
}

/* Whether it is in the page cache now: 0 or 1, or -errno. */
static int is_resident(const struct page *page) {
  unsigned char resident[2] = {0}; /* one for the byte that is asked for */
  int result = mincore(page->address + page->within, 1, (void *)resident);
  if (result < 0 && errno == EINVAL) /* the kernel's pages are as large as ours */
    result = mincore(page->address, 1, (void *)resident);
  return result < 0 ? -errno : resident[0] & 1;
}

/* Watches a page while it is written. */
struct watch {
  const struct page *page;
  atomic_bool ended, seen;
  atomic_uint turns; /* counted when a write begins and when it ends: odd while one is going on */
  atomic_uint looks; /* that lay within one write */
  atomic_int error;  /* 0, or the -errno of a look */
};

static void *watch_page(void *context) {
  struct watch *watch = context;
  while (!atomic_load(&watch->ended) && !atomic_load(&watch->seen)) {
    unsigned turn = atomic_load(&watch->turns);
    int resident = is_resident(watch->page);
    if (resident > 0)
      atomic_store(&watch->seen, true);
    if (resident < 0) {
      atomic_store(&watch->error, resident);
      return NULL;
    }
    if (turn % 2 == 1 && atomic_load(&watch->turns) == turn)
      atomic_fetch_add(&watch->looks, 1);
  }
  return NULL;
}

/* Writes the same batch again while another thread watches its first page: btrfs, since Linux 6.15, writes what has
 * checksums into the page cache, writes it back and drops the pages, so that none is left when the call returns.
 * Writing back takes a device's time, in which the thread sees them if it has a processor: so its looks are counted. */
static int check_meanwhile(struct gather_run *run, const struct page *page, int64_t offset) {
  enum { WRITES_MIN = 16, WRITES = 512, LOOKS = 500 };
  const uint64_t longest_ns = 300000000; /* on a slow device fewer writes will do: each takes longer */
  struct watch watch = {.page = page};
  pthread_t thread;
  int error = pthread_create(&thread, NULL, watch_page, &watch);
  if (error)
    return gather_fail(run, "watch a page", -error);
  const uint64_t begin_ns = gather_clock_ns();
  for (int i = 0; (i < WRITES || atomic_load(&watch.looks) < LOOKS) && !error && !atomic_load(&watch.seen); i++) {
    if (i >= WRITES_MIN && gather_clock_ns() - begin_ns > longest_ns)
      break;
    if (lseek(run->fd, (off_t)offset, SEEK_SET) < 0) { /* for strategies without offsets */
      error = gather_fail(run, "lseek", -errno);
      break;
    }
    atomic_fetch_add(&watch.turns, 1);
    error = run->write(run, &run->batch, offset);
    atomic_fetch_add(&watch.turns, 1);
  }
  atomic_store(&watch.ended, true);
  (void)pthread_join(thread, NULL); /* fails for no thread of ours only */
  if (!error && atomic_load(&watch.error))
    return gather_fail(run, "mincore", atomic_load(&watch.error));
  if (!error && atomic_load(&watch.seen))
    return gather_fail(run, IGNORED, -EOPNOTSUPP);
  if (!error && atomic_load(&watch.looks) < LOOKS)
    gather_go_without(run->workspace, "telling whether O_DIRECT is ignored", ETIMEDOUT);
  return error;
}

/* Whether the last op went past the page cache: some file systems take O_DIRECT and ignore it. -EOPNOTSUPP if it did
 * not. */
static int check_direct(struct gather_run *run) {
  const bool files = (run->plan->scope->provided & GATHER_WHOLE_FILE) != 0;
  const int64_t offset = files ? 0 : run->position - (int64_t)run->batch.bytes;
  int fd = gather_open_for_reading(run);
  if (fd < 0)
    return fd;
  struct page page;
  int error = page_open(run, &page, fd, offset);
  if (!error) {
    int resident = is_resident(&page);
    if (resident < 0)
      error = gather_fail(run, "mincore", resident);
    else if (resident)
      error = gather_fail(run, IGNORED, -EOPNOTSUPP);
    else
      error = check_meanwhile(run, &page, offset);
    page_close(&page);
  }
  return gather_close_after_reading(run, fd, error);
}

/* Whether the file system can allocate blocks: where it cannot, glibc's posix_fallocate writes a byte into each. */
static int check_preallocate(struct gather_run *run) {
#if HAVE_FALLOCATE
  while (fallocate(run->fd, 0, 0, 1) < 0)
    if (errno != EINTR)
      return gather_fail(run, "fallocate", -errno);
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

bool gather_is_unavailable(int error) {
  static const int errors[] = {
      EOPNOTSUPP, ENOTSUP,     EINVAL,       ENOSYS,                        /* there is no such thing */
      EPERM,      EACCES,                                                   /* it is denied */
      ENXIO,      ENODEV,      EAFNOSUPPORT, EPROTONOSUPPORT,               /* no such device or network */
      ENETDOWN,   ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL,   ECONNREFUSED, /* it is switched off */
  };
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i] == error)
      return true;
  return false;
}

/* The plan to try in place of this one. What O_DIRECT takes depends on every size, so that the batch is whole there,
 * and a file is one batch and what remains at its end; without it the calls alone matter. */
static struct gather_plan probed(const struct gather_plan *plan) {
  struct gather_plan small = *plan;
  const uint64_t batch_bytes = gather_plan_batch_bytes(plan);
  small.verify = false;
  if (plan->direct) {
    small.file_bytes = plan->file_bytes % batch_bytes + (plan->file_bytes < batch_bytes ? 0 : batch_bytes);
    return small;
  }
  small.count = small.sizes_count = 1;
  small.sizes[0] = batch_bytes < PROBED_BYTES ? (size_t)batch_bytes : PROBED_BYTES;
  small.file_bytes = plan->file_bytes < small.sizes[0] ? plan->file_bytes : small.sizes[0];
  if (plan->laid != GATHER_LAID_BY_PAGES) { /* other sizes are other pieces: a window of its own, which may be small */
    small.laid = GATHER_LAID_BY_PAGES;
    small.window_bytes = small.sizes[0];
  }
  return small;
}

/* Opens, runs and closes it; 0 or -errno with the reason in reason[size]. */
static int try_plan(const struct gather_plan *plan, struct gather_workspace *workspace, char *reason, size_t size) {
  int error = plan->strategy->try_call ? plan->strategy->try_call() : 0;
  if (gather_is_unavailable(-error)) {
    snprintf(reason, size, "%s: %s", plan->strategy->name, strerror(-error));
    return error;
  }
  struct gather_run run;
  error = gather_open(&run, plan, workspace, gather_plan_threads(plan) - 1); /* at the largest offset */
  bool opened = !error;
  bool files = (plan->scope->provided & GATHER_WHOLE_FILE) != 0;
  if (opened && files)
    run.inspect = check_file;
  if (opened)
    error = gather_prepare(&run);
  if (opened && !error)
    error = gather_op(&run);
  run.inspect = NULL;
  if (!error && plan->direct && !files)
    error = check_direct(&run);
  if (error)
    snprintf(reason, size, "%s: %s", run.failure.call, strerror(-error));
  int close_error = opened ? gather_close(&run) : 0;
  if (!error && close_error)
    snprintf(reason, size, "%s: %s", run.failure.call, strerror(-close_error));
  return error ? error : close_error;
}

/* Whether an error means that the plan cannot be run here. What is missing of a file may be somebody else's doing. */
static bool is_refusal(const struct gather_plan *plan, int error) {
  return gather_is_unavailable(error) || (error == ENOENT && !(plan->target->provided & GATHER_IS_FILE));
}

/* What was found of a plan; the name is the key. Attempts that failed are not kept: the next one may not. */
struct gather_probe {
  struct gather_probe *next;
  bool refused;
  char name[GATHER_NAME_MAX], reason[160];
};

static const struct gather_probe *find_probe(const struct gather_workspace *workspace, const char *name) {
  const struct gather_probe *probe = workspace->probes;
  while (probe && strcmp(probe->name, name) != 0)
    probe = probe->next;
  return probe;
}

int gather_plan_probe(const struct gather_plan *plan, struct gather_workspace *workspace, char *reason, size_t size) {
  const struct gather_plan small = probed(plan);
  char name[GATHER_NAME_MAX];
  int error = gather_plan_name(&small, name, sizeof name);
  if (error < 0)
    return error;
  const struct gather_probe *known = find_probe(workspace, name);
  if (known) {
    snprintf(reason, size, "%s", known->reason);
    return known->refused;
  }
  *reason = '\0';
  error = try_plan(&small, workspace, reason, size);
  if (error && !is_refusal(&small, -error))
    return error;
  struct gather_probe *probe = malloc(sizeof *probe);
  if (probe == NULL) {
    snprintf(reason, size, "malloc: %s", strerror(ENOMEM));
    return -ENOMEM;
  }
  *probe = (struct gather_probe){.next = workspace->probes, .refused = error != 0};
  memcpy(probe->name, name, sizeof name);
  snprintf(probe->reason, sizeof probe->reason, "%s", reason);
  workspace->probes = probe;
  return error != 0;
}

void gather_probes_free(struct gather_workspace *workspace) {
  for (struct gather_probe *probe = workspace->probes, *next; probe; probe = next) {
    next = probe->next;
    free(probe);
  }
  workspace->probes = NULL;
}

/* folios.c: counting the folios that a thread adds to the page cache. */
#include "folios.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>

#define EVENT "events/filemap/mm_filemap_add_to_page_cache/id"

/* The tracepoint's number, from where tracefs is mounted: its own place, or debugfs's. */
static int read_id(unsigned long long *id) {
  static const char *const paths[] = {"/sys/kernel/tracing/" EVENT, "/sys/kernel/debug/tracing/" EVENT};
  int error = -ENOENT;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    FILE *file = fopen(paths[i], "re");
    if (file == NULL) {
      error = errno == ENOENT ? error : -errno;
      continue;
    }
    const int read = fscanf(file, "%llu", id);
    (void)fclose(file); /* it was only read */
    return read == 1 ? 0 : -ENODATA;
  }
  return error;
}

int gather_folios_begin(const char **call) {
  unsigned long long id;
  *call = "tracefs";
  int error = read_id(&id);
  if (error)
    return error;
  struct perf_event_attr attributes = {
      .type = PERF_TYPE_TRACEPOINT,
      .size = sizeof attributes,
      .config = id,
  };
  *call = "perf_event_open";
  const long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  return fd < 0 ? -errno : (int)fd;
}

int gather_folios_end(int fd, uint64_t *folios) {
  const ssize_t result = read(fd, folios, sizeof *folios);
  const int error = result < 0 ? -errno : result == sizeof *folios ? 0 : -EIO;
  return close(fd) < 0 && !error ? -errno : error;
}
#else
int gather_folios_begin(const char **call) {
  *call = "folios";
  return -ENOSYS;
}

int gather_folios_end(int fd, uint64_t *folios) {
  (void)fd;
  (void)folios;
  return -ENOSYS;
}
#endif

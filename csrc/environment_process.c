/* environment_process.c: what this process runs under, and how it was built. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "environment_internal.h"
#include "folios.h"

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

/* A field of the process's own status (proc(5)). */
static int read_status(const char *key, struct gather_field *field) {
  *field = (struct gather_field){.key = key};
  return gather_scan("/proc/self/status", gather_read_field, field);
}

static int cpu_affinity(const char *dir, char *value, size_t size) {
  (void)dir;
  struct gather_field field;
  int error = read_status("Cpus_allowed_list", &field);
  return error ? error : gather_fact_text(value, size, field.value);
}

/* The tracer's name. */
static int traced(const char *dir, char *value, size_t size) {
  (void)dir;
  struct gather_field field;
  int error = read_status("TracerPid", &field);
  if (error)
    return error;
  if (strcmp(field.value, "0") == 0)
    return gather_fact_text(value, size, "no");
  char path[300];
  snprintf(path, sizeof path, "/proc/%s/comm", field.value);
  return gather_read_line(path, value, size) == 0 ? 0 : gather_fact_text(value, size, "yes");
}

/* The mode of seccomp(2), which checks each system call. */
static int seccomp(const char *dir, char *value, size_t size) {
  (void)dir;
  static const char *const modes[] = {"no", "strict", "filter"};
  struct gather_field field;
  int error = read_status("Seccomp", &field);
  int mode = atoi(field.value);
  if (error)
    return error;
  return mode < 0 || mode > 2 ? -ENOSYS : gather_fact_text(value, size, modes[mode]);
}

/* Preloaded libraries, which may replace the C library's calls. */
static int preload(const char *dir, char *value, size_t size) {
  (void)dir;
#ifdef __APPLE__
  const char *listed = getenv("DYLD_INSERT_LIBRARIES");
  char of_all[2] = "";
#else
  const char *listed = getenv("LD_PRELOAD");
  char of_all[1024] = ""; /* the system's list, which may be missing */
  int error = gather_read_line("/etc/ld.so.preload", of_all, sizeof of_all);
  if (error && error != -ENOENT && error != -ENODATA)
    return error;
#endif
  const char *own = listed ? listed : "";
  if (*own == '\0' && *of_all == '\0')
    return gather_fact_text(value, size, "no");
  return snprintf(value, size, "%s%s%s", own, *own && *of_all ? " " : "", of_all) < 0 ? -EINVAL : 0;
}

static int libc(const char *dir, char *value, size_t size) {
  (void)dir;
#ifdef __GLIBC__
  return snprintf(value, size, "glibc %s", gnu_get_libc_version()) < 0 ? -EINVAL : 0;
#else
  (void)value;
  (void)size;
  return -ENOSYS;
#endif
}

/* The compiler of the C files, in which everything timed is. */
static int compiler(const char *dir, char *value, size_t size) {
  (void)dir;
#ifdef __clang__
  return gather_fact_text(value, size, "clang " __clang_version__);
#elif defined __GNUC__
  return gather_fact_text(value, size, "gcc " __VERSION__);
#else
  return -ENOSYS;
#endif
}

static int compiler_flags(const char *dir, char *value, size_t size) {
  (void)dir;
  return gather_fact_text(value, size, GATHERBENCH_COMPILER_FLAGS);
}

/* Capacity of a new pipe: a user who has many gets small ones (pipe(7)). */
static int pipe_capacity_bytes(const char *dir, char *value, size_t size) {
  (void)dir;
#ifdef F_GETPIPE_SZ
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
    return -errno;
  int bytes = fcntl(ends[0], F_GETPIPE_SZ);
  int error = bytes < 0 ? -errno : 0;
  (void)close(ends[0]); /* nothing was written */
  (void)close(ends[1]);
  return error ? error : snprintf(value, size, "%d", bytes) < 0 ? -EINVAL : 0;
#else
  (void)value;
  (void)size;
  return -ENOSYS;
#endif
}

/* Send buffer of a new Unix socket (net.core.wmem_default). */
static int socket_capacity_bytes(const char *dir, char *value, size_t size) {
  (void)dir;
  int ends[2], bytes;
  socklen_t length = sizeof bytes;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
    return -errno;
  int error = getsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &bytes, &length) < 0 ? -errno : 0;
  (void)close(ends[0]); /* nothing was written */
  (void)close(ends[1]);
  return error ? error : snprintf(value, size, "%d", bytes) < 0 ? -EINVAL : 0;
}

/* Whether folios can be counted here, or why not. */
static int folios(const char *dir, char *value, size_t size) {
  (void)dir;
  const char *call;
  uint64_t none;
  int fd = gather_folios_begin(&call);
  if (fd >= 0)
    fd = gather_folios_end(fd, &none);
  if (fd >= 0)
    return gather_fact_text(value, size, "counted");
  return snprintf(value, size, "not counted: %s: %s", call, strerror(-fd)) < 0 ? -EINVAL : 0;
}

const struct gather_environment_item gather_process_facts[] = {
    {"cpu_affinity", cpu_affinity},
    {"traced", traced},
    {"seccomp", seccomp},
    {"preload", preload},
    {"pipe_capacity_bytes", pipe_capacity_bytes},
    {"socket_capacity_bytes", socket_capacity_bytes},
    {"folios", folios},
    {"libc", libc},
    {"compiler", compiler},
    {"compiler_flags", compiler_flags},
    {NULL, NULL},
};

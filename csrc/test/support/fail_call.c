/* fail_call.c: the wrapped calls. All but the one that is to fail behave like the real ones. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "fail_call.h"

static const char *failing_name;
static int failing_error;
static atomic_size_t calls_left; /* until the one that fails; 0 after it */

void fail_call(const char *name, size_t number, int error) {
  failing_name = name;
  failing_error = error;
  atomic_store(&calls_left, number);
}

bool call_failed(void) {
  failing_name = NULL;
  return atomic_load(&calls_left) == 0;
}

static bool fails(const char *name) {
  if (failing_name == NULL || strcmp(name, failing_name) != 0 || atomic_load(&calls_left) == 0)
    return false;
  return atomic_fetch_sub(&calls_left, 1) == 1;
}

/* A call, what it does first where it fails, and what it then returns. */
#define WRAP_AFTER(type, name, parameters, arguments, first, failure)                                                  \
  type __real_##name parameters;                                                                                       \
  type __wrap_##name parameters;                                                                                       \
  type __wrap_##name parameters {                                                                                      \
    if (!fails(#name))                                                                                                 \
      return __real_##name arguments;                                                                                  \
    first;                                                                                                             \
    errno = failing_error;                                                                                             \
    return failure;                                                                                                    \
  }
#define WRAP(type, name, parameters, arguments, failure) WRAP_AFTER(type, name, parameters, arguments, (void)0, failure)

WRAP(void *, malloc, (size_t bytes), (bytes), NULL)
WRAP(void *, calloc, (size_t count, size_t bytes), (count, bytes), NULL)
WRAP(void *, realloc, (void *memory, size_t bytes), (memory, bytes), NULL)
WRAP(int, posix_memalign, (void **memory, size_t alignment, size_t bytes), (memory, alignment, bytes), failing_error)
WRAP(void *, mmap64, (void *address, size_t bytes, int protection, int flags, int fd, off_t offset),
     (address, bytes, protection, flags, fd, offset), MAP_FAILED)
WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1)
WRAP(int, ftruncate64, (int fd, off_t bytes), (fd, bytes), -1)
WRAP(int, renameat, (int from_fd, const char *from, int to_fd, const char *to), (from_fd, from, to_fd, to), -1)
WRAP(int, mincore, (void *address, size_t bytes, unsigned char *pages), (address, bytes, pages), -1)

/* The mode is there for files that are created only. O_TMPFILE has the bit of O_DIRECTORY in it. */
static mode_t mode_of(int flags, va_list rest) {
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  if (!fails("open64"))
    return __real_open64(path, flags, mode);
  errno = failing_error;
  return -1;
}

int __real_openat64(int dir_fd, const char *path, int flags, ...);
int __wrap_openat64(int dir_fd, const char *path, int flags, ...);
int __wrap_openat64(int dir_fd, const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  if (!fails("openat64"))
    return __real_openat64(dir_fd, path, flags, mode);
  errno = failing_error;
  return -1;
}

/* A descriptor is gone even if its closing fails. */
WRAP_AFTER(int, close, (int fd), (fd), (void)__real_close(fd), -1)
WRAP_AFTER(int, closedir, (DIR * entries), (entries), (void)__real_closedir(entries), -1)
WRAP(DIR *, fdopendir, (int fd), (fd), NULL)
WRAP(int, mkdirat, (int dir_fd, const char *path, mode_t mode), (dir_fd, path, mode), -1)
WRAP(int, unlinkat, (int dir_fd, const char *path, int flags), (dir_fd, path, flags), -1)
WRAP(int, faccessat, (int dir_fd, const char *path, int mode, int flags), (dir_fd, path, mode, flags), -1)
WRAP(int, statvfs64, (const char *path, struct statvfs *status), (path, status), -1)
WRAP(int, flock, (int fd, int operation), (fd, operation), -1)
WRAP(int, getentropy, (void *memory, size_t bytes), (memory, bytes), -1)
WRAP(int, fsync, (int fd), (fd), -1)
WRAP(int, fdatasync, (int fd), (fd), -1)
WRAP(int, fallocate64, (int fd, int mode, off_t offset, off_t bytes), (fd, mode, offset, bytes), -1)
WRAP(int, posix_fallocate64, (int fd, off_t offset, off_t bytes), (fd, offset, bytes), failing_error)
WRAP(off_t, lseek64, (int fd, off_t offset, int from), (fd, offset, from), -1)
WRAP(ssize_t, pread64, (int fd, void *memory, size_t bytes, off_t offset), (fd, memory, bytes, offset), -1)
WRAP(ssize_t, pwrite64, (int fd, const void *memory, size_t bytes, off_t offset), (fd, memory, bytes, offset), -1)
WRAP(ssize_t, read, (int fd, void *memory, size_t bytes), (fd, memory, bytes), -1)
WRAP(int, pipe2, (int ends[2], int flags), (ends, flags), -1)
WRAP(int, socketpair, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends), -1)
WRAP(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1)
WRAP(int, bind, (int fd, const struct sockaddr *address, socklen_t length), (fd, address, length), -1)
WRAP(int, listen, (int fd, int backlog), (fd, backlog), -1)
WRAP(int, connect, (int fd, const struct sockaddr *address, socklen_t length), (fd, address, length), -1)
WRAP(int, getsockname, (int fd, struct sockaddr *address, socklen_t *length), (fd, address, length), -1)
WRAP(int, setsockopt, (int fd, int level, int option, const void *value, socklen_t length),
     (fd, level, option, value, length), -1)
WRAP(int, accept4, (int fd, struct sockaddr *address, socklen_t *length, int flags), (fd, address, length, flags), -1)
WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *context), void *context),
     (thread, attributes, start, context), failing_error)
WRAP(int, sched_setaffinity, (pid_t thread, size_t bytes, const cpu_set_t *set), (thread, bytes, set), -1)
WRAP(FILE *, fopencookie, (void *cookie, const char *mode, cookie_io_functions_t functions), (cookie, mode, functions),
     NULL)
WRAP(int, setvbuf, (FILE * stream, char *memory, int mode, size_t bytes), (stream, memory, mode, bytes), -1)

const char *const failing_calls[] = {FAILING_CALLS, NULL}; /* the names as meson.build gives them to the linker */

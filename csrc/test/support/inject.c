/* inject.c: the wrapped write calls. Without steps they behave like the real ones. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "inject.h"

static const struct inject_step *script;
static size_t script_count, calls;

void inject(const struct inject_step *steps, size_t count) {
  script = steps;
  script_count = count;
  calls = 0;
}

/* The step for the next call. */
static struct inject_step next_step(void) {
  struct inject_step step = {0};
  if (calls < script_count)
    step = script[calls];
  calls++;
  return step;
}

/* Whether a call is to return at once; *result is then what it returns. */
static int ends_call(const struct inject_step *step, ssize_t *result) {
  if (step->error)
    errno = step->error;
  *result = step->error ? -1 : 0;
  return step->error || step->nothing;
}

static size_t shortened(size_t bytes, const struct inject_step *step) {
  return step->short_bytes && step->short_bytes < bytes ? step->short_bytes : bytes;
}

/* iov[*count] cut to the step's bytes, in memory that the caller frees. */
static struct iovec *shortened_vector(const struct iovec *iov, int *count, const struct inject_step *step) {
  struct iovec *copy = malloc(((size_t)*count + 1) * sizeof *copy);
  if (copy == NULL)
    abort();
  size_t rest = step->short_bytes ? step->short_bytes : SIZE_MAX;
  int kept = 0;
  for (; kept < *count && rest > 0; kept++) {
    copy[kept] = iov[kept];
    if (copy[kept].iov_len > rest)
      copy[kept].iov_len = rest;
    rest -= copy[kept].iov_len;
  }
  *count = kept;
  return copy;
}

ssize_t __real_write(int fd, const void *memory, size_t bytes);
ssize_t __wrap_write(int fd, const void *memory, size_t bytes);
ssize_t __wrap_write(int fd, const void *memory, size_t bytes) {
  const struct inject_step step = next_step();
  ssize_t result;
  return ends_call(&step, &result) ? result : __real_write(fd, memory, shortened(bytes, &step));
}

ssize_t __real_pwrite64(int fd, const void *memory, size_t bytes, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *memory, size_t bytes, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *memory, size_t bytes, off_t offset) {
  const struct inject_step step = next_step();
  ssize_t result;
  return ends_call(&step, &result) ? result : __real_pwrite64(fd, memory, shortened(bytes, &step), offset);
}

ssize_t __real_writev(int fd, const struct iovec *iov, int count);
ssize_t __wrap_writev(int fd, const struct iovec *iov, int count);
ssize_t __wrap_writev(int fd, const struct iovec *iov, int count) {
  const struct inject_step step = next_step();
  ssize_t result;
  if (ends_call(&step, &result))
    return result;
  struct iovec *copy = shortened_vector(iov, &count, &step);
  result = __real_writev(fd, copy, count);
  free(copy);
  return result;
}

ssize_t __real_pwritev64(int fd, const struct iovec *iov, int count, off_t offset);
ssize_t __wrap_pwritev64(int fd, const struct iovec *iov, int count, off_t offset);
ssize_t __wrap_pwritev64(int fd, const struct iovec *iov, int count, off_t offset) {
  const struct inject_step step = next_step();
  ssize_t result;
  if (ends_call(&step, &result))
    return result;
  struct iovec *copy = shortened_vector(iov, &count, &step);
  result = __real_pwritev64(fd, copy, count, offset);
  free(copy);
  return result;
}

ssize_t __real_pwritev64v2(int fd, const struct iovec *iov, int count, off_t offset, int flags);
ssize_t __wrap_pwritev64v2(int fd, const struct iovec *iov, int count, off_t offset, int flags);
ssize_t __wrap_pwritev64v2(int fd, const struct iovec *iov, int count, off_t offset, int flags) {
  const struct inject_step step = next_step();
  ssize_t result;
  if (ends_call(&step, &result))
    return result;
  struct iovec *copy = shortened_vector(iov, &count, &step);
  result = __real_pwritev64v2(fd, copy, count, offset, flags);
  free(copy);
  return result;
}

/* strategy.c: how a batch is written. A new strategy is its functions, the row below them, and an entry in the table.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

#if HAVE_FOPENCOOKIE
#include <stdio_ext.h>
#endif
#ifdef __APPLE__
#include <dlfcn.h>
#endif
#ifdef __linux__
#include <sys/syscall.h>
#endif

/* One system call: iov[count], at `offset` where the call is positioned. Returns what write(2) returns, and sets errno.
 */
typedef ssize_t call_function(struct gather_run *run, const struct iovec *iov, int count, int64_t offset);

/* The call's name, for messages. */
static const char *call_name(const struct gather_run *run) {
  const struct gather_strategy *strategy = run->plan->strategy;
  return run->positioned && strategy->positioned_call ? strategy->positioned_call : strategy->call;
}

/* What write(2) returned as bytes or -errno. Not inlined: what a call that failed needs costs the others nothing. */
__attribute__((noinline, cold)) static ssize_t bytes_or_error(ssize_t result) {
  return result < 0 ? -errno : result;
}

/* Finishes one call of a batch that did not write all its bytes: resumes by bytes after a short write, repeats after
 * EINTR, waits on EAGAIN. `result` is the bytes that it wrote, or -errno. */
__attribute__((noinline, cold)) static int finish_call(struct gather_run *run, const struct gather_call *call,
                                                       int64_t offset, ssize_t result, call_function *function) {
  size_t done = 0; /* bytes of this call that are written */
  for (;;) {
    if (result > 0) {
      done += (size_t)result;
    }
    if (result >= 0 && done == call->bytes) {
      return 0;
    } else if (result > 0) {
      run->stats.short_writes++;
    } else if (result == 0) {
      /* Nothing was written, and nothing says why: another try would never end. */
      return gather_fail(run, call_name(run), -EIO);
    } else if (result == -EAGAIN) {
      struct pollfd ready = {.fd = run->fd, .events = POLLOUT};
      if (poll(&ready, 1, -1) < 0 && errno != EINTR)
        return gather_fail(run, "poll", -errno);
    } else if (result != -EINTR) {
      return gather_fail(run, call_name(run), (int)result);
    }

    struct iovec *first = call->iov;
    size_t skip = done;
    while (first < call->iov + call->count - 1 && skip >= first->iov_len)
      skip -= first++->iov_len;
    struct iovec whole = *first;
    *first = (struct iovec){(char *)whole.iov_base + skip, whole.iov_len - skip};
    run->stats.calls++;
    result = bytes_or_error(function(run, first, call->count - (int)(first - call->iov), offset + (int64_t)done));
    *first = whole;
  }
}

/* Makes all calls of a batch. Inlined into each strategy, so that `function` costs no indirect call. */
__attribute__((always_inline)) static inline int write_calls(struct gather_run *run, const struct gather_batch *batch,
                                                             int64_t offset, call_function *function) {
  const struct gather_call *end = batch->calls + batch->calls_count;
  for (const struct gather_call *call = batch->calls; call < end; call++) {
    ssize_t result = function(run, call->iov, call->count, offset);
    run->stats.calls++;
    if (GATHER_UNLIKELY(result != (ssize_t)call->bytes)) {
      int error = finish_call(run, call, offset, bytes_or_error(result), function);
      if (error)
        return error;
    }
    offset += (int64_t)call->bytes;
  }
  return 0;
}

static inline ssize_t call_write(struct gather_run *run, const struct iovec *iov, int count, int64_t offset) {
  (void)count;
  (void)offset;
  return write(run->fd, iov->iov_base, iov->iov_len);
}

static int write_each(struct gather_run *run, const struct gather_batch *batch, int64_t offset) {
  return write_calls(run, batch, offset, call_write);
}

static const struct gather_strategy strategy_write = {
    .name = "write",
    .doc = "a call for each buffer",
    .call = "write",
    .provided = GATHER_WRITES | GATHER_COUNTED | GATHER_ALIGNED,
    .shape = GATHER_PER_BUFFER,
    .write = write_each,
};

static inline ssize_t call_writev(struct gather_run *run, const struct iovec *iov, int count, int64_t offset) {
  (void)offset;
  return writev(run->fd, iov, count);
}

static int write_vector(struct gather_run *run, const struct gather_batch *batch, int64_t offset) {
  return write_calls(run, batch, offset, call_writev);
}

static const struct gather_strategy strategy_writev = {
    .name = "writev",
    .doc = "one call for all buffers",
    .call = "writev",
    .provided = GATHER_WRITES | GATHER_COUNTED | GATHER_ALIGNED,
    .shape = GATHER_VECTORED,
    .write = write_vector,
};

static inline ssize_t call_pwrite(struct gather_run *run, const struct iovec *iov, int count, int64_t offset) {
  (void)count;
  return pwrite(run->fd, iov->iov_base, iov->iov_len, offset);
}

static int pwrite_each(struct gather_run *run, const struct gather_batch *batch, int64_t offset) {
  return write_calls(run, batch, offset, call_pwrite);
}

static const struct gather_strategy strategy_pwrite = {
    .name = "pwrite",
    .doc = "a call for each buffer",
    .call = "pwrite",
    .required = GATHER_OFFSETS,
    .provided = GATHER_WRITES | GATHER_COUNTED | GATHER_ALIGNED,
    .shape = GATHER_PER_BUFFER,
    .write = pwrite_each,
};

#if HAVE_PWRITEV
#ifdef __APPLE__
/* Weak link: macOS 10.15 and earlier have no pwritev, which came with macOS 11. Checked once, not before every call. */
#pragma clang diagnostic ignored "-Wunguarded-availability-new"
ssize_t pwritev(int fd, const struct iovec *iov, int count, off_t offset) __attribute__((weak_import));

static const char *pwritev_unavailable(void) {
  return dlsym(RTLD_DEFAULT, "pwritev") ? NULL : "pwritev came with macOS 11";
}
#else
#define pwritev_unavailable NULL
#endif

static inline ssize_t call_pwritev(struct gather_run *run, const struct iovec *iov, int count, int64_t offset) {
  return pwritev(run->fd, iov, count, offset);
}

static int pwrite_vector(struct gather_run *run, const struct gather_batch *batch, int64_t offset) {
  return write_calls(run, batch, offset, call_pwritev);
}
#else
#define pwrite_vector NULL
static const char *pwritev_unavailable(void) {
  return "this system has no pwritev";
}
#endif

static const struct gather_strategy strategy_pwritev = {
    .name = "pwritev",
    .doc = "one call for all buffers",
    .call = "pwritev",
    .required = GATHER_OFFSETS,
    .provided = GATHER_WRITES | GATHER_COUNTED | GATHER_ALIGNED,
    .shape = GATHER_VECTORED,
    .write = pwrite_vector,
    .unavailable_reason = pwritev_unavailable,
};

#if HAVE_PWRITEV2
static inline ssize_t call_pwritev2(struct gather_run *run, const struct iovec *iov, int count, int64_t offset) {
  return pwritev2(run->fd, iov, count, offset, run->call_flags);
}

static int pwrite2_vector(struct gather_run *run, const struct gather_batch *batch, int64_t offset) {
  return write_calls(run, batch, offset, call_pwritev2);
}
#define pwritev2_unavailable NULL

/* glibc calls pwritev where the kernel has no pwritev2, or a filter denies it, and no flags are given. */
static int try_pwritev2(void) {
#ifdef SYS_pwritev2
  /* Without a descriptor a call that exists says EBADF. */
  return syscall(SYS_pwritev2, -1, NULL, 0L, 0L, 0L, 0) < 0 && errno != EBADF ? -errno : 0;
#else
  return 0;
#endif
}
#else
#define pwrite2_vector NULL
#define try_pwritev2   NULL
static const char *pwritev2_unavailable(void) {
  return "this system has no pwritev2";
}
#endif

static const struct gather_strategy strategy_pwritev2 = {
    .name = "pwritev2",
    .doc = "one call for all buffers, with the flags that the durability asks for",
    .call = "pwritev2",
    .required = GATHER_OFFSETS,
    .provided = GATHER_WRITES | GATHER_COUNTED | GATHER_ALIGNED | GATHER_CALL_FLAGS,
    .shape = GATHER_VECTORED,
    .write = pwrite2_vector,
    .unavailable_reason = pwritev2_unavailable,
    .try_call = try_pwritev2,
};

static int write_contiguous(struct gather_run *run, const struct gather_batch *batch, int64_t offset) {
  return run->positioned ? write_calls(run, batch, offset, call_pwrite) : write_calls(run, batch, offset, call_write);
}

static int write_coalesced(struct gather_run *run, const struct gather_batch *batch, int64_t offset) {
  char *end = batch->staging;
  for (size_t i = 0; i < batch->buffers_count; i++) {
    const struct iovec *buffer = &batch->buffers[i];
    memcpy(end, buffer->iov_base, buffer->iov_len);
    end += buffer->iov_len;
  }
  return write_contiguous(run, batch, offset);
}

static const struct gather_strategy strategy_coalesce = {
    .name = "coalesce",
    .doc = "all buffers copied into one, and one call for it",
    .call = "write",
    .positioned_call = "pwrite",
    .provided = GATHER_WRITES | GATHER_COUNTED | GATHER_ALIGNED,
    .shape = GATHER_CONTIGUOUS,
    .write = write_coalesced,
};

static const struct gather_strategy strategy_contiguous = {
    .name = "contiguous",
    .doc = "one call for bytes that already lie together: the best that a gather could do",
    .call = "write",
    .positioned_call = "pwrite",
    .provided = GATHER_WRITES | GATHER_COUNTED | GATHER_ALIGNED,
    .shape = GATHER_CONTIGUOUS,
    .write = write_contiguous,
};

/* Stands in for pwritev where a system has none: like pwritev it may write less than all, and returns how much. The
 * loop is the one that .NET 6's SystemNative_PWriteV falls back to
 * (dotnet/runtime, pal_io.c). */
static inline ssize_t call_fallback(struct gather_run *run, const struct iovec *iov, int count, int64_t offset) {
  ssize_t total = 0;
  for (int i = 0; i < count; i++) {
    ssize_t result = pwrite(run->fd, iov[i].iov_base, iov[i].iov_len, offset + total);
    run->stats.calls += i > 0; /* write_calls counts the first */
    if (result < 0)
      return total > 0 ? total : result;
    total += result;
    if ((size_t)result < iov[i].iov_len)
      break;
  }
  return total;
}

static int write_fallback(struct gather_run *run, const struct gather_batch *batch, int64_t offset) {
  return write_calls(run, batch, offset, call_fallback);
}

static const struct gather_strategy strategy_fallback = {
    .name = "fallback",
    .doc = "the loop that stands in for pwritev where a system has none",
    .call = "pwrite",
    .required = GATHER_OFFSETS,
    .provided = GATHER_WRITES | GATHER_COUNTED | GATHER_ALIGNED,
    .shape = GATHER_VECTORED,
    .batch_calls = GATHER_CALLS_PER_BUFFER,
    .write = write_fallback,
};

/* stdio writes through a stream whose write function is ours, so that its calls are counted, resumed and repeated like
 * all others. Its buffer is as large as that of a FILE on most file systems (st_blksize). */
#if HAVE_FOPENCOOKIE
#define STDIO_BUFFER_BYTES 4096

static ssize_t stdio_flush(void *cookie, const char *memory, size_t bytes) {
  struct gather_run *run = cookie;
  struct iovec iov = {(void *)(uintptr_t)memory, bytes};
  struct gather_call call = {.iov = &iov, .count = 1, .bytes = bytes};
  const struct gather_batch batch = {.calls = &call, .calls_count = 1, .bytes = bytes};
  int error = write_calls(run, &batch, 0, call_write);
  errno = -error;
  return error ? 0 : (ssize_t)bytes; /* fopencookie(3): 0 is how a write function fails */
}

static int stdio_open(struct gather_run *run) {
  FILE *stream = fopencookie(run, "w", (cookie_io_functions_t){.write = stdio_flush});
  if (stream == NULL)
    return gather_fail(run, "fopencookie", -errno);
  if (setvbuf(stream, NULL, _IOFBF, STDIO_BUFFER_BYTES) != 0) {
    (void)fclose(stream);
    return gather_fail(run, "setvbuf", -ENOMEM);
  }
  run->state = stream;
  return 0;
}

static void stdio_close(struct gather_run *run) {
  __fpurge(run->state); /* a batch that failed is not to be written now */
  (void)fclose(run->state);
  run->state = NULL;
}

static int write_stdio(struct gather_run *run, const struct gather_batch *batch, int64_t offset) {
  (void)offset;
  bool failed = false;
  for (size_t i = 0; i < batch->buffers_count && !failed; i++) {
    const struct iovec *buffer = &batch->buffers[i];
    failed = fwrite(buffer->iov_base, 1, buffer->iov_len, run->state) != buffer->iov_len;
  }
  if (!failed && fflush(run->state) == 0)
    return 0;
  return run->failure.error ? run->failure.error : gather_fail(run, "fwrite", -EIO); /* stdio_flush has noted it */
}
#else
static const char *stdio_unavailable(void) {
  return "this system has no fopencookie, by which the calls of stdio are counted";
}
#endif

static const struct gather_strategy strategy_stdio = {
    .name = "stdio",
    .doc = "fwrite of each buffer into stdio's 4 KiB buffer, then fflush",
    .call = "write",
    .provided = GATHER_WRITES | GATHER_COUNTED,
    .shape = GATHER_PER_BUFFER,
    .batch_calls = GATHER_CALLS_OF_LIBRARY,
#if HAVE_FOPENCOOKIE
    .open = stdio_open,
    .close = stdio_close,
    .write = write_stdio,
#else
    .unavailable_reason = stdio_unavailable,
#endif
};

static int write_nothing(struct gather_run *run, const struct gather_batch *batch, int64_t offset) {
  (void)run;
  (void)batch;
  (void)offset;
  return 0;
}

static const struct gather_strategy strategy_none = {
    .name = "none",
    .doc = "no call at all: what the harness itself costs",
    .provided = GATHER_COUNTED,
    .shape = GATHER_VECTORED,
    .write = write_nothing,
};

const struct gather_strategy *const gather_strategies[] = {
    &strategy_write,
    &strategy_writev,
    &strategy_pwrite,
    &strategy_pwritev,
    &strategy_pwritev2,
    &strategy_coalesce,
    &strategy_contiguous,
    &strategy_fallback,
    &strategy_stdio,
    &strategy_none,
    NULL,
};

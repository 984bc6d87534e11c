/* batch.c: a plan's buffers, and the calls that a strategy makes of them. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

/* Buffers start on cache lines, and so never share one; those for O_DIRECT on pages. */
#define BUFFER_ALIGNMENT 64
#define DIRECT_ALIGNMENT 4096

/* A target that keeps nothing may be written from memory that maps the same pages again and again: totals past 2 GiB
 * need not be there. Up to this size all bytes are. */
#define REPEATED_BYTES ((size_t)64 << 20)

size_t gather_call_bytes_max(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (size_t)INT_MAX / page * page;
}

size_t gather_iov_max(void) {
  long entries = sysconf(_SC_IOV_MAX);
  return entries > 0 ? (size_t)entries : 16; /* POSIX promises 16 (_XOPEN_IOV_MAX) */
}

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
void gather_fill(char *memory, size_t bytes, uint64_t seed) {
  uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15);
  for (size_t done = 0; done < bytes; done += sizeof state) {
    uint64_t word = state += UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    word ^= word >> 31;
    memcpy(memory + done, &word, bytes - done < sizeof word ? bytes - done : sizeof word);
  }
}

static size_t padded(size_t bytes, size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

#if HAVE_MEMFD_CREATE
/* Maps the same REPEATED_BYTES again and again over `bytes` of addresses. */
static int map_repeated(void **memory, size_t bytes) {
  int fd = memfd_create("gatherbench", MFD_CLOEXEC);
  if (fd < 0)
    return -errno;
  int error = 0;
  char *begin = MAP_FAILED;
  if (ftruncate(fd, (off_t)REPEATED_BYTES) < 0 ||
      (begin = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) == MAP_FAILED)
    error = -errno;
  for (size_t done = 0; done < bytes && !error; done += REPEATED_BYTES) {
    size_t part = bytes - done < REPEATED_BYTES ? bytes - done : REPEATED_BYTES;
    if (mmap(begin + done, part, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
      error = -errno;
  }
  if (error && begin != MAP_FAILED)
    (void)munmap(begin, bytes);
  (void)close(fd); /* nothing was written through it; the mapping keeps the memory */
  *memory = begin;
  return error;
}

#else
/* Memory that is only there where it is touched; only its first REPEATED_BYTES are. */
static int map_repeated(void **memory, size_t bytes) {
  *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
  return *memory == MAP_FAILED ? -errno : 0;
}
#endif

/* Whether a run's memory maps the same pages again. */
static bool is_repeated(const struct gather_run *run, size_t bytes) {
  return bytes > 4 * REPEATED_BYTES && !(run->plan->target->provided & GATHER_IS_FILE) && !run->plan->verify;
}

/* Aligned memory for a run's buffers; -ENOMEM and the like. */
static int allocate(const struct gather_run *run, void **memory, size_t bytes) {
  if (is_repeated(run, bytes))
    return map_repeated(memory, bytes);
  return -posix_memalign(memory, run->plan->direct ? DIRECT_ALIGNMENT : BUFFER_ALIGNMENT, bytes);
}

static void release(const struct gather_run *run, void *memory, size_t bytes) {
  if (memory && is_repeated(run, bytes))
    (void)munmap(memory, bytes);
  else
    free(memory);
}

/* The pieces of at most gather_call_bytes_max() bytes that a buffer is cut into; an empty buffer is a piece
 * too. */
static size_t pieces_of(size_t bytes) {
  return bytes == 0 ? 1 : (bytes - 1) / gather_call_bytes_max() + 1;
}

/* Appends a buffer's pieces to batch->pieces. */
static void add_pieces(struct gather_batch *batch, size_t *pieces, const struct iovec *buffer) {
  const size_t most = gather_call_bytes_max();
  size_t done = 0;
  do {
    size_t rest = buffer->iov_len - done;
    size_t bytes = rest < most ? rest : most;
    batch->pieces[(*pieces)++] = (struct iovec){(char *)buffer->iov_base + done, bytes};
    done += bytes;
  } while (done < buffer->iov_len);
}

/* Groups the pieces into calls, none with more entries or bytes than the system takes. */
static void add_calls(struct gather_batch *batch, size_t pieces, size_t entries_max) {
  struct gather_call *call = NULL;
  for (size_t i = 0; i < pieces; i++) {
    struct iovec *piece = &batch->pieces[i];
    if (call == NULL || (size_t)call->count == entries_max || call->bytes + piece->iov_len > gather_call_bytes_max()) {
      call = &batch->calls[batch->calls_count++];
      *call = (struct gather_call){.iov = piece};
    }
    call->count++;
    call->bytes += piece->iov_len;
  }
}

/* The bytes of a batch's staging memory; one more than needed, so that it is never nothing. */
static size_t staging_bytes(const struct gather_batch *batch) {
  return (size_t)batch->bytes + 1;
}

static void batch_close(const struct gather_run *run, struct gather_batch *batch) {
  free(batch->buffers);
  release(run, batch->staging, staging_bytes(batch));
  free(batch->pieces);
  free(batch->calls);
  *batch = (struct gather_batch){0};
}

/* The first `count` buffers, `bytes` in all; the last one is cut to fit. Returns the pieces that they make. */
static size_t take_buffers(struct gather_batch *batch, const struct iovec *buffers, size_t count, uint64_t bytes) {
  size_t pieces = 0;
  for (size_t i = 0; i < count; i++) {
    struct iovec buffer = buffers[i];
    if (buffer.iov_len > bytes)
      buffer.iov_len = (size_t)bytes;
    bytes -= buffer.iov_len;
    batch->buffers[i] = buffer;
    pieces += pieces_of(buffer.iov_len);
  }
  return pieces;
}

/* Copies all buffers into the staging memory, from which a contiguous strategy writes. */
static void fill_staging(const struct gather_batch *batch) {
  char *end = batch->staging;
  for (size_t i = 0; i < batch->buffers_count; i++) {
    memcpy(end, batch->buffers[i].iov_base, batch->buffers[i].iov_len);
    end += batch->buffers[i].iov_len;
  }
}

/* Makes a batch of the first buffers[count], `bytes` in all, with its calls. After an error it is still to be closed.
 */
static int batch_open(const struct gather_run *run, struct gather_batch *batch, const struct iovec *buffers,
                      size_t count, uint64_t bytes) {
  const enum gather_call_shape shape = run->plan->strategy->shape;
  batch->bytes = bytes;
  batch->buffers_count = count;
  batch->buffers = malloc(count * sizeof *batch->buffers);
  if (batch->buffers == NULL)
    return -ENOMEM;
  size_t pieces_max = take_buffers(batch, buffers, count, bytes);

  if (shape == GATHER_CONTIGUOUS) {
    pieces_max = pieces_of((size_t)bytes);
    void *staging = NULL;
    int error = allocate(run, &staging, staging_bytes(batch));
    if (error)
      return error;
    batch->staging = staging;
    fill_staging(batch);
  }

  batch->pieces = malloc(pieces_max * sizeof *batch->pieces);
  batch->calls = malloc(pieces_max * sizeof *batch->calls);
  if (batch->pieces == NULL || batch->calls == NULL)
    return -ENOMEM;
  size_t pieces = 0;
  if (shape == GATHER_CONTIGUOUS)
    add_pieces(batch, &pieces, &(struct iovec){batch->staging, (size_t)bytes});
  else
    for (size_t i = 0; i < count; i++)
      add_pieces(batch, &pieces, &batch->buffers[i]);
  add_calls(batch, pieces, shape == GATHER_VECTORED ? gather_iov_max() : 1);
  return 0;
}

/* What is left of a file when whole batches no longer fit. */
static int remainder_open(struct gather_run *run, const struct iovec *buffers) {
  run->batches = run->plan->file_bytes / run->batch.bytes;
  uint64_t rest = run->plan->file_bytes % run->batch.bytes;
  size_t count = 0;
  for (uint64_t bytes = 0; bytes < rest; count++)
    bytes += buffers[count].iov_len;
  return rest > 0 ? batch_open(run, &run->remainder, buffers, count, rest) : 0;
}

int gather_batches_open(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  const size_t alignment = plan->direct ? DIRECT_ALIGNMENT : BUFFER_ALIGNMENT;
  const size_t distinct = plan->reuse_buffer && plan->sizes_count < plan->count ? plan->sizes_count : plan->count;
  struct iovec *buffers = malloc(plan->count * sizeof *buffers);
  if (buffers == NULL)
    return gather_fail(run, "malloc", -ENOMEM);

  run->memory_bytes = alignment;
  for (size_t i = 0; i < distinct; i++)
    run->memory_bytes += padded(gather_plan_buffer_bytes(plan, i), alignment);
  void *memory = NULL;
  int error = allocate(run, &memory, run->memory_bytes);
  if (error)
    goto out;
  run->memory = memory;
  gather_fill(run->memory, is_repeated(run, run->memory_bytes) ? REPEATED_BYTES : run->memory_bytes, 1);

  char *next = run->memory;
  for (size_t i = 0; i < plan->count; i++) {
    size_t bytes = gather_plan_buffer_bytes(plan, i);
    buffers[i] = i < distinct ? (struct iovec){next, bytes} : buffers[i % distinct];
    if (i < distinct)
      next += padded(bytes, alignment);
  }
  error = batch_open(run, &run->batch, buffers, plan->count, gather_plan_batch_bytes(plan));
  if (!error && (plan->scope->provided & GATHER_WHOLE_FILE))
    error = remainder_open(run, buffers);

out:
  free(buffers);
  if (error) {
    gather_batches_close(run);
    error = gather_fail(run, "allocate buffers", error);
  }
  return error;
}

void gather_batches_close(struct gather_run *run) {
  batch_close(run, &run->batch);
  batch_close(run, &run->remainder);
  release(run, run->memory, run->memory_bytes);
  run->memory = NULL;
}

/* batch.c: a plan's buffers, and the calls that a strategy makes of them. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/* Buffers start on cache lines, as those of an allocator do, and so never share one. */
#define BUFFER_ALIGNMENT 64

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

static size_t padded(size_t bytes) {
  return (bytes + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT;
}

/* The pieces of at most GATHER_CALL_BYTES_MAX that a buffer is cut into; an empty buffer is a piece
 * too. */
static size_t pieces_of(size_t bytes) {
  return bytes == 0 ? 1 : (bytes - 1) / GATHER_CALL_BYTES_MAX + 1;
}

/* Appends a buffer's pieces to batch->pieces. */
static void add_pieces(struct gather_batch *batch, size_t *pieces, const struct iovec *buffer) {
  size_t done = 0;
  do {
    size_t rest = buffer->iov_len - done;
    size_t bytes = rest < GATHER_CALL_BYTES_MAX ? rest : GATHER_CALL_BYTES_MAX;
    batch->pieces[(*pieces)++] = (struct iovec){(char *)buffer->iov_base + done, bytes};
    done += bytes;
  } while (done < buffer->iov_len);
}

/* Groups the pieces into calls, none with more entries or bytes than the system takes. */
static void add_calls(struct gather_batch *batch, size_t pieces, size_t entries_max) {
  struct gather_call *call = NULL;
  for (size_t i = 0; i < pieces; i++) {
    struct iovec *piece = &batch->pieces[i];
    if (call == NULL || (size_t)call->count == entries_max ||
        call->bytes + piece->iov_len > GATHER_CALL_BYTES_MAX) {
      call = &batch->calls[batch->calls_count++];
      *call = (struct gather_call){.iov = piece};
    }
    call->count++;
    call->bytes += piece->iov_len;
  }
}

static void batch_close(struct gather_batch *batch) {
  free(batch->buffers);
  free(batch->staging);
  free(batch->pieces);
  free(batch->calls);
  *batch = (struct gather_batch){0};
}

/* Makes a batch of the first buffers[count], `bytes` in all; the last one is cut to fit. */
static int batch_open(struct gather_batch *batch, enum gather_layout layout,
                      const struct iovec *buffers, size_t count, uint64_t bytes) {
  batch->bytes = bytes;
  batch->buffers_count = count;
  batch->buffers = malloc(count * sizeof *batch->buffers);
  if (batch->buffers == NULL)
    goto err;
  uint64_t rest = bytes;
  size_t pieces_max = 0;
  for (size_t i = 0; i < count; i++) {
    struct iovec buffer = buffers[i];
    if (buffer.iov_len > rest)
      buffer.iov_len = (size_t)rest;
    rest -= buffer.iov_len;
    batch->buffers[i] = buffer;
    pieces_max += pieces_of(buffer.iov_len);
  }

  if (layout == GATHER_JOINED) {
    pieces_max = pieces_of((size_t)bytes);
    if (posix_memalign((void **)&batch->staging, BUFFER_ALIGNMENT, padded((size_t)bytes + 1)) !=
        0) {
      batch->staging = NULL;
      goto err;
    }
    char *end = batch->staging;
    for (size_t i = 0; i < count; i++) {
      if (batch->buffers[i].iov_len > 0)
        memcpy(end, batch->buffers[i].iov_base, batch->buffers[i].iov_len);
      end += batch->buffers[i].iov_len;
    }
  }

  batch->pieces = malloc(pieces_max * sizeof *batch->pieces);
  batch->calls = malloc(pieces_max * sizeof *batch->calls);
  if (batch->pieces == NULL || batch->calls == NULL)
    goto err;
  size_t pieces = 0;
  if (layout == GATHER_JOINED)
    add_pieces(batch, &pieces, &(struct iovec){batch->staging, (size_t)bytes});
  else
    for (size_t i = 0; i < count; i++)
      add_pieces(batch, &pieces, &batch->buffers[i]);
  add_calls(batch, pieces, layout == GATHER_VECTOR ? gather_iov_max() : 1);
  return 0;

err:
  batch_close(batch);
  return -ENOMEM;
}

int gather_batches_open(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  enum gather_layout layout = plan->strategy->layout;
  uint64_t batch_bytes = gather_plan_batch_bytes(plan);

  size_t distinct = plan->reuse_buffer ? plan->sizes_count : plan->count;
  size_t memory_bytes = BUFFER_ALIGNMENT;
  for (size_t i = 0; i < distinct; i++)
    memory_bytes += padded(gather_plan_buffer_bytes(plan, i));

  struct iovec *buffers = malloc(plan->count * sizeof *buffers);
  if (buffers == NULL)
    return gather_fail(run, "malloc", ENOMEM);
  int error = posix_memalign((void **)&run->memory, BUFFER_ALIGNMENT, memory_bytes);
  if (error) {
    run->memory = NULL;
    error = gather_fail(run, "posix_memalign", error);
    goto out;
  }
  gather_fill(run->memory, memory_bytes, 1);

  char *next = run->memory;
  for (size_t i = 0; i < plan->count; i++) {
    size_t bytes = gather_plan_buffer_bytes(plan, i);
    if (i < distinct) {
      buffers[i] = (struct iovec){next, bytes};
      next += padded(bytes);
    } else {
      buffers[i] = buffers[i % distinct];
    }
  }

  error = batch_open(&run->batch, layout, buffers, plan->count, batch_bytes);
  if (!error && (plan->scope->offers & GATHER_CREATED)) {
    run->batches = plan->file_bytes / batch_bytes;
    uint64_t rest = plan->file_bytes % batch_bytes;
    size_t count = 0;
    for (uint64_t bytes = 0; bytes < rest; count++)
      bytes += buffers[count].iov_len;
    if (rest > 0)
      error = batch_open(&run->tail, layout, buffers, count, rest);
  }
  if (error) {
    gather_batches_close(run);
    error = gather_fail(run, "malloc", -error);
  }

out:
  free(buffers);
  return error;
}

void gather_batches_close(struct gather_run *run) {
  batch_close(&run->batch);
  batch_close(&run->tail);
  free(run->memory);
  run->memory = NULL;
}

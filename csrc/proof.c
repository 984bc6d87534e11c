/* proof.c: what the device saw of an op that was to be durable. */
#include "proof.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

enum {
  TRIES = 3,
  SYNCED_BYTES = 64 << 10, /* of an op; random, so that nothing can make them fewer */
};

/* What is watched. */
struct watched {
  struct gather_plan plan;
  uint64_t ops;
  bool closing; /* closing the run too, which waits for the device */
};

/* Some ops of a small plan, and what the devices counted meanwhile. */
static int watch_once(const struct watched *watched, struct gather_workspace *workspace,
                      const struct gather_device *device, struct gather_device_stats *meanwhile, char *reason,
                      size_t size) {
  struct gather_run run;
  struct gather_device_stats before = {0}, after = {0};
  int error = gather_open(&run, &watched->plan, workspace, 0);
  bool opened = !error;
  int stats_error = opened ? gather_device_stats_read(device, &before) : 0;
  for (uint64_t i = 0; i < watched->ops && !error; i++)
    error = gather_op(&run);
  if (!error && !stats_error && !watched->closing)
    stats_error = gather_device_stats_read(device, &after);
  if (error)
    snprintf(reason, size, "%s: %s", run.failure.call, strerror(-error));
  int close_error = opened ? gather_close(&run) : 0;
  if (!error && !close_error && !stats_error && watched->closing)
    stats_error = gather_device_stats_read(device, &after);
  if (!error && close_error)
    snprintf(reason, size, "%s: %s", run.failure.call, strerror(-close_error));
  *meanwhile = (struct gather_device_stats){
      .bytes_written = after.bytes_written - before.bytes_written,
      .flushes = after.flushes - before.flushes,
      .counts_flushes = after.counts_flushes,
  };
  if (stats_error) /* a device that has gone: nothing is known, and nothing was missed */
    *meanwhile = (struct gather_device_stats){.bytes_written = UINT64_MAX, .flushes = UINT64_MAX};
  return error ? error : close_error;
}

/* The least of a few tries. */
static int watch(const struct watched *watched, struct gather_workspace *workspace, const struct gather_device *device,
                 struct gather_device_stats *least, char *reason, size_t size) {
  *least = (struct gather_device_stats){.bytes_written = UINT64_MAX, .flushes = UINT64_MAX};
  for (int i = 0; i < TRIES; i++) {
    struct gather_device_stats meanwhile;
    int error = watch_once(watched, workspace, device, &meanwhile, reason, size);
    if (error)
      return error;
    if (meanwhile.bytes_written < least->bytes_written)
      least->bytes_written = meanwhile.bytes_written;
    if (meanwhile.flushes < least->flushes)
      least->flushes = meanwhile.flushes;
    least->counts_flushes |= meanwhile.counts_flushes;
  }
  return 0;
}

/* Whether an op writes a file of its own, rather than over a window. */
static bool makes_files(const struct gather_plan *plan) {
  return (plan->scope->provided & GATHER_WHOLE_FILE) != 0;
}

/* One thread, and none of what does not matter to what arrives. Past the page cache a write that reaches the medium by
 * itself needs no flush, so everything goes through the cache. */
static struct gather_plan simple(const struct gather_plan *plan) {
  struct gather_plan simple = *plan;
  simple.threads = 1;
  if (plan->laid != GATHER_LAID_BY_PAGES) { /* other sizes are other pieces: a window of its own, which may be small */
    const uint64_t batch = gather_plan_batch_bytes(plan),
                   enough = batch > GATHER_ARRIVAL_BYTES ? batch : GATHER_ARRIVAL_BYTES;
    simple.laid = GATHER_LAID_BY_PAGES;
    simple.window_bytes = plan->window_bytes < enough ? plan->window_bytes : enough;
  }
  simple.create = NULL;
  simple.keep = false;
  simple.preallocate = simple.direct = simple.sync_each = simple.shared_file = simple.verify = simple.pinned = false;
  return simple;
}

/* No more than was found to have room. */
static uint64_t room(const struct gather_plan *plan, uint64_t bytes) {
  uint64_t room = makes_files(plan) ? plan->file_bytes : plan->window_bytes;
  return room < bytes ? room : bytes;
}

int gather_prove_sync(const struct gather_plan *plan, struct gather_workspace *workspace,
                      const struct gather_device *device, struct gather_proof *proof, char *reason, size_t size) {
  struct watched watched = {.plan = simple(plan), .ops = 1};
  const uint64_t bytes = room(plan, SYNCED_BYTES);
  watched.plan.count = watched.plan.sizes_count = 1;
  watched.plan.sizes[0] = (size_t)bytes;
  watched.plan.file_bytes = bytes;
  struct gather_device_stats least;
  int error = watch(&watched, workspace, device, &least, reason, size);
  if (error)
    return error;
  *proof = (struct gather_proof){.written = bytes, .arrived = least.bytes_written};
  if (least.bytes_written < bytes)
    proof->result = GATHER_NOT_WRITTEN;
  else if (device->caches.count > 0 && least.flushes == 0)
    proof->result = least.counts_flushes || device->no_flushes ? GATHER_NOT_FLUSHED : GATHER_FLUSH_NOT_KNOWN;
  return 0;
}

uint64_t gather_plan_distinct_bytes(const struct gather_plan *plan) {
  if (!plan->reuse_buffer || plan->count <= plan->sizes_count)
    return gather_plan_batch_bytes(plan);
  uint64_t bytes = 0;
  for (unsigned i = 0; i < plan->sizes_count; i++)
    bytes += plan->sizes[i];
  return bytes;
}

/* One sync at the end: a file's own, or that of a window when its run is closed. */
int gather_prove_arrival(const struct gather_plan *plan, struct gather_workspace *workspace,
                         const struct gather_device *device, struct gather_proof *proof, char *reason, size_t size) {
  struct watched watched = {.plan = simple(plan), .ops = 1};
  uint64_t bytes = room(plan, GATHER_ARRIVAL_BYTES);
  if (makes_files(plan)) {
    watched.plan.file_bytes = bytes;
  } else {
    watched.plan.durability = gather_durability_find("none");
    watched.ops = bytes / gather_plan_batch_bytes(plan);
    watched.closing = true;
    bytes = watched.ops * gather_plan_batch_bytes(plan);
  }
  struct gather_device_stats least;
  int error = watch(&watched, workspace, device, &least, reason, size);
  if (!error)
    *proof = (struct gather_proof){.written = bytes, .arrived = least.bytes_written};
  return error;
}

/* plan.c: what may be combined with what, and what a combination is called. */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* Why a need that nothing offers makes a plan senseless. The first one that applies is told. */
static const struct {
  unsigned capability;
  const char *reason;
} missing_reasons[] = {
    {GATHER_OFFSETS, "a positioned write needs a target that has offsets"},
    {GATHER_REOPENED, "the scope `file` needs a target that can be opened anew in each op"},
    {GATHER_BYTES, "nothing is written that could be made durable"},
    {GATHER_DURABLE, "what is written to this target cannot be made durable"},
    {GATHER_CALL_FLAGS, "only pwritev2 takes flags with each call"},
    {GATHER_CREATED, "only the scope `file` makes a file that could be preallocated, or synced batch by batch"},
    {GATHER_ALLOCATED, "this target has no blocks to preallocate, to write directly or to share"},
    {GATHER_ALIGNED, "this strategy's memory is not aligned as O_DIRECT needs it"},
    {GATHER_SYNC_CALL, "this durability makes no call after a batch"},
    {GATHER_WINDOWED, "only the scope `op` shares a file among threads"},
};

/* Every table is an array of pointers to rows that begin with their name. */
static const void *find(const void *const *rows, const char *name) {
  for (; *rows != NULL; rows++)
    if (strcmp(*(const char *const *)*rows, name) == 0)
      return *rows;
  return NULL;
}

const struct gather_strategy *gather_strategy_find(const char *name) {
  return find((const void *const *)gather_strategies, name);
}

const struct gather_durability *gather_durability_find(const char *name) {
  return find((const void *const *)gather_durabilities, name);
}

const struct gather_target *gather_target_find(const char *name) {
  return find((const void *const *)gather_targets, name);
}

const struct gather_scope *gather_scope_find(const char *name) {
  return find((const void *const *)gather_scopes, name);
}

size_t gather_plan_buffer_bytes(const struct gather_plan *plan, size_t index) {
  return plan->sizes[index % plan->sizes_count];
}

/* The bytes of the plan's first `count` buffers. */
static uint64_t buffers_bytes(const struct gather_plan *plan, uint64_t count) {
  uint64_t rounds = count / plan->sizes_count, bytes = 0;
  for (unsigned i = 0; i < plan->sizes_count; i++)
    bytes += plan->sizes[i] * (rounds + (i < count % plan->sizes_count));
  return bytes;
}

uint64_t gather_plan_batch_bytes(const struct gather_plan *plan) {
  return buffers_bytes(plan, plan->count);
}

unsigned gather_plan_threads(const struct gather_plan *plan) {
  return plan->threads ? plan->threads : 1;
}

unsigned gather_plan_slot(const struct gather_plan *plan, unsigned thread) {
  return 2 * (plan->shared_file ? 0 : thread) + plan->direct;
}

/* Whether one op writes a whole file rather than one batch. */
static bool writes_file(const struct gather_plan *plan) {
  return (plan->scope->offers & GATHER_CREATED) != 0;
}

uint64_t gather_plan_op_bytes(const struct gather_plan *plan) {
  if (!(plan->strategy->offers & GATHER_BYTES))
    return 0;
  return writes_file(plan) ? plan->file_bytes : gather_plan_batch_bytes(plan);
}

uint64_t gather_plan_op_buffers(const struct gather_plan *plan) {
  if (!writes_file(plan))
    return plan->count;
  uint64_t batch_bytes = gather_plan_batch_bytes(plan);
  uint64_t rest = plan->file_bytes % batch_bytes;
  uint64_t round_bytes = buffers_bytes(plan, plan->sizes_count);
  uint64_t buffers = plan->file_bytes / batch_bytes * plan->count + rest / round_bytes * plan->sizes_count;
  rest %= round_bytes;
  for (size_t i = 0; rest > 0; i++, buffers++) {
    size_t bytes = gather_plan_buffer_bytes(plan, i);
    rest -= bytes < rest ? bytes : rest;
  }
  return buffers;
}

uint64_t gather_plan_disk_bytes(const struct gather_plan *plan) {
  if (!(plan->target->offers & GATHER_ALLOCATED))
    return 0;
  return (writes_file(plan) ? plan->file_bytes : plan->window_bytes) * gather_plan_threads(plan);
}

/* Whether a batch has more bytes than an offset can count, so that sums of them would be wrong. */
static bool is_too_large(const struct gather_plan *plan) {
  double bytes = 0;
  for (unsigned i = 0; i < plan->sizes_count; i++)
    bytes += (double)plan->sizes[i];
  return bytes / plan->sizes_count * (double)plan->count > 0x1p60;
}

/* Whether O_DIRECT could take all sizes: a block has 512 bytes at least. The probe knows what the device really asks.
 */
static bool has_whole_blocks(const struct gather_plan *plan) {
  for (unsigned i = 0; i < plan->sizes_count; i++)
    if (plan->sizes[i] % 512 != 0)
      return false;
  if (plan->shared_file && plan->window_bytes % 512 != 0)
    return false; /* the second thread's window begins at its end */
  return !writes_file(plan) || plan->file_bytes % 512 == 0;
}

/* Whether the plan's files, or the offsets in them, have more bytes than an offset can count. */
static bool is_too_long(const struct gather_plan *plan) {
  uint64_t bytes = writes_file(plan) ? plan->file_bytes : plan->window_bytes;
  return bytes > INT64_MAX / gather_plan_threads(plan);
}

/* Whether this process may run on the plan's processor. */
static bool has_processor(const struct gather_plan *plan) {
#ifdef __linux__
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return plan->cpu < CPU_SETSIZE && sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
         CPU_ISSET(plan->cpu, &allowed);
#else
  (void)plan;
  return false;
#endif
}

const char *gather_plan_refuse(const struct gather_plan *plan) {
  if (plan->count == 0)
    return "a batch needs at least one buffer";
  if (plan->sizes_count == 0 || plan->sizes_count > GATHER_SIZES_MAX)
    return "a batch needs one to eight sizes";

  if (is_too_large(plan))
    return "the batch has more bytes than a file can";

  unsigned needs = plan->scope->needs | plan->strategy->needs | plan->durability->needs;
  unsigned offers = plan->scope->offers | plan->strategy->offers | plan->target->offers;
  if (plan->durability->sync)
    offers |= GATHER_SYNC_CALL;
  if (plan->preallocate)
    needs |= GATHER_CREATED | GATHER_ALLOCATED;
  if (plan->direct)
    needs |= GATHER_ALLOCATED | GATHER_ALIGNED;
  if (plan->sync_each)
    needs |= GATHER_CREATED | GATHER_SYNC_CALL;
  if (plan->shared_file)
    needs |= GATHER_WINDOWED | GATHER_ALLOCATED;
  for (size_t i = 0; i < sizeof missing_reasons / sizeof *missing_reasons; i++)
    if (needs & ~offers & missing_reasons[i].capability)
      return missing_reasons[i].reason;

  if (writes_file(plan)) {
    if (gather_plan_batch_bytes(plan) == 0)
      return "empty batches never fill a file";
    if (plan->file_bytes == 0)
      return "a file needs at least one byte";
  } else if (plan->target->offers & GATHER_ALLOCATED) {
    if (gather_plan_batch_bytes(plan) > plan->window_bytes)
      return "the batch is larger than the window that it overwrites";
  }

  if (plan->target->offers & GATHER_ALLOCATED && is_too_long(plan))
    return "the files have more bytes than there can be";
  if (plan->pinned && !has_processor(plan))
    return "there is no such processor, or this process may not use it";
  if (plan->direct && O_DIRECT == 0)
    return "this system has no O_DIRECT";
  if (plan->direct && !has_whole_blocks(plan))
    return "O_DIRECT writes whole blocks, of 512 bytes at least";

  const char *missing = plan->strategy->missing ? plan->strategy->missing() : NULL;
  if (missing == NULL && plan->durability->missing)
    missing = plan->durability->missing();
  return missing;
}

/* Appends to name[size] at *length; a *length past the end is kept, so that the caller sees it
 * once, at the end. */
__attribute__((format(printf, 4, 5))) static void append(char *name, size_t size, size_t *length, const char *format,
                                                         ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t used = *length < size ? *length : size;
  int added = vsnprintf(name + used, size - used, format, arguments);
  va_end(arguments);
  *length += added > 0 ? (size_t)added : size;
}

int gather_plan_name(const struct gather_plan *plan, char *name, size_t size) {
  size_t length = 0;
  append(name, size, &length, "%s/strategy:%s/target:%s/sync:%s", plan->scope->name, plan->strategy->name,
         plan->target->name, plan->durability->name);
  if (plan->sync_each)
    append(name, size, &length, "/sync_each:yes");
  if (plan->direct)
    append(name, size, &length, "/direct:yes");
  if (plan->preallocate)
    append(name, size, &length, "/preallocate:yes");
  if (writes_file(plan))
    append(name, size, &length, "/file_bytes:%llu", (unsigned long long)plan->file_bytes);
  else if ((plan->target->offers & GATHER_ALLOCATED) && plan->window_bytes != GATHER_WINDOW_BYTES)
    append(name, size, &length, "/window:%llu", (unsigned long long)plan->window_bytes);
  if (plan->shared_file)
    append(name, size, &length, "/shared_file:yes");
  append(name, size, &length, "/count:%zu/size:", plan->count);
  for (unsigned i = 0; i < plan->sizes_count; i++)
    append(name, size, &length, i == 0 ? "%zu" : "+%zu", plan->sizes[i]);
  return length < size ? (int)length : -ENAMETOOLONG;
}

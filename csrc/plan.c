/* plan.c: what may be combined with what, and what a combination is called. */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* Reasons reported for a missing capability; the first match wins. */
static const struct {
  unsigned capability;
  const char *reason;
} unmet_reasons[] = {
    {GATHER_OFFSETS, "a positioned write needs a target that has offsets"},
    {GATHER_REOPENED, "the scope `file` needs a target that can be opened anew in each op"},
    {GATHER_WRITES, "nothing is written that could be made durable"},
    {GATHER_DURABLE, "what is written to this target cannot be made durable"},
    {GATHER_CALL_FLAGS, "only pwritev2 takes flags with each call"},
    {GATHER_WHOLE_FILE,
     "only the scope `file` makes a file that could be preallocated, kept, or synced batch by batch"},
    {GATHER_IS_FILE, "this target has no blocks to create, keep, preallocate, write directly or share"},
    {GATHER_NEW_BLOCKS, "an old file that is overwritten has its blocks"},
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

const struct gather_create *gather_create_find(const char *name) {
  return find((const void *const *)gather_creates, name);
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

unsigned gather_plan_window_index(const struct gather_plan *plan, unsigned thread) {
  const unsigned file = 2 * (plan->shared_file ? 0 : thread) + plan->direct;
  return file * GATHER_LAIDS + plan->laid;
}

/* Whether one op writes a whole file rather than one batch. */
static bool writes_file(const struct gather_plan *plan) {
  return (plan->scope->provided & GATHER_WHOLE_FILE) != 0;
}

/* A window is written page by page unless the plan says otherwise. On ext4 every later write into a folio walks all
 * blocks of it: 64 bytes into a file that was written in pieces of 1 MiB took three times as long as into one that was
 * written page by page (Linux 6.18). The largest folio of x86 has 2 MiB. */
#define PAGE_BYTES    4096
#define AT_ONCE_BYTES ((size_t)4 << 20)

const char *const gather_laid_names[GATHER_LAIDS] = {"pages", "pieces", "once"};

size_t gather_plan_piece_bytes(const struct gather_plan *plan) {
  if (plan->laid == GATHER_LAID_BY_PAGES)
    return PAGE_BYTES;
  const size_t bytes = plan->sizes[0];
  return plan->laid == GATHER_LAID_AT_ONCE || bytes > AT_ONCE_BYTES ? AT_ONCE_BYTES : bytes ? bytes : 1;
}

uint64_t gather_plan_op_bytes(const struct gather_plan *plan) {
  if (!(plan->strategy->provided & GATHER_WRITES))
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
  if (!(plan->target->provided & GATHER_IS_FILE))
    return 0;
  if (!writes_file(plan))
    return plan->window_bytes * gather_plan_threads(plan);
  const unsigned files = gather_plan_create(plan)->renames ? 2 : 1; /* the old one and the new one */
  return files * plan->file_bytes * gather_plan_threads(plan);
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
  return bytes > INT64_MAX / 2 / gather_plan_threads(plan); /* 2: where an old file is beside the new one */
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

bool gather_plan_finds_bytes(const struct gather_plan *plan) {
  return (plan->target->provided & GATHER_IS_FILE) && (!writes_file(plan) || gather_plan_create(plan)->replaces);
}

const char *gather_plan_refuse(const struct gather_plan *plan) {
  if (plan->count == 0)
    return "a batch needs at least one buffer";
  if (plan->sizes_count == 0 || plan->sizes_count > GATHER_SIZES_MAX)
    return "a batch needs one to eight sizes";

  if (is_too_large(plan))
    return "the batch has more bytes than a file can";

  unsigned required = plan->scope->required | plan->strategy->required | plan->durability->required;
  const struct gather_create *create = gather_plan_create(plan);
  unsigned provided = plan->scope->provided | plan->strategy->provided | plan->target->provided | create->provided;
  if (plan->durability->sync)
    provided |= GATHER_SYNC_CALL;
  if (plan->keep || create != gather_creates[0])
    required |= GATHER_WHOLE_FILE | GATHER_IS_FILE;
  if (plan->preallocate)
    required |= GATHER_WHOLE_FILE | GATHER_IS_FILE | GATHER_NEW_BLOCKS;
  if (plan->direct)
    required |= GATHER_IS_FILE | GATHER_ALIGNED;
  if (plan->sync_each)
    required |= GATHER_WHOLE_FILE | GATHER_SYNC_CALL;
  if (plan->shared_file)
    required |= GATHER_WINDOWED | GATHER_IS_FILE;
  for (size_t i = 0; i < sizeof unmet_reasons / sizeof *unmet_reasons; i++)
    if (required & ~provided & unmet_reasons[i].capability)
      return unmet_reasons[i].reason;

  if (writes_file(plan)) {
    if (gather_plan_batch_bytes(plan) == 0)
      return "empty batches never fill a file";
    if (plan->file_bytes == 0)
      return "a file needs at least one byte";
  } else if (plan->target->provided & GATHER_IS_FILE) {
    if (gather_plan_batch_bytes(plan) > plan->window_bytes)
      return "the batch is larger than the window that it overwrites";
  }

  if (plan->laid != GATHER_LAID_BY_PAGES && !gather_plan_finds_bytes(plan))
    return "an op finds nothing that could be laid in another way";
  if (gather_plan_keeps(plan) && gather_plan_threads(plan) > 1)
    return "files that an op leaves are made ready one after the other, for one thread";
  if (plan->target->provided & GATHER_IS_FILE && is_too_long(plan))
    return "the files have more bytes than there can be";
  if (plan->pinned && !has_processor(plan))
    return "there is no such processor, or this process may not use it";
  if (plan->direct && O_DIRECT == 0)
    return "this system has no O_DIRECT";
  if (plan->direct && !has_whole_blocks(plan))
    return "O_DIRECT writes whole blocks, of 512 bytes at least";

  const char *reason = plan->strategy->unavailable_reason ? plan->strategy->unavailable_reason() : NULL;
  if (reason == NULL && plan->durability->unavailable_reason)
    reason = plan->durability->unavailable_reason();
  return reason;
}

/* Appends a key, unless one before it did not fit. */
__attribute__((format(printf, 4, 5))) static void add_key(struct gather_plan_key *keys, int *count, const char *key,
                                                          const char *format, ...) {
  if (*count < 0)
    return;
  struct gather_plan_key *next = &keys[(*count)++];
  next->key = key;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(next->value, sizeof next->value, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= sizeof next->value)
    *count = -ENAMETOOLONG;
}

/* The pattern of sizes, such as 24+4096. */
static void add_sizes(const struct gather_plan *plan, struct gather_plan_key *keys, int *count) {
  char sizes[GATHER_SIZES_MAX * 24] = "";
  size_t length = 0;
  for (unsigned i = 0; i < plan->sizes_count; i++)
    length += (size_t)snprintf(sizes + length, sizeof sizes - length, i == 0 ? "%zu" : "+%zu", plan->sizes[i]);
  add_key(keys, count, "size", "%s", sizes);
}

int gather_plan_keys(const struct gather_plan *plan, struct gather_plan_key *keys) {
  int count = 0;
  add_key(keys, &count, "scope", "%s", plan->scope->name);
  add_key(keys, &count, "strategy", "%s", plan->strategy->name);
  add_key(keys, &count, "target", "%s", plan->target->name);
  add_key(keys, &count, "sync", "%s", plan->durability->name);
  if (plan->sync_each)
    add_key(keys, &count, "sync_each", "yes");
  if (gather_plan_create(plan) != gather_creates[0])
    add_key(keys, &count, "create", "%s", gather_plan_create(plan)->name);
  if (plan->keep && !gather_plan_create(plan)->replaces)
    add_key(keys, &count, "keep", "yes");
  if (plan->laid != GATHER_LAID_BY_PAGES)
    add_key(keys, &count, "laid", "%s", gather_laid_names[plan->laid]);
  if (plan->direct)
    add_key(keys, &count, "direct", "yes");
  if (plan->preallocate)
    add_key(keys, &count, "preallocate", "yes");
  if (writes_file(plan))
    add_key(keys, &count, "file_bytes", "%llu", (unsigned long long)plan->file_bytes);
  else if ((plan->target->provided & GATHER_IS_FILE) && plan->window_bytes != GATHER_WINDOW_BYTES)
    add_key(keys, &count, "window", "%llu", (unsigned long long)plan->window_bytes);
  if (plan->shared_file)
    add_key(keys, &count, "shared_file", "yes");
  if (plan->reuse_buffer)
    add_key(keys, &count, "buffers", "one");
  if (plan->verify)
    add_key(keys, &count, "verify", "yes");
  if (plan->pinned)
    add_key(keys, &count, "cpu", "%u", plan->cpu);
  add_key(keys, &count, "count", "%zu", plan->count);
  add_sizes(plan, keys, &count);
  return count;
}

int gather_plan_name(const struct gather_plan *plan, char *name, size_t size) {
  struct gather_plan_key keys[GATHER_KEYS_MAX];
  int count = gather_plan_keys(plan, keys);
  size_t length = 0;
  for (int i = 0; i < count && length < size; i++) {
    /* The scope comes first and says what the rest is about: it stands without its key. */
    int added = i == 0 ? snprintf(name, size, "%s", keys[i].value)
                       : snprintf(name + length, size - length, "/%s:%s", keys[i].key, keys[i].value);
    length += added < 0 ? size : (size_t)added;
  }
  return count < 0 ? count : length < size ? (int)length : -ENAMETOOLONG;
}

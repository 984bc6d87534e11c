/* plan_options.c: options that shape rows. A new option is a function that reads its value, and a row of the table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan_options.h"
#include "printable.h"
#include "text.h"

#define VALUE_MAX 200 /* characters of one value of a list; a sanity limit */

#define TEXT_OF(tokens) #tokens
#define TEXT(macro)     TEXT_OF(macro)

/* --- Each function sets fields of a plan from text, and returns NULL or what is wrong with the text. --- */

const char *plan_options_number(const char *text, uint64_t *number) {
  if (*text < '0' || *text > '9')
    return *text == '-' ? "must not be negative" : "is not a number";
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  unsigned shift = 0;
  if (*end == 'k' || *end == 'K')
    shift = 10, end++;
  else if (*end == 'm' || *end == 'M')
    shift = 20, end++;
  else if (*end == 'g' || *end == 'G')
    shift = 30, end++;
  if (*end != '\0')
    return "is not a number (suffixes: k, m, g)";
  if (errno || value > (uint64_t)INT64_MAX >> shift)
    return "is too large";
  *number = value << shift;
  return NULL;
}

static const char *parse_yes_no(const char *text, bool *value) {
  if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
    return "is neither yes nor no";
  *value = text[0] == 'y';
  return NULL;
}

static const char *set_scope(const char *text, struct gather_plan *plan) {
  plan->scope = gather_scope_find(text);
  return plan->scope ? NULL : "is not a scope (see --list)";
}

static const char *set_strategy(const char *text, struct gather_plan *plan) {
  plan->strategy = gather_strategy_find(text);
  return plan->strategy ? NULL : "is not a strategy (see --list)";
}

static const char *set_target(const char *text, struct gather_plan *plan) {
  plan->target = gather_target_find(text);
  return plan->target ? NULL : "is not a target (see --list)";
}

static const char *set_sync(const char *text, struct gather_plan *plan) {
  plan->durability = gather_durability_find(text);
  return plan->durability ? NULL : "is not a durability (see --list)";
}

static const char *set_create(const char *text, struct gather_plan *plan) {
  plan->create = gather_create_find(text);
  return plan->create ? NULL : "is not a way of creating a file (see --list)";
}

static const char *set_keep(const char *text, struct gather_plan *plan) {
  return parse_yes_no(text, &plan->keep);
}

static const char *set_laid(const char *text, struct gather_plan *plan) {
  for (int i = 0; i < GATHER_LAIDS; i++)
    if (strcmp(text, gather_laid_names[i]) == 0) {
      plan->laid = (enum gather_laid)i;
      return NULL;
    }
  return "is none of pages, pieces, once";
}

static const char *set_preallocate(const char *text, struct gather_plan *plan) {
  return parse_yes_no(text, &plan->preallocate);
}

static const char *set_direct(const char *text, struct gather_plan *plan) {
  return parse_yes_no(text, &plan->direct);
}

static const char *set_sync_each(const char *text, struct gather_plan *plan) {
  return parse_yes_no(text, &plan->sync_each);
}

static const char *set_shared_file(const char *text, struct gather_plan *plan) {
  return parse_yes_no(text, &plan->shared_file);
}

static const char *set_verify(const char *text, struct gather_plan *plan) {
  return parse_yes_no(text, &plan->verify);
}

static const char *set_cpu(const char *text, struct gather_plan *plan) {
  uint64_t number;
  const char *wrong = plan_options_number(text, &number);
  if (wrong)
    return wrong;
  if (number >= 1024) /* CPU_SETSIZE */
    return "is too large";
  plan->cpu = (unsigned)number;
  plan->pinned = true;
  return NULL;
}

static const char *set_threads(const char *text, struct gather_plan *plan) {
  uint64_t number;
  const char *wrong = plan_options_number(text, &number);
  if (wrong)
    return wrong;
  if (number == 0 || number > THREADS_MAX)
    return "must be 1 to " TEXT(THREADS_MAX);
  plan->threads = (unsigned)number;
  return NULL;
}

static const char *set_window(const char *text, struct gather_plan *plan) {
  return plan_options_number(text, &plan->window_bytes);
}

static const char *set_file_bytes(const char *text, struct gather_plan *plan) {
  return plan_options_number(text, &plan->file_bytes);
}

static const char *set_count(const char *text, struct gather_plan *plan) {
  uint64_t count;
  const char *wrong = plan_options_number(text, &count);
  if (wrong)
    return wrong;
  if (count == 0)
    return "must be at least 1";
  if (count > SIZE_MAX / sizeof(struct iovec))
    return "is too large";
  plan->count = (size_t)count;
  return NULL;
}

static const char *set_size(const char *text, struct gather_plan *plan) {
  char part[64];
  plan->sizes_count = 0;
  for (;;) {
    size_t length = strcspn(text, "+");
    if (length >= sizeof part)
      return "is not a size";
    if (plan->sizes_count == GATHER_SIZES_MAX)
      return "has more than eight parts";
    memcpy(part, text, length);
    part[length] = '\0';
    uint64_t bytes;
    const char *wrong = plan_options_number(part, &bytes);
    if (wrong)
      return wrong;
    plan->sizes[plan->sizes_count++] = (size_t)bytes;
    if (text[length] == '\0')
      return NULL;
    text += length + 1;
  }
}

static const char *set_buffers(const char *text, struct gather_plan *plan) {
  if (strcmp(text, "one") != 0 && strcmp(text, "distinct") != 0)
    return "is neither distinct nor one";
  plan->reuse_buffer = strcmp(text, "one") == 0;
  return NULL;
}

/* The table's last columns: the fields of a plan that an option sets, from the first to the last of them. */
#define FIELDS(first, last)                                                                                            \
  offsetof(struct gather_plan, first), offsetof(struct gather_plan, last) + sizeof(((struct gather_plan *)0)->last) -  \
                                           offsetof(struct gather_plan, first)
#define FIELD(name) FIELDS(name, name)

/* The last one varies fastest, so that strategies stand side by side. */
const struct plan_option plan_options[] = {
    {"scope", "NAME", "op", "what one timed op is: op (a batch) or file (a whole file)", false, set_scope,
     FIELD(scope)},
    {"target", "LIST", "file", "what is written to", true, set_target, FIELD(target)},
    {"sync", "LIST", "none", "how a batch is made durable", true, set_sync, FIELD(durability)},
    {"sync-each", NULL, "no", "scope file: make each batch durable, as in a growing log", false, set_sync_each,
     FIELD(sync_each)},
    {"direct", "no,yes", "no", "write past the page cache, with O_DIRECT", true, set_direct, FIELD(direct)},
    {"create", "LIST", "new", "scope file: how a file comes to be and ends", true, set_create, FIELD(create)},
    {"keep", "no,yes", "no", "scope file: leave the file, where it is not replaced anyway", true, set_keep,
     FIELD(keep)},
    {"laid", "LIST", "pages", "how the window or old file was written: pages, pieces, once", true, set_laid,
     FIELD(laid)},
    {"preallocate", "no,yes", "no", "scope file: allocate the file's blocks first", true, set_preallocate,
     FIELD(preallocate)},
    {"window", "BYTES", "64m", "scope op: what is overwritten on a file", false, set_window, FIELD(window_bytes)},
    {"file-bytes", "BYTES", "100000000", "scope file: what is written", false, set_file_bytes, FIELD(file_bytes)},
    {"threads", "LIST", "1", "threads that write at the same time, each to a file of its own", true, set_threads,
     FIELD(threads)},
    {"shared-file", NULL, "no", "scope op: the threads' windows lie in one file", false, set_shared_file,
     FIELD(shared_file)},
    {"cpu", "N", NULL, "keep the writer on processor N", false, set_cpu, FIELDS(pinned, cpu)},
    {"buffers", "distinct|one", "distinct", "buffers of a batch, or one that is used again", false, set_buffers,
     FIELD(reuse_buffer)},
    {"verify", NULL, "no", "read back what the last op wrote, and compare", false, set_verify, FIELD(verify)},
    {"count", "LIST", "4", "buffers in a batch", true, set_count, FIELD(count)},
    {"size", "LIST", "4k", "bytes of a buffer: 16, 4k, 1m, or a pattern such as 24+4096", true, set_size,
     FIELDS(sizes, sizes_count)},
    {"strategy", "LIST", "write,writev,coalesce", "how a batch is written", true, set_strategy, FIELD(strategy)},
    {0},
};

_Static_assert(sizeof plan_options / sizeof *plan_options <= PLAN_OPTIONS_MAX + 1, "PLAN_OPTIONS_MAX is too small");

/* Splits off the next value of a list, in place; NULL after the last. An empty list has one empty value. */
static char *next_value(char **list) {
  char *value = *list;
  if (value != NULL) {
    char *comma = strchr(value, ',');
    if (comma)
      *comma++ = '\0';
    *list = comma;
  }
  return value;
}

static size_t count_values(const char *text) {
  size_t count = 1;
  for (; (text = strchr(text, ',')) != NULL; text++)
    count++;
  return count;
}

int plan_option_parse(const struct plan_option *option, const char *text, struct option_values *values) {
  option_values_free(values);
  if (!option->list && strchr(text, ','))
    return complain("--%s takes one value: '%s'", option->name, text);
  size_t room = strlen(text) + 1;
  char *copy = allocate(room, 1), *list = memcpy(copy, text, room);
  values->plans = allocate(count_values(text), sizeof *values->plans);
  int error = 0;
  for (char *value; !error && (value = next_value(&list)) != NULL; values->count++) {
    if (strlen(value) > VALUE_MAX) {
      error = complain("--%s: a value is longer than %d characters", option->name, VALUE_MAX);
      break;
    }
    const char *wrong = option->set(value, &values->plans[values->count]);
    if (wrong)
      error = complain("--%s: '%s' %s", option->name, value, wrong);
  }
  free(copy);
  return error;
}

void plan_option_apply(const struct plan_option *option, const struct option_values *values, size_t index,
                       struct gather_plan *plan) {
  memcpy((char *)plan + option->offset, (const char *)&values->plans[index] + option->offset, option->bytes);
}

void option_values_free(struct option_values *values) {
  free(values->plans);
  *values = (struct option_values){0};
}

void plan_selection_free(struct plan_selection *selection) {
  for (int i = 0; i < PLAN_OPTIONS_MAX; i++)
    option_values_free(&selection->of[i]);
}

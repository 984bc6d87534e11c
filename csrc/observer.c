/* observer.c: what is counted around a repetition. A new counter is its functions, the row below them, and an entry in
 * the table. */
#include "observer.h"

#include <errno.h>

#include "folios.h"
#include "internal.h"

/* --- What the suite counts itself. --- */

static int start_calls(const struct gather_run *run, struct gather_observation *observation) {
  observation->begin = (int64_t)run->stats.calls;
  return 0;
}

static int read_calls(const struct gather_run *run, struct gather_observation *observation, int64_t *value) {
  *value = (int64_t)run->stats.calls - observation->begin;
  return 0;
}

static const struct gather_observer observer_calls = {
    .name = "calls",
    .unit = "calls an op",
    .doc = "write calls that were made, failed and repeated ones included",
    .absent = "never",
    .per_op = true,
    .start = start_calls,
    .read = read_calls,
};

static int start_short_writes(const struct gather_run *run, struct gather_observation *observation) {
  observation->begin = (int64_t)run->stats.short_writes;
  return 0;
}

static int read_short_writes(const struct gather_run *run, struct gather_observation *observation, int64_t *value) {
  *value = (int64_t)run->stats.short_writes - observation->begin;
  return 0;
}

static const struct gather_observer observer_short_writes = {
    .name = "short_writes",
    .unit = "calls an op",
    .doc = "write calls that wrote less than they were given",
    .absent = "never",
    .per_op = true,
    .start = start_short_writes,
    .read = read_short_writes,
};

/* --- What the kernel counts. --- */

#define THREAD_IO "/proc/thread-self/io"

static int start_dirty(const struct gather_run *run, struct gather_observation *observation) {
  (void)run;
  uint64_t kib;
  int error = gather_read_number("/proc/meminfo", "Dirty", &kib);
  observation->begin = (int64_t)kib * 1024;
  return error;
}

static int read_level(const struct gather_run *run, struct gather_observation *observation, int64_t *value) {
  (void)run;
  *value = observation->begin;
  return 0;
}

static const struct gather_observer observer_dirty = {
    .name = "dirty_bytes",
    .unit = "bytes",
    .doc = "in the page cache of the whole machine, waiting to be written back, before the repetition",
    .absent = "where there is no /proc/meminfo",
    .start = start_dirty,
    .read = read_level,
};

/* A page counts when it becomes dirty, and no longer when it is dropped before it was written. */
static int bytes_for_device(int64_t *bytes) {
  uint64_t written, cancelled;
  int error = gather_read_number(THREAD_IO, "write_bytes", &written);
  if (!error)
    error = gather_read_number(THREAD_IO, "cancelled_write_bytes", &cancelled);
  if (!error)
    *bytes = (int64_t)(written - cancelled);
  return error;
}

static int start_device(const struct gather_run *run, struct gather_observation *observation) {
  (void)run;
  return bytes_for_device(&observation->begin);
}

/* Below zero, somebody else's pages or an earlier repetition's were dropped: nothing then tells of these ops. */
static int read_device(const struct gather_run *run, struct gather_observation *observation, int64_t *value) {
  (void)run;
  int64_t now;
  int error = bytes_for_device(&now);
  if (error)
    return error;
  *value = now - observation->begin;
  return *value < 0 ? -ERANGE : 0;
}

static const struct gather_observer observer_device = {
    .name = "device_bytes",
    .unit = "bytes an op",
    .doc = "that have reached a device, or will unless somebody else drops a page that is dirty",
    .absent = "where the kernel keeps no " THREAD_IO ", and where more was dropped than written",
    .per_op = true,
    .start = start_device,
    .read = read_device,
};

static int start_kernel_calls(const struct gather_run *run, struct gather_observation *observation) {
  uint64_t calls;
  int error = gather_read_number(THREAD_IO, "syscw", &calls);
  observation->begin = (int64_t)calls;
  observation->calls = (int64_t)run->stats.calls;
  return error;
}

static int read_kernel_calls(const struct gather_run *run, struct gather_observation *observation, int64_t *value) {
  struct gather_observation now;
  int error = start_kernel_calls(run, &now);
  *value = now.begin - observation->begin;
  return error;
}

static const char *doubt_kernel_calls(const struct gather_run *run, const struct gather_observation *observation,
                                      int64_t value) {
  return value == (int64_t)run->stats.calls - observation->calls
             ? NULL
             : "calls and kernel_calls differ: the kernel counted other write calls than ours";
}

static const struct gather_observer observer_kernel_calls = {
    .name = "kernel_calls",
    .unit = "calls an op",
    .doc = "write calls that the kernel counted for the thread",
    .absent = "where the kernel keeps no " THREAD_IO ", and where it does not count the strategy's calls",
    .per_op = true,
    .required = GATHER_COUNTED,
    .start = start_kernel_calls,
    .read = read_kernel_calls,
    .doubt = doubt_kernel_calls,
};

static int start_folios(const struct gather_run *run, struct gather_observation *observation) {
  (void)run;
  const char *call;
  const int fd = gather_folios_begin(&call);
  observation->begin = fd;
  return fd < 0 ? fd : 0;
}

static int read_folios(const struct gather_run *run, struct gather_observation *observation, int64_t *value) {
  (void)run;
  uint64_t folios;
  int error = gather_folios_end((int)observation->begin, &folios);
  *value = (int64_t)folios;
  return error ? error : folios == 0 ? -ENODATA : 0; /* tmpfs, for one, adds its folios past the tracepoint */
}

/* The pages of a window are there already. */
static const struct gather_observer observer_folios = {
    .name = "folios",
    .unit = "folios an op",
    .doc = "added to the page cache, in one op that was not timed",
    .absent = "in the scope `op`, where the tracepoint may not be read, and on file systems that pass it by",
    .untimed = true,
    .required = GATHER_WHOLE_FILE | GATHER_IS_FILE | GATHER_WRITES,
    .start = start_folios,
    .read = read_folios,
};

/* The last is started last and read first. */
const struct gather_observer *const gather_observers[] = {
    &observer_folios,
    &observer_dirty,
    &observer_device,
    &observer_calls,
    &observer_short_writes,
    &observer_kernel_calls,
    NULL,
};

static bool applies(const struct gather_observer *observer, const struct gather_plan *plan) {
  return (observer->required & ~(plan->scope->provided | plan->target->provided | plan->strategy->provided)) == 0;
}

void gather_observe(struct gather_observations *observations, const struct gather_run *run) {
  *observations = (struct gather_observations){0};
  for (unsigned i = 0; gather_observers[i]; i++) {
    const struct gather_observer *observer = gather_observers[i];
    observations->of[i].started =
        !observer->untimed && applies(observer, run->plan) && observer->start(run, &observations->of[i]) == 0;
  }
}

bool gather_is_observed_untimed(const struct gather_plan *plan) {
  for (unsigned i = 0; gather_observers[i]; i++)
    if (gather_observers[i]->untimed && applies(gather_observers[i], plan))
      return true;
  return false;
}

int gather_observe_untimed(struct gather_run *run, void (*on_counter)(void *context, const char *name, double value),
                           void *context) {
  for (unsigned i = 0; gather_observers[i]; i++) {
    const struct gather_observer *observer = gather_observers[i];
    struct gather_observation observation = {0};
    if (!observer->untimed || !applies(observer, run->plan))
      continue;
    int error = gather_prepare(run);
    if (error)
      return error;
    if (observer->start(run, &observation) != 0)
      continue;
    error = gather_op(run);
    int64_t value;
    if (observer->read(run, &observation, &value) == 0 && !error)
      on_counter(context, observer->name, (double)value);
    if (error)
      return error;
  }
  return 0;
}

void gather_observed(struct gather_observations *observations, const struct gather_run *run, int64_t ops,
                     void (*on_counter)(void *context, const char *name, double value, const char *doubt),
                     void *context) {
  unsigned count = sizeof gather_observers / sizeof *gather_observers - 1;
  while (count-- > 0) {
    const struct gather_observer *observer = gather_observers[count];
    int64_t value = 0;
    if (!observations->of[count].started || observer->read(run, &observations->of[count], &value) != 0)
      continue;
    on_counter(context, observer->name, observer->per_op ? (double)value / (double)ops : (double)value,
               observer->doubt ? observer->doubt(run, &observations->of[count], value) : NULL);
  }
}

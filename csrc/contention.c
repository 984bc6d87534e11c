/* contention.c: what slowed a run down from outside. A new resource is a function and a row of the table. */
#include "contention.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cgroup.h"
#include "internal.h"

static double own_processor_s(const struct rusage *usage) {
  return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
         (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e-6;
}

/* Processors: of all of them, in clock ticks. */
struct ticks {
  double busy, idle, stolen;
};

/* The line "cpu  user nice system idle iowait irq softirq steal ..." of /proc/stat (proc(5)). */
static bool match_processors(char *line, void *context) {
  unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
  if (sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &iowait, &irq, &softirq,
             &steal) != 8)
    return false;
  struct ticks *ticks = context;
  ticks->busy = (double)(user + nice + system + irq + softirq + steal);
  ticks->idle = (double)(idle + iowait);
  ticks->stolen = (double)steal;
  return true;
}

/* Processor seconds of others, stolen ones included, and of all. The kernel counts others' time in ticks, ours exactly.
 */
static int others_cpu(const struct gather_contention *contention, struct gather_amounts *amounts) {
  (void)contention;
  struct ticks ticks;
  struct rusage own;
  int error = gather_scan("/proc/stat", match_processors, &ticks);
  if (error)
    return error;
  if (getrusage(RUSAGE_SELF, &own) < 0)
    return -errno;
  const double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
  amounts->part = ticks.busy * tick_s - own_processor_s(&own);
  amounts->whole = (ticks.busy + ticks.idle) * tick_s;
  return 0;
}

/* Ticks that a hypervisor took for something else, and all ticks. */
static int stolen_cpu(const struct gather_contention *contention, struct gather_amounts *amounts) {
  (void)contention;
  struct ticks ticks;
  int error = gather_scan("/proc/stat", match_processors, &ticks);
  *amounts = (struct gather_amounts){ticks.stolen, ticks.busy + ticks.idle};
  return error;
}

static void add_throttled(const char *folder, void *context) {
  struct gather_amounts *amounts = context;
  uint64_t periods, throttled;
  if (gather_cgroup_number(folder, "cpu.stat", "nr_periods", &periods) == 0 &&
      gather_cgroup_number(folder, "cpu.stat", "nr_throttled", &throttled) == 0) {
    amounts->part += (double)throttled;
    amounts->whole += (double)periods;
  }
}

/* Periods in which a processor quota stopped us, and all periods under one. */
static int throttled(const struct gather_contention *contention, struct gather_amounts *amounts) {
  (void)contention;
  *amounts = (struct gather_amounts){0};
  return gather_cgroup_each("cpu", add_throttled, amounts);
}

/* The line "some avg10=... total=MICROSECONDS" of /proc/pressure/io. */
static bool match_pressure(char *line, void *context) {
  const char *total = strstr(line, "total=");
  return strncmp(line, "some ", 5) == 0 && total && sscanf(total, "total=%lf", (double *)context) == 1;
}

/* Microseconds in which any process, ours included, waited for a device, and all that passed. */
static int io_pressure(const struct gather_contention *contention, struct gather_amounts *amounts) {
  (void)contention;
  amounts->whole = (double)gather_clock_ns() * 1e-3;
  return gather_scan("/proc/pressure/io", match_pressure, &amounts->part);
}

/* Bytes written to the directory's device, and our own: all that we made dirty counts as written. */
static int others_device_bytes(const struct gather_contention *contention, struct gather_amounts *amounts) {
  struct gather_device_stats stats;
  uint64_t own;
  if (!contention->has_device)
    return -ENOSYS;
  int error = gather_device_stats_read(&contention->device, &stats);
  if (!error)
    error = gather_read_number("/proc/self/io", "write_bytes", &own);
  if (!error)
    *amounts = (struct gather_amounts){(double)stats.bytes_written, (double)own};
  return error;
}

/* How much the totals grew during a run. */
struct run_amounts {
  double part, whole, seconds;
};

/* Negative where the whole did not grow, as in a run shorter than a clock tick: there is no share. */
static double share(struct run_amounts run) {
  return run.whole <= 0 ? -1 : run.part > 0 ? run.part / run.whole : 0;
}

/* 0 without a quota, under which alone periods pass. */
static double share_of_any(struct run_amounts run) {
  return run.whole <= 0 ? 0 : share(run);
}

/* The part less the whole. */
static double rest(struct run_amounts run) {
  return run.part > run.whole ? run.part - run.whole : 0;
}

/* Half of one processor of two, or one of four: below that there is room for the writer and for the kernel's own
 * threads, which write back what was written. */
static bool is_load(struct run_amounts run) {
  return share(run) >= 0.25;
}

static bool is_theft(struct run_amounts run) {
  return share(run) >= 0.05;
}

static bool is_throttled(struct run_amounts run) {
  return share_of_any(run) >= 0.01;
}

/* A file system writes for us more than our bytes, above all its journal: up to six times as much where each small
 * write is synced and makes a file longer. And 4 MiB a second disturb nobody. */
static bool is_much_writing(struct run_amounts run) {
  return rest(run) > 8 * run.whole + (4 << 20) * run.seconds;
}

static const struct {
  const char *key;
  int (*read)(const struct gather_contention *contention, struct gather_amounts *amounts);
  double (*value)(struct run_amounts run); /* negative where unknown */
  int decimals;
  bool (*is_too_much)(struct run_amounts run); /* or NULL */
  /* The sentence if it is too much: its subject, and what stands before and behind the scaled value. */
  const char *subject, *before;
  double scale;
  const char *behind;
  const char *sentence_key; /* key of a fact with the sentence less its subject, or NULL */
} resources[] = {
    {"others_cpu", others_cpu, share, 3, is_load, "under load: ", "others used ", 100, " % of the processors' time",
     "under_load"},
    {"stolen_cpu", stolen_cpu, share, 3, is_theft, "", "the hypervisor took ", 100, " % of the processors' time", NULL},
    {"throttled", throttled, share_of_any, 3, is_throttled, "throttled: ", "a processor quota stopped the run in ", 100,
     " % of its periods", NULL},
    {"others_device_bytes", others_device_bytes, rest, 0, is_much_writing, "", "others wrote ", 1e-6,
     " MB to the device", NULL},
    {"io_pressure", io_pressure, share, 3, NULL, NULL, NULL, 0, NULL, NULL},
};
enum { RESOURCES = sizeof resources / sizeof *resources };
_Static_assert((int)RESOURCES <= (int)GATHER_CONTENTION_MAX, "a run notes each resource");

void gather_contention_begin(struct gather_contention *contention, const char *dir) {
  contention->has_device = dir && gather_device_find(dir, &contention->device) == 0;
  contention->begin_ns = gather_clock_ns();
  for (size_t i = 0; i < RESOURCES; i++)
    contention->told[i] = resources[i].read(contention, &contention->begin[i]) == 0;
}

void gather_contention_end(const struct gather_contention *contention,
                           void (*on_fact)(const char *key, const char *value),
                           void (*on_spoiled)(const char *sentence)) {
  const double seconds = (double)(gather_clock_ns() - contention->begin_ns) * 1e-9;
  for (size_t i = 0; i < RESOURCES; i++) {
    struct gather_amounts end;
    if (!contention->told[i] || resources[i].read(contention, &end) != 0)
      continue;
    const struct gather_amounts *begin = &contention->begin[i];
    const struct run_amounts run = {end.part - begin->part, end.whole - begin->whole, seconds};
    double value = resources[i].value(run);
    if (value < 0)
      continue;
    char text[128], sentence[160];
    snprintf(text, sizeof text, "%.*f", resources[i].decimals, value);
    on_fact(resources[i].key, text);
    if (resources[i].is_too_much == NULL || !resources[i].is_too_much(run))
      continue;
    snprintf(text, sizeof text, "%s%.0f%s", resources[i].before, value * resources[i].scale, resources[i].behind);
    if (resources[i].sentence_key)
      on_fact(resources[i].sentence_key, text);
    snprintf(sentence, sizeof sentence, "%s%s", resources[i].subject, text);
    on_spoiled(sentence);
  }
}

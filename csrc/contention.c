/* contention.c: what others used meanwhile. */
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "environment_internal.h"

/* The line "cpu  user nice system idle iowait irq softirq steal ..." of /proc/stat (proc(5)), in clock ticks. */
static bool read_processors(char *line, void *context) {
  unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
  if (sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &iowait, &irq, &softirq,
             &steal) != 8)
    return false;
  uint64_t *ticks = context;
  ticks[0] = user + nice + system + irq + softirq + steal;
  ticks[1] = ticks[0] + idle + iowait;
  return true;
}

int gather_processor_times_read(struct gather_processor_times *times) {
  uint64_t ticks[2] = {0};
  struct rusage own;
  int error = gather_scan("/proc/stat", read_processors, ticks);
  if (error)
    return error == -ENOENT ? -ENOSYS : error;
  if (getrusage(RUSAGE_SELF, &own) < 0)
    return -errno;
  uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
  uint64_t own_ns = ((uint64_t)own.ru_utime.tv_sec + (uint64_t)own.ru_stime.tv_sec) * 1000000000 +
                    ((uint64_t)own.ru_utime.tv_usec + (uint64_t)own.ru_stime.tv_usec) * 1000;
  uint64_t busy_ns = ticks[0] * tick_ns;
  times->all_ns = ticks[1] * tick_ns;
  times->others_ns = busy_ns > own_ns ? busy_ns - own_ns : 0;
  return 0;
}

/* environment_machine.c: the kernel and the processors. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "environment_internal.h"

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

static int kernel(const char *dir, char *value, size_t size) {
  (void)dir;
  struct utsname name;
  if (uname(&name) < 0)
    return -errno;
  return snprintf(value, size, "%s %s", name.sysname, name.release) < 0 ? -EINVAL : 0;
}

static int machine(const char *dir, char *value, size_t size) {
  (void)dir;
  struct utsname name;
  return uname(&name) < 0 ? -errno : gather_fact_text(value, size, name.machine);
}

#ifdef __APPLE__
static int cpu(const char *dir, char *value, size_t size) {
  (void)dir;
  return sysctlbyname("machdep.cpu.brand_string", value, &size, NULL, 0) < 0 ? -errno : 0;
}
#else
static int cpu(const char *dir, char *value, size_t size) {
  (void)dir;
  struct gather_field field = {.key = "model name"};
  int error = gather_scan("/proc/cpuinfo", gather_read_field, &field);
  return error ? error : gather_fact_text(value, size, field.value);
}
#endif

static int cpu_governor(const char *dir, char *value, size_t size) {
  (void)dir;
  FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "re");
  if (file == NULL)
    return -errno;
  int error = fgets(value, (int)size, file) ? 0 : -ENOENT;
  if (fclose(file) != 0 && !error)
    error = -errno;
  if (!error)
    value[strcspn(value, "\n")] = '\0';
  return error;
}

const struct gather_environment_item gather_machine_facts[] = {
    {"kernel", kernel}, {"machine", machine}, {"cpu", cpu}, {"cpu_governor", cpu_governor}, {NULL, NULL},
};

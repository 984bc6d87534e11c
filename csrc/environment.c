/* environment.c: what machine and directory a run used, and what the kernel counted meanwhile. A
 * new fact is a function and a row of the table. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "internal.h"

static int print(char *value, size_t size, const char *text) {
  return snprintf(value, size, "%s", text) < 0 ? -EINVAL : 0;
}

/* Calls on_line for each line of a file until it returns true; -ENOENT if it never does. */
static int scan(const char *path, bool (*on_line)(char *line, void *context), void *context) {
  FILE *file = fopen(path, "re");
  if (file == NULL)
    return -errno;
  char *line = NULL;
  size_t size = 0;
  bool found = false;
  while (!found && getline(&line, &size, file) >= 0)
    found = on_line(line, context);
  free(line);
  int error = ferror(file) ? -EIO : 0;
  if (fclose(file) != 0 && !error)
    error = -errno;
  return error ? error : found ? 0 : -ENOENT;
}

/* What a "key: value" or "key : value" line of /proc says of a key. */
struct field {
  const char *key;
  char value[256];
};

static bool read_field(char *line, void *context) {
  struct field *field = context;
  size_t length = strlen(field->key);
  if (strncmp(line, field->key, length) != 0)
    return false;
  char *value = line + length + strspn(line + length, " \t");
  if (*value != ':')
    return false;
  value += 1 + strspn(value + 1, " \t");
  value[strcspn(value, "\n")] = '\0';
  snprintf(field->value, sizeof field->value, "%s", value);
  return true;
}

static int read_number(const char *path, const char *key, uint64_t *number) {
  struct field field = {.key = key};
  int error = scan(path, read_field, &field);
  if (error)
    return error == -ENOENT ? -ENOSYS : error;
  char *end;
  errno = 0;
  *number = strtoull(field.value, &end, 10);
  return errno || end == field.value ? -ENOSYS : 0;
}

int gather_kernel_counts_read(struct gather_kernel_counts *counts) {
  /* Two small reads of the same file: neither writes, so neither is counted. */
  int error = read_number("/proc/thread-self/io", "syscw", &counts->write_calls);
  return error ? error : read_number("/proc/thread-self/io", "write_bytes", &counts->device_bytes);
}

int gather_dirty_bytes(uint64_t *bytes) {
  uint64_t kib;
  int error = read_number("/proc/meminfo", "Dirty", &kib);
  if (!error)
    *bytes = kib * 1024;
  return error;
}

int gather_free_bytes(const char *dir, uint64_t *bytes) {
  struct statvfs status;
  if (statvfs(dir, &status) < 0)
    return -errno;
  *bytes = (uint64_t)status.f_bavail * status.f_frsize;
  return 0;
}

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
  return uname(&name) < 0 ? -errno : print(value, size, name.machine);
}

static int cpu(const char *dir, char *value, size_t size) {
  (void)dir;
  struct field field = {.key = "model name"};
  int error = scan("/proc/cpuinfo", read_field, &field);
  return error ? error : print(value, size, field.value);
}

/* qemu-user answers /proc/self/exe with the program's own path, but not this one, which shows the
 * emulator. */
static int emulated(const char *dir, char *value, size_t size) {
  (void)dir;
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/thread-self/exe", path, sizeof path - 1);
  if (length < 0)
    return -errno;
  path[length] = '\0';
  const char *slash = strrchr(path, '/');
  return print(value, size, strncmp(slash ? slash + 1 : path, "qemu-", 5) == 0 ? "qemu-user" : "no");
}

/* A line of /proc/self/mountinfo (proc(5)): id parent major:minor root mount-point options [fields]
 * - type source super-options. */
struct mount {
  const char *dir; /* absolute, without links */
  size_t best;     /* length of the mount point found so far, plus 1 */
  char type[64], source[256], options[1024];
};

/* The kernel writes space, tab, newline and backslash as \ooo. */
static void unescape(char *text) {
  char *to = text;
  for (const char *from = text; *from; to++) {
    unsigned code;
    if (from[0] == '\\' && sscanf(from + 1, "%3o", &code) == 1) {
      *to = (char)code;
      from += 4;
    } else {
      *to = *from++;
    }
  }
  *to = '\0';
}

static bool match_mount(char *line, void *context) {
  struct mount *mount = context;
  char *separator = strstr(line, " - ");
  char point[PATH_MAX], options[512], type[64], source[256], super_options[512];
  if (separator == NULL || sscanf(line, "%*s %*s %*s %*s %4095s %511s", point, options) != 2 ||
      sscanf(separator + 3, "%63s %255s %511s", type, source, super_options) != 3)
    return false;
  unescape(point);
  unescape(source);
  size_t length = strlen(point);
  bool inside = strncmp(mount->dir, point, length) == 0 &&
                (mount->dir[length] == '/' || mount->dir[length] == '\0' || length == 1);
  /* A later line of the same mount point lies over the earlier one. */
  if (inside && length + 1 >= mount->best) {
    mount->best = length + 1;
    memcpy(mount->type, type, sizeof type);
    memcpy(mount->source, source, sizeof source);
    snprintf(mount->options, sizeof mount->options, "%s,%s", options, super_options);
  }
  return false; /* the deepest mount point may come last */
}

static int find_mount(const char *dir, struct mount *mount) {
  char *path = realpath(dir, NULL);
  if (path == NULL)
    return -errno;
  *mount = (struct mount){.dir = path};
  int error = scan("/proc/self/mountinfo", match_mount, mount);
  mount->dir = NULL;
  free(path);
  return mount->best > 0 ? 0 : error;
}

static int directory(const char *dir, char *value, size_t size) {
  return print(value, size, dir);
}

static int filesystem(const char *dir, char *value, size_t size) {
  struct mount mount;
  int error = find_mount(dir, &mount);
  return error ? error : print(value, size, mount.type);
}

static int mount_options(const char *dir, char *value, size_t size) {
  struct mount mount;
  int error = find_mount(dir, &mount);
  return error ? error : print(value, size, mount.options);
}

static int device(const char *dir, char *value, size_t size) {
  struct mount mount;
  int error = find_mount(dir, &mount);
  return error ? error : print(value, size, mount.source);
}

static int free_bytes(const char *dir, char *value, size_t size) {
  uint64_t bytes;
  int error = gather_free_bytes(dir, &bytes);
  return error ? error : snprintf(value, size, "%" PRIu64, bytes) < 0 ? -EINVAL : 0;
}

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

static int cpu_affinity(const char *dir, char *value, size_t size) {
  (void)dir;
  struct field field = {.key = "Cpus_allowed_list"};
  int error = scan("/proc/self/status", read_field, &field);
  return error ? error : print(value, size, field.value);
}

const struct gather_environment_item gather_environment[] = {
    {"kernel", kernel},
    {"machine", machine},
    {"cpu", cpu},
    {"emulated", emulated},
    {"directory", directory},
    {"filesystem", filesystem},
    {"mount_options", mount_options},
    {"device", device},
    {"free_bytes", free_bytes},
    {"cpu_governor", cpu_governor},
    {"cpu_affinity", cpu_affinity},
    {NULL, NULL},
};

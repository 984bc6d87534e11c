/* environment_device.c: the disk under the directory. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "environment_internal.h"

#ifdef __linux__
#include <sys/sysmacros.h>

/* Path of an attribute of the directory's device's queue; a partition uses its disk's. The first of several devices
 * represents all. */
static int queue_path(const char *dir, const char *what, char *path, size_t size) {
  struct gather_device device;
  int error = gather_device_find(dir, &device);
  if (error)
    return error;
  if (device.written.count == 0)
    return -ENODEV;
  const dev_t number = device.written.numbers[0];
  snprintf(path, size, "/sys/dev/block/%u:%u/queue/%s", major(number), minor(number), what);
  if (access(path, R_OK) < 0)
    snprintf(path, size, "/sys/dev/block/%u:%u/../queue/%s", major(number), minor(number), what);
  return 0;
}
#else
static int queue_path(const char *dir, const char *what, char *path, size_t size) {
  (void)dir;
  (void)what;
  (void)path;
  (void)size;
  return -ENOSYS;
}
#endif

enum { PATH_BYTES = 96 };

static int device_scheduler(const char *dir, char *value, size_t size) {
  char path[PATH_BYTES];
  int error = queue_path(dir, "scheduler", path, sizeof path);
  return error ? error : gather_fact_choice(value, size, path);
}

static int device_write_cache(const char *dir, char *value, size_t size) {
  char path[PATH_BYTES];
  int error = queue_path(dir, "write_cache", path, sizeof path);
  return error ? error : gather_read_line(path, value, size);
}

static int device_rotational(const char *dir, char *value, size_t size) {
  char path[PATH_BYTES], said[8];
  int error = queue_path(dir, "rotational", path, sizeof path);
  if (!error)
    error = gather_read_line(path, said, sizeof said);
  return error ? error : gather_fact_text(value, size, strcmp(said, "0") == 0 ? "no" : "yes");
}

const struct gather_environment_item gather_device_facts[] = {
    {"device_scheduler", device_scheduler},
    {"device_write_cache", device_write_cache},
    {"device_rotational", device_rotational},
    {NULL, NULL},
};

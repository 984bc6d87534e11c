/* device.c: finds the block devices below a directory in sysfs, and reads their statistics. */
#include "device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#ifdef __linux__
#include <linux/btrfs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

enum {
  SYSFS_PATH_BYTES = 320,
  DEPTH_MAX = 8,      /* devices on devices, and overlays on overlays */
  SECTOR_BYTES = 512, /* of /sys/block/DISK/stat, whatever the disk's own are */
};

static int no_device(struct gather_device *device, int error, const char *reason) {
  device->reason = reason;
  return error;
}

/* Path of a block device's attribute in sysfs. */
static void sysfs_path(char path[SYSFS_PATH_BYTES], dev_t number, const char *what) {
  snprintf(path, SYSFS_PATH_BYTES, "/sys/dev/block/%u:%u/%s", major(number), minor(number), what);
}

/* Reads a device's number from a file that holds MAJOR:MINOR. */
static int read_device_number(const char *path, dev_t *number) {
  char line[32];
  unsigned device_major, device_minor;
  int error = gather_read_line(path, line, sizeof line);
  if (error)
    return error;
  if (sscanf(line, "%u:%u", &device_major, &device_minor) != 2)
    return -EINVAL;
  *number = makedev(device_major, device_minor);
  return 0;
}

/* Adds a device unless the list has it; -E2BIG where the list is full. */
static int add_device(struct gather_devices *devices, dev_t number) {
  for (unsigned i = 0; i < devices->count; i++)
    if (devices->numbers[i] == number)
      return 0;
  if (devices->count == GATHER_DEVICES_MAX)
    return -E2BIG;
  devices->numbers[devices->count++] = number;
  return 0;
}

/* Calls on_device for each device that a folder of sysfs has an entry for; stops at its first error. -ENOENT where
 * there is none. */
static int each_device(const char *folder, int (*on_device)(struct gather_device *device, dev_t number, int depth),
                       struct gather_device *device, int depth) {
  DIR *entries = opendir(folder);
  if (entries == NULL)
    return -errno;
  int error = -ENOENT;
  for (struct dirent *entry; (error == 0 || error == -ENOENT) && (entry = readdir(entries)) != NULL;) {
    char path[SYSFS_PATH_BYTES + sizeof entry->d_name + sizeof "//dev"];
    dev_t number;
    snprintf(path, sizeof path, "%s/%s/dev", folder, entry->d_name);
    if (entry->d_name[0] != '.' && read_device_number(path, &number) == 0)
      error = on_device(device, number, depth);
  }
  (void)closedir(entries);
  return error;
}

/* Adds the disks below a device that have a write cache: those of its parts where it is made of others (device mapper,
 * md), the whole disk of a partition. */
static int add_disks(struct gather_device *device, dev_t number, int depth) {
  if (depth == DEPTH_MAX)
    return -ELOOP;
  char path[SYSFS_PATH_BYTES], line[32];
  sysfs_path(path, number, "slaves");
  int error = each_device(path, add_disks, device, depth + 1);
  if (error != -ENOENT)
    return error;
  dev_t disk;
  sysfs_path(path, number, "partition");
  if (access(path, F_OK) == 0) {
    sysfs_path(path, number, "../dev");
    error = read_device_number(path, &disk);
    return error ? error : add_disks(device, disk, depth + 1);
  }
  sysfs_path(path, number, "queue/write_cache");
  error = gather_read_line(path, line, sizeof line);
  return error || strcmp(line, "write back") != 0 ? error : add_device(&device->caches, number);
}

static int add_written(struct gather_device *device, dev_t number, int depth) {
  (void)depth;
  return add_device(&device->written, number);
}

/* Adds all devices of a btrfs, whose st_dev is none of them. */
static int add_btrfs(const char *dir, struct gather_device *device) {
  struct btrfs_ioctl_fs_info_args info = {0};
  int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return -errno;
  int error = ioctl(fd, BTRFS_IOC_FS_INFO, &info) < 0 ? -errno : 0;
  (void)close(fd);
  if (error)
    return error;
  char folder[128] = "/sys/fs/btrfs/";
  size_t length = strlen(folder);
  for (unsigned i = 0; i < sizeof info.fsid; i++)
    length += (size_t)snprintf(folder + length, sizeof folder - length, "%s%02x",
                               i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned)info.fsid[i]);
  snprintf(folder + length, sizeof folder - length, "/devices");
  return each_device(folder, add_written, device, 0);
}

static int add_directory(const char *dir, struct gather_device *device, int depth);

/* The value of a mount's option, in value[size]; false where it has none. */
static bool find_option(const struct gather_mount *mount, const char *key, char *value, size_t size) {
  const size_t length = strlen(key);
  for (const char *option = mount->options; *option; option += strcspn(option, ","), option += *option == ',')
    if (strncmp(option, key, length) == 0 && option[length] == '=') {
      option += length + 1;
      snprintf(value, size, "%.*s", (int)strcspn(option, ","), option);
      return true;
    }
  return false;
}

/* An overlay writes into its upper directory, whose path may mean another directory here: that is accepted if its file
 * system is as large and as full as the overlay reports. */
static int add_overlay(const char *dir, const struct gather_mount *mount, struct gather_device *device, int depth) {
  char upper[sizeof mount->options];
  struct statfs own, below;
  if (!find_option(mount, "upperdir", upper, sizeof upper))
    return no_device(device, -ENOSYS, "an overlay without an upper directory");
  if (statfs(dir, &own) < 0 || statfs(upper, &below) < 0 || own.f_blocks != below.f_blocks ||
      own.f_files != below.f_files || own.f_bsize != below.f_bsize)
    return no_device(device, -ENOSYS, "the overlay's upper directory is not to be seen from here");
  return add_directory(upper, device, depth + 1);
}

/* Adds an xfs's separate devices for its log and for realtime files. */
static int add_xfs(const struct gather_mount *mount, struct gather_device *device) {
  int error = 0;
  char path[256];
  struct stat status;
  for (unsigned i = 0; i < 2 && !error; i++)
    if (find_option(mount, i == 0 ? "logdev" : "rtdev", path, sizeof path) && stat(path, &status) == 0)
      error = S_ISBLK(status.st_mode) ? add_device(&device->written, status.st_rdev) : -ENODEV;
  return error;
}

/* Adds the devices that the file system of a directory writes to. */
static int add_directory(const char *dir, struct gather_device *device, int depth) {
  struct stat status, source;
  struct statfs filesystem;
  struct gather_mount mount = {0};
  if (depth == DEPTH_MAX)
    return -ELOOP;
  if (stat(dir, &status) < 0 || statfs(dir, &filesystem) < 0)
    return -errno;
  (void)gather_mount_find(dir, &mount); /* none is visible in a chroot */
  device->no_flushes |= strstr(mount.options, ",nobarrier") || strstr(mount.options, ",barrier=0");
  switch ((unsigned long)filesystem.f_type & 0xffffffff) {
  case TMPFS_MAGIC:
  case RAMFS_MAGIC:
    return no_device(device, -ENODEV, "the directory lies in memory");
  case OVERLAYFS_SUPER_MAGIC:
    return add_overlay(dir, &mount, device, depth);
  case BTRFS_SUPER_MAGIC:
    return add_btrfs(dir, device);
  case XFS_SUPER_MAGIC:
    if (add_xfs(&mount, device) < 0)
      return no_device(device, -ENOSYS, "the devices of the xfs are not to be seen from here");
    break;
  default:
    break;
  }
  if (major(status.st_dev) != 0)
    return add_device(&device->written, status.st_dev);
  if (stat(mount.source, &source) == 0 && S_ISBLK(source.st_mode))
    return add_device(&device->written, source.st_rdev);
  return no_device(device, -ENOSYS, "the file system names no block device");
}

/* Whether a device counts what is written to it: counting can be switched off. */
static bool keeps_statistics(dev_t number) {
  char path[SYSFS_PATH_BYTES], line[32];
  sysfs_path(path, number, "queue/iostats");
  if (access(path, F_OK) < 0)
    sysfs_path(path, number, "../queue/iostats"); /* a partition */
  return gather_read_line(path, line, sizeof line) < 0 || strcmp(line, "0") != 0;
}

int gather_device_find(const char *dir, struct gather_device *device) {
  *device = (struct gather_device){0};
  int error = add_directory(dir, device, 0);
  for (unsigned i = 0; i < device->written.count && !error; i++) {
    if (!keeps_statistics(device->written.numbers[i]))
      return no_device(device, -ENOSYS, "the device's statistics are switched off");
    error = add_disks(device, device->written.numbers[i], 0);
  }
  struct gather_device_stats stats;
  if (!error)
    error = gather_device_stats_read(device, &stats);
  if ((error == -ENOENT || error == -ENOSYS) && device->reason == NULL)
    return no_device(device, -ENOSYS, "/sys does not show the device");
  return error;
}

/* A line of /sys/block/DISK/stat (Documentation/block/stat.rst); the last two came with Linux 5.5. */
struct stat_line {
  unsigned long long sectors_written, in_flight, flushes;
  bool has_flushes;
};

static int read_stat(dev_t number, struct stat_line *stat) {
  char path[SYSFS_PATH_BYTES], line[512];
  sysfs_path(path, number, "stat");
  int error = gather_read_line(path, line, sizeof line);
  if (error)
    return error;
  int fields = sscanf(line, "%*u %*u %*u %*u %*u %*u %llu %*u %llu %*u %*u %*u %*u %*u %*u %llu",
                      &stat->sectors_written, &stat->in_flight, &stat->flushes);
  stat->has_flushes = fields == 3;
  return fields >= 2 ? 0 : -ENOSYS;
}

int gather_device_stats_read(const struct gather_device *device, struct gather_device_stats *stats) {
  *stats = (struct gather_device_stats){0};
  struct stat_line line = {0};
  for (unsigned i = 0; i < device->written.count; i++) {
    int error = read_stat(device->written.numbers[i], &line);
    if (error)
      return error == -ENOENT ? -ENOSYS : error;
    stats->bytes_written += line.sectors_written * SECTOR_BYTES;
    stats->in_flight += line.in_flight;
  }
  for (unsigned i = 0; i < device->caches.count; i++) {
    int error = read_stat(device->caches.numbers[i], &line);
    if (error)
      return error == -ENOENT ? -ENOSYS : error;
    if (line.has_flushes)
      stats->flushes += line.flushes;
  }
  /* A device with a cache that was never flushed since it was attached does not count flushes. */
  stats->counts_flushes = stats->flushes > 0;
  return 0;
}
#else
int gather_device_find(const char *dir, struct gather_device *device) {
  (void)dir;
  *device = (struct gather_device){.reason = "this system does not tell"};
  return -ENOSYS;
}

int gather_device_stats_read(const struct gather_device *device, struct gather_device_stats *stats) {
  (void)device;
  (void)stats;
  return -ENOSYS;
}
#endif

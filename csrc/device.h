/* device.h: the block devices that a directory lies on, and what they count. */
#ifndef GATHER_DEVICE_H
#define GATHER_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GATHER_DEVICES_MAX = 32 };

/* A list of block devices by their numbers. */
struct gather_devices {
  dev_t numbers[GATHER_DEVICES_MAX];
  unsigned count;
};

/* The devices below a directory. */
struct gather_device {
  struct gather_devices written; /* what the file system writes to: one device, or all of a file system on several */
  struct gather_devices caches;  /* the disks below them that have a write cache, which only a flush empties */
  bool no_flushes;               /* the file system was told to flush none (barrier=0) */
  const char *reason;            /* why no device was found */
};

/* Finds the devices below a directory. -ENODEV where it lies in memory and -ENOSYS where its device is unknown or keeps
 * no statistics, both with `reason` set; another -errno where the search failed. */
int gather_device_find(const char *dir, struct gather_device *device);

/* Counts since the devices were attached, of all writers. */
struct gather_device_stats {
  uint64_t bytes_written; /* that have arrived, on all devices of the file system together: a mirror counts twice */
  uint64_t flushes;       /* of the disks that have a write cache, one each */
  uint64_t in_flight;     /* reads and writes that are under way now */
  bool counts_flushes;    /* whether `flushes` is meaningful: not every kind of device counts them */
};

/* -ENOSYS where a device has gone, or -errno. */
int gather_device_stats_read(const struct gather_device *device, struct gather_device_stats *stats);

#ifdef __cplusplus
}
#endif

#endif

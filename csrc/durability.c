/* durability.c: how a batch is made durable. A new mode is a row, and an entry in the table. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "internal.h"

static const struct gather_durability durability_none = {
    .name = "none",
    .doc = "not at all: the bytes are in the page cache when the op ends",
};

static int sync_data(int fd) {
  int result;
  do
    result = fdatasync(fd);
  while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : 0;
}

static const struct gather_durability durability_fdatasync = {
    .name = "fdatasync",
    .doc = "fdatasync after the batch: the data, and what metadata are needed to read them",
    .needs = GATHER_BYTES | GATHER_DURABLE,
    .sync = sync_data,
    .sync_call = "fdatasync",
};

static int sync_all(int fd) {
  int result;
  do
    result = fsync(fd);
  while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : 0;
}

static const struct gather_durability durability_fsync = {
    .name = "fsync",
    .doc = "fsync after the batch: the data and all metadata",
    .needs = GATHER_BYTES | GATHER_DURABLE,
    .sync = sync_all,
    .sync_call = "fsync",
};

static const struct gather_durability durability_odsync = {
    .name = "odsync",
    .doc = "the file is opened with O_DSYNC: each write call ends as if followed by fdatasync",
    .needs = GATHER_BYTES | GATHER_DURABLE,
    .open_flags = O_DSYNC,
};

static const struct gather_durability durability_osync = {
    .name = "osync",
    .doc = "the file is opened with O_SYNC: each write call ends as if followed by fsync",
    .needs = GATHER_BYTES | GATHER_DURABLE,
    .open_flags = O_SYNC,
};

const struct gather_durability *const gather_durabilities[] = {
    &durability_none,   &durability_fdatasync, &durability_fsync,
    &durability_odsync, &durability_osync,     NULL,
};

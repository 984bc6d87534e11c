/* durability.c: how a batch is made durable. A new mode is a row, and an entry in the table. */
#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "internal.h"

static const struct gather_durability durability_none = {
    .name = "none",
    .doc = "not at all: the bytes are in the page cache when the op ends",
};

#if HAVE_FDATASYNC
static int sync_data(int fd) {
  int result;
  do
    result = fdatasync(fd);
  while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : 0;
}
#define fdatasync_unavailable NULL
#else
#define sync_data NULL
static const char *fdatasync_unavailable(void) {
  return "this system has no fdatasync";
}
#endif

static const struct gather_durability durability_fdatasync = {
    .name = "fdatasync",
    .doc = "fdatasync after the batch: the data, and what metadata are needed to read them",
    .required = GATHER_WRITES | GATHER_DURABLE,
    .sync = sync_data,
    .sync_call = "fdatasync",
    .unavailable_reason = fdatasync_unavailable,
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
    .required = GATHER_WRITES | GATHER_DURABLE,
    .sync = sync_all,
    .sync_call = "fsync",
};

static const struct gather_durability durability_odsync = {
    .name = "odsync",
    .doc = "the file is opened with O_DSYNC: each write call ends as if followed by fdatasync",
    .required = GATHER_WRITES | GATHER_DURABLE,
    .open_flags = O_DSYNC,
};

static const struct gather_durability durability_osync = {
    .name = "osync",
    .doc = "the file is opened with O_SYNC: each write call ends as if followed by fsync",
    .required = GATHER_WRITES | GATHER_DURABLE,
    .open_flags = O_SYNC,
};

#ifndef RWF_DSYNC
#define RWF_DSYNC 0
static const char *rwf_dsync_unavailable(void) {
  return "this system has no RWF_DSYNC";
}
#else
#define rwf_dsync_unavailable NULL
#endif

static const struct gather_durability durability_rwf_dsync = {
    .name = "rwf_dsync",
    .doc = "each pwritev2 carries RWF_DSYNC, which makes that call alone as durable as O_DSYNC would",
    .required = GATHER_WRITES | GATHER_DURABLE | GATHER_CALL_FLAGS,
    .call_flags = RWF_DSYNC,
    .unavailable_reason = rwf_dsync_unavailable,
};

/* fcntl(2) of macOS: fsync there does not make a drive empty its cache; F_FULLFSYNC does, F_BARRIERFSYNC orders. */
#ifdef F_FULLFSYNC
static int sync_full(int fd) {
  return fcntl(fd, F_FULLFSYNC) < 0 ? -errno : 0;
}
#define fullfsync_unavailable NULL
#else
#define sync_full NULL
static const char *fullfsync_unavailable(void) {
  return "only macOS has F_FULLFSYNC";
}
#endif

static const struct gather_durability durability_fullfsync = {
    .name = "fullfsync",
    .doc = "F_FULLFSYNC after the batch: like fsync, and the drive empties its cache",
    .required = GATHER_WRITES | GATHER_DURABLE,
    .sync = sync_full,
    .sync_call = "F_FULLFSYNC",
    .unavailable_reason = fullfsync_unavailable,
};

#ifdef F_BARRIERFSYNC
static int sync_barrier(int fd) {
  return fcntl(fd, F_BARRIERFSYNC) < 0 ? -errno : 0;
}
#define barrierfsync_unavailable NULL
#else
#define sync_barrier NULL
static const char *barrierfsync_unavailable(void) {
  return "only macOS has F_BARRIERFSYNC";
}
#endif

static const struct gather_durability durability_barrierfsync = {
    .name = "barrierfsync",
    .doc = "F_BARRIERFSYNC after the batch: like fsync, and nothing later reaches the medium before it",
    .required = GATHER_WRITES | GATHER_DURABLE,
    .sync = sync_barrier,
    .sync_call = "F_BARRIERFSYNC",
    .unavailable_reason = barrierfsync_unavailable,
};

const struct gather_durability *const gather_durabilities[] = {
    &durability_none,      &durability_fdatasync,    &durability_fsync,
    &durability_odsync,    &durability_osync,        &durability_rwf_dsync,
    &durability_fullfsync, &durability_barrierfsync, NULL,
};

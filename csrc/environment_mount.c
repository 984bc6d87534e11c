/* environment_mount.c: the directory and its file system. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "environment_internal.h"

#ifdef __APPLE__
#include <sys/mount.h>
#include <sys/param.h>
#else
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#endif

int gather_free_bytes(const char *dir, uint64_t *bytes) {
  struct statvfs status;
  if (statvfs(dir, &status) < 0)
    return -errno;
  if (status.f_blocks == 0)
    return -ENOSYS; /* ramfs, a tmpfs without a limit and some of FUSE report no size */
  *bytes = (uint64_t)status.f_bavail * status.f_frsize;
  return 0;
}

static int directory(const char *dir, char *value, size_t size) {
  return gather_fact_text(value, size, dir);
}

#ifdef __APPLE__
static int filesystem(const char *dir, char *value, size_t size) {
  struct statfs status;
  return statfs(dir, &status) < 0 ? -errno : gather_fact_text(value, size, status.f_fstypename);
}

static int mount_options(const char *dir, char *value, size_t size) {
  (void)dir;
  (void)value;
  (void)size;
  return -ENOSYS;
}

static int device(const char *dir, char *value, size_t size) {
  struct statfs status;
  return statfs(dir, &status) < 0 ? -errno : gather_fact_text(value, size, status.f_mntfromname);
}

static int auto_da_alloc(const char *dir, char *value, size_t size) {
  (void)dir;
  (void)value;
  (void)size;
  return -ENOSYS;
}
#else
/* Magic numbers of file systems (statfs(2), linux/magic.h), used where no mount point is visible, as in a chroot. */
static const struct {
  unsigned long magic;
  const char *name;
} filesystem_magics[] = {
    {0xef53, "ext4"},     {0x58465342, "xfs"}, {0x9123683e, "btrfs"}, {0x01021994, "tmpfs"}, {0x794c7630, "overlay"},
    {0x65735546, "fuse"}, {0x6969, "nfs"},     {0xf2f52010, "f2fs"},  {0x2fc12fc1, "zfs"},
};

static int filesystem(const char *dir, char *value, size_t size) {
  struct gather_mount mount;
  int error = gather_mount_find(dir, &mount);
  if (!error)
    return gather_fact_text(value, size, mount.type);
  struct statfs status;
  if (statfs(dir, &status) < 0)
    return -errno;
  for (size_t i = 0; i < sizeof filesystem_magics / sizeof *filesystem_magics; i++)
    if (filesystem_magics[i].magic == ((unsigned long)status.f_type & 0xffffffff))
      return gather_fact_text(value, size, filesystem_magics[i].name);
  return error;
}

static int mount_options(const char *dir, char *value, size_t size) {
  struct gather_mount mount;
  int error = gather_mount_find(dir, &mount);
  return error ? error : gather_fact_text(value, size, mount.options);
}

static int device(const char *dir, char *value, size_t size) {
  struct gather_mount mount;
  int error = gather_mount_find(dir, &mount);
  return error ? error : gather_fact_text(value, size, mount.source);
}

/* For gather_scan: stops at either of the two lines, and sets the text to "yes" or "no". */
static bool read_auto_da_alloc(char *line, void *value) {
  line[strcspn(line, "\n")] = '\0';
  const bool yes = strcmp(line, "auto_da_alloc") == 0;
  if (yes || strcmp(line, "noauto_da_alloc") == 0)
    *(const char **)value = yes ? "yes" : "no";
  return *(const char **)value != NULL;
}

/* Whether ext4 writes out a file that replaces another when it is closed or renamed. The mount table never shows what
 * is the default; the file system's own list of options does. */
static int auto_da_alloc(const char *dir, char *value, size_t size) {
  struct gather_mount mount;
  struct stat status;
  int error = gather_mount_find(dir, &mount);
  if (error)
    return error;
  if (strcmp(mount.type, "ext4") != 0)
    return -ENOTSUP;
  if (stat(dir, &status) < 0)
    return -errno;
  char link[64], target[512], path[sizeof target + 32];
  snprintf(link, sizeof link, "/sys/dev/block/%u:%u", major(status.st_dev), minor(status.st_dev));
  const ssize_t length = readlink(link, target, sizeof target - 1);
  const char *said = NULL;
  if (length > 0) {
    target[length] = '\0';
    const char *slash = strrchr(target, '/');
    snprintf(path, sizeof path, "/proc/fs/ext4/%s/options", slash ? slash + 1 : target);
    (void)gather_scan(path, read_auto_da_alloc, &said);
  }
  if (said == NULL)
    said = strstr(mount.options, "noauto_da_alloc") ? "no" : "yes, by default: no option noauto_da_alloc";
  return gather_fact_text(value, size, said);
}

#endif

#ifdef FS_IOC_GETFLAGS
/* Attributes that decide what a write costs (ioctl_iflags(2)). */
static const struct {
  int flag;
  const char *name;
} inode_flags[] = {
    {FS_SYNC_FL, "sync"},
    {FS_DIRSYNC_FL, "dirsync"},
    {FS_APPEND_FL, "append"},
    {FS_IMMUTABLE_FL, "immutable"},
    {FS_COMPR_FL, "compress"},
    {FS_NOCOW_FL, "nocow"},
    {FS_JOURNAL_DATA_FL, "journal-data"},
#ifdef FS_DAX_FL
    {FS_DAX_FL, "dax"},
#endif
};

/* Adds the attributes of an open file or directory, and closes it. */
static int add_inode_flags(int fd, int *flags) {
  if (fd < 0)
    return -errno;
  int found = 0;
  int error = ioctl(fd, FS_IOC_GETFLAGS, &found) < 0 ? -errno : 0;
  (void)close(fd); /* nothing was written */
  *flags |= found;
  return error;
}

/* Attributes of the directory, and of a file without a name in it, which inherits some. */
static int directory_flags(const char *dir, char *value, size_t size) {
  int flags = 0;
  int error = add_inode_flags(open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), &flags);
  if (error)
    return error == -ENOTTY ? -ENOSYS : error;
  (void)add_inode_flags(open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600), &flags); /* not every file system has them */
  *value = '\0';
  for (size_t i = 0; i < sizeof inode_flags / sizeof *inode_flags; i++) {
    size_t used = strlen(value);
    if (flags & inode_flags[i].flag)
      snprintf(value + used, size - used, "%s%s", used ? "," : "", inode_flags[i].name);
  }
  return *value ? 0 : gather_fact_text(value, size, "none");
}
#else
static int directory_flags(const char *dir, char *value, size_t size) {
  (void)dir;
  (void)value;
  (void)size;
  return -ENOSYS;
}
#endif

static int free_bytes(const char *dir, char *value, size_t size) {
  uint64_t bytes = 0;
  int error = gather_free_bytes(dir, &bytes);
  return error ? error : snprintf(value, size, "%" PRIu64, bytes) < 0 ? -EINVAL : 0;
}

const struct gather_environment_item gather_mount_facts[] = {
    {"directory", directory},
    {"filesystem", filesystem},
    {"mount_options", mount_options},
    {"auto_da_alloc", auto_da_alloc},
    {"directory_flags", directory_flags},
    {"device", device},
    {"free_bytes", free_bytes},
    {NULL, NULL},
};

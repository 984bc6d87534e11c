/* faulty_fs.c: a FUSE file system that shows another directory, and gives the faults that it is told to.
 *
 *   faulty_fs MOUNT_POINT --backing=DIR --call=write --first=3 --errno=28
 *
 * makes the third write return ENOSPC and passes on everything else. There is no page cache between a write call and
 * this program unless --cached is given, so that a short write is one for the caller too.
 *
 * The program serves one call at a time: calls can be counted. It stays in the foreground, and ends when it is
 * unmounted. */
#define FUSE_USE_VERSION 31

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
  char *backing;   /* the directory that is shown */
  char *call;      /* which kind of call is faulty; NULL for none */
  int first;       /* the first faulty one of its kind, from 1 */
  int times;       /* how many are; 0 for all that follow */
  int error;       /* an error number; 0 for a write that is only short */
  int short_bytes; /* what a short write writes; if negative, so much less than all */
  int cached;      /* with the kernel's page cache */
  int hard_remove; /* a file that is unlinked while it is open has no name any more, and cannot be opened again */
} options = {.first = 1, .times = 1};

static int backing_fd = -1;

static const struct fuse_opt option_table[] = {
    {"--backing=%s", offsetof(__typeof__(options), backing), 0},
    {"--call=%s", offsetof(__typeof__(options), call), 0},
    {"--first=%d", offsetof(__typeof__(options), first), 0},
    {"--times=%d", offsetof(__typeof__(options), times), 0},
    {"--errno=%d", offsetof(__typeof__(options), error), 0},
    {"--short=%d", offsetof(__typeof__(options), short_bytes), 0},
    {"--cached", offsetof(__typeof__(options), cached), 1},
    {"--hard-remove", offsetof(__typeof__(options), hard_remove), 1},
    FUSE_OPT_END,
};

/* Counts a call of a kind, and tells whether it is a faulty one; those are listed on the standard output. */
static bool is_faulty(const char *call) {
  static int calls;
  if (options.call == NULL || strcmp(call, options.call) != 0)
    return false;
  calls++;
  if (calls < options.first || (options.times > 0 && calls >= options.first + options.times))
    return false;
  printf("%s %d\n", call, calls);
  fflush(stdout);
  return true;
}

/* Paths of FUSE begin with a slash; here they are relative to the backing directory. */
static const char *relative(const char *path) {
  return path[1] ? path + 1 : ".";
}

static int result_of(int result) {
  return result < 0 ? -errno : 0;
}

static void *fs_init(struct fuse_conn_info *connection, struct fuse_config *config) {
  (void)connection;
  config->hard_remove = options.hard_remove;
  return NULL;
}

static int fs_getattr(const char *path, struct stat *status, struct fuse_file_info *info) {
  return result_of(info ? fstat((int)info->fh, status)
                        : fstatat(backing_fd, relative(path), status, AT_SYMLINK_NOFOLLOW));
}

static int fs_access(const char *path, int mode) {
  return result_of(faccessat(backing_fd, relative(path), mode, 0));
}

static int fs_statfs(const char *path, struct statvfs *status) {
  (void)path;
  return is_faulty("statfs") ? -options.error : result_of(fstatvfs(backing_fd, status));
}

static int fs_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *info,
                      enum fuse_readdir_flags flags) {
  (void)offset;
  (void)info;
  (void)flags;
  int fd = openat(backing_fd, relative(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = fd < 0 ? NULL : fdopendir(fd);
  if (entries == NULL)
    return -errno;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
    if (fill(buffer, entry->d_name, NULL, 0, 0))
      break;
  closedir(entries);
  return 0;
}

static int fs_mkdir(const char *path, mode_t mode) {
  return is_faulty("mkdir") ? -options.error : result_of(mkdirat(backing_fd, relative(path), mode));
}

static int fs_rmdir(const char *path) {
  return is_faulty("rmdir") ? -options.error : result_of(unlinkat(backing_fd, relative(path), AT_REMOVEDIR));
}

static int fs_unlink(const char *path) {
  return is_faulty("unlink") ? -options.error : result_of(unlinkat(backing_fd, relative(path), 0));
}

static int fs_rename(const char *from, const char *to, unsigned flags) {
  return flags ? -EINVAL : result_of(renameat(backing_fd, relative(from), backing_fd, relative(to)));
}

static int open_backing(const char *path, struct fuse_file_info *info, int flags, mode_t mode) {
  /* O_DIRECT is between the caller and us: our own buffers are not aligned for it. */
  int fd = openat(backing_fd, relative(path), (flags & ~O_DIRECT) | O_CLOEXEC, mode);
  if (fd < 0)
    return -errno;
  info->fh = (uint64_t)fd;
  info->direct_io = !options.cached;
  return 0;
}

static int fs_create(const char *path, mode_t mode, struct fuse_file_info *info) {
  return is_faulty("create") ? -options.error : open_backing(path, info, info->flags | O_CREAT, mode);
}

static int fs_open(const char *path, struct fuse_file_info *info) {
  if (path == NULL)
    return -ENOENT;
  return is_faulty("open") ? -options.error : open_backing(path, info, info->flags, 0);
}

static int fs_truncate(const char *path, off_t size, struct fuse_file_info *info) {
  if (info)
    return result_of(ftruncate((int)info->fh, size));
  int fd = openat(backing_fd, relative(path), O_WRONLY | O_CLOEXEC);
  int result = fd < 0 ? -errno : result_of(ftruncate(fd, size));
  if (fd >= 0)
    close(fd);
  return result;
}

static int fs_read(const char *path, char *memory, size_t bytes, off_t offset, struct fuse_file_info *info) {
  (void)path;
  ssize_t result = pread((int)info->fh, memory, bytes, offset);
  return result < 0 ? -errno : (int)result;
}

static int fs_write(const char *path, const char *memory, size_t bytes, off_t offset, struct fuse_file_info *info) {
  (void)path;
  if (is_faulty("write")) {
    if (options.error)
      return -options.error;
    size_t change = (size_t)abs(options.short_bytes);
    if (bytes > change)
      bytes = options.short_bytes >= 0 ? change : bytes - change;
  }
  ssize_t result = pwrite((int)info->fh, memory, bytes, offset);
  return result < 0 ? -errno : (int)result;
}

static int fs_fallocate(const char *path, int mode, off_t offset, off_t bytes, struct fuse_file_info *info) {
  (void)path;
  return is_faulty("fallocate") ? -options.error : result_of(fallocate((int)info->fh, mode, offset, bytes));
}

/* Called for each close(2), which returns its error. */
static int fs_flush(const char *path, struct fuse_file_info *info) {
  (void)path;
  (void)info;
  return is_faulty("flush") ? -options.error : 0;
}

static int fs_fsync(const char *path, int data_only, struct fuse_file_info *info) {
  (void)path;
  if (is_faulty("fsync"))
    return -options.error;
  return result_of(data_only ? fdatasync((int)info->fh) : fsync((int)info->fh));
}

static int fs_fsyncdir(const char *path, int data_only, struct fuse_file_info *info) {
  (void)path;
  (void)data_only;
  (void)info;
  return is_faulty("fsyncdir") ? -options.error : 0;
}

/* As on NFSv4 and SMB a shared lock is a read lock, which a descriptor for writing alone cannot have. */
static int fs_flock(const char *path, struct fuse_file_info *info, int op) {
  (void)path;
  if ((fcntl((int)info->fh, F_GETFL) & O_ACCMODE) == O_WRONLY && is_faulty("flock"))
    return -options.error;
  return result_of(flock((int)info->fh, op));
}

/* Called after the last close. */
static int fs_release(const char *path, struct fuse_file_info *info) {
  (void)path;
  close((int)info->fh);
  return 0;
}

static const struct fuse_operations operations = {
    .init = fs_init,
    .getattr = fs_getattr,
    .access = fs_access,
    .statfs = fs_statfs,
    .readdir = fs_readdir,
    .mkdir = fs_mkdir,
    .rmdir = fs_rmdir,
    .unlink = fs_unlink,
    .rename = fs_rename,
    .create = fs_create,
    .open = fs_open,
    .truncate = fs_truncate,
    .read = fs_read,
    .write = fs_write,
    .fallocate = fs_fallocate,
    .flush = fs_flush,
    .fsync = fs_fsync,
    .fsyncdir = fs_fsyncdir,
    .flock = fs_flock,
    .release = fs_release,
};

int main(int argc, char **argv) {
  struct fuse_args arguments = FUSE_ARGS_INIT(argc, argv);
  if (fuse_opt_parse(&arguments, &options, option_table, NULL) < 0 || fuse_opt_add_arg(&arguments, "-f") < 0 ||
      fuse_opt_add_arg(&arguments, "-s") < 0)
    return 2;
  backing_fd = options.backing ? open(options.backing, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (backing_fd < 0) {
    perror("faulty_fs: --backing");
    return 2;
  }
  /* A test that is killed must not leave a file system behind. */
  (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
  int status = fuse_main(arguments.argc, arguments.argv, &operations, NULL);
  fuse_opt_free_args(&arguments);
  return status;
}

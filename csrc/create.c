/* create.c: how the file of an op comes to be, and how it ends. A new way is its functions, the row below them, and an
 * entry in the table.
 *
 * ext4 takes a file that was truncated to nothing, or renamed over another, for one that replaces what a user cannot
 * lose, and writes its data out when it is closed or renamed (ext4(5), auto_da_alloc). So the ways differ in much more
 * than the calls that they make. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "internal.h"

const struct gather_create *gather_plan_create(const struct gather_plan *plan) {
  return plan->create ? plan->create : gather_creates[0];
}

bool gather_plan_keeps(const struct gather_plan *plan) {
  return plan->keep || gather_plan_create(plan)->replaces;
}

/* Allocates the blocks of [0, bytes). Returns 0 or an error number, as posix_fallocate does. */
#if HAVE_POSIX_FALLOCATE
#define PREALLOCATE "posix_fallocate"
static int allocate_blocks(int fd, uint64_t bytes) {
  int error;
  do
    error = posix_fallocate(fd, 0, (off_t)bytes);
  while (error == EINTR);
  return error;
}
#elif defined(F_PREALLOCATE)
/* fcntl(2) of macOS: F_PREALLOCATE leaves the length as it is. */
#define PREALLOCATE "F_PREALLOCATE"
static int allocate_blocks(int fd, uint64_t bytes) {
  fstore_t store = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = (off_t)bytes};
  return fcntl(fd, F_PREALLOCATE, &store) < 0 || ftruncate(fd, (off_t)bytes) < 0 ? errno : 0;
}
#else
#define PREALLOCATE "preallocate"
static int allocate_blocks(int fd, uint64_t bytes) {
  (void)fd;
  (void)bytes;
  return ENOSYS;
}
#endif

/* --- Calls that several ways make. Each notes its failure. --- */

static int remove_file(struct gather_run *run, const char *name) {
  return unlinkat(run->workspace->private_fd, name, 0) < 0 ? gather_fail(run, "unlink", -errno) : 0;
}

/* After an error that was noted: the first one is the one to tell; the file must go all the same. */
static int give_up(struct gather_run *run, int error) {
  (void)unlinkat(run->workspace->private_fd, run->file_name, 0);
  (void)close(run->fd);
  run->fd = -1;
  return error;
}

static int open_file(struct gather_run *run, int flags) {
  int fd = openat(run->workspace->private_fd, run->file_name,
                  O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags | gather_open_flags(run->plan), 0600);
  if (fd < 0)
    return gather_fail(run, "open", -errno);
  run->fd = fd;
  return 0;
}

/* Nobody else knows the file, so an error says that the file system has no such lock for it, as NFSv4 has none where it
 * is open for writing alone. .NET goes on then, too. */
static void lock_shared(struct gather_run *run) {
  run->locked = flock(run->fd, LOCK_SH | LOCK_NB) == 0;
  if (!run->locked)
    run->lock_error = errno;
}

static int preallocate(struct gather_run *run) {
  int error = run->plan->preallocate ? allocate_blocks(run->fd, run->plan->file_bytes) : 0;
  return error ? give_up(run, gather_fail(run, PREALLOCATE, -error)) : 0;
}

/* Opens a file that does not exist. O_EXCL: whoever may change the parent directory can put another in the place of
 * ours, with links in it. */
static int open_new(struct gather_run *run) {
  int error = open_file(run, O_CREAT | O_EXCL);
  return error ? error : preallocate(run);
}

/* --- A new file. --- */

static int new_open(struct gather_run *run) {
  int error = open_file(run, O_CREAT | O_EXCL);
  if (!error)
    lock_shared(run);
  return error ? error : preallocate(run);
}

/* The blog's loop deletes the file before it closes it. */
static int new_finish(struct gather_run *run) {
  int error = run->plan->keep ? 0 : remove_file(run, run->file_name);
  int close_error = gather_close_fd(run);
  return error ? error : close_error;
}

static const struct gather_create create_new = {
    .name = "new",
    .doc = "a new file, with a shared lock; removed and closed at the op's end",
    .provided = GATHER_NEW_BLOCKS,
    .open = new_open,
    .finish = new_finish,
};

/* --- The calls of .NET's FileStream. --- */

/* dotnet/runtime, SafeFileHandle.Unix.cs: FileMode.Create is O_CREAT, and truncates after locking, so that a file that
 * somebody else has locked keeps its bytes (dotnet/runtime#55456). The position is asked for to know whether the file
 * has one. */
static int dotnet_open(struct gather_run *run) {
  int error = open_file(run, O_CREAT);
  if (error)
    return error;
  lock_shared(run);
  if (ftruncate(run->fd, 0) < 0)
    return give_up(run, gather_fail(run, "ftruncate", -errno));
  error = preallocate(run);
  if (error)
    return error;
  return lseek(run->fd, 0, SEEK_CUR) < 0 ? give_up(run, gather_fail(run, "lseek", -errno)) : 0;
}

static int dotnet_finish(struct gather_run *run) {
  int error = run->plan->keep ? 0 : remove_file(run, run->file_name);
  if (run->locked && flock(run->fd, LOCK_UN) < 0)
    run->lock_error = errno; /* closing unlocks it all the same */
  int close_error = gather_close_fd(run);
  return error ? error : close_error;
}

static const struct gather_create create_dotnet = {
    .name = "dotnet",
    .doc = "as .NET's FileStream does: a new file, a shared lock, ftruncate to 0; removed, unlocked, closed",
    .provided = GATHER_NEW_BLOCKS,
    .open = dotnet_open,
    .finish = dotnet_finish,
};

/* --- An old file is replaced. It must be there: without O_CREAT a file that has vanished is an error. --- */

static int truncate_open(struct gather_run *run) {
  int error = open_file(run, O_TRUNC);
  return error ? error : preallocate(run);
}

static const struct gather_create create_truncate = {
    .name = "truncate",
    .doc = "the old file opened with O_TRUNC, as by fopen \"w\"; a crash can lose old and new bytes",
    .provided = GATHER_NEW_BLOCKS,
    .replaces = true,
    .open = truncate_open,
    .finish = gather_close_fd,
};

static int overwrite_open(struct gather_run *run) {
  return open_file(run, 0);
}

static const struct gather_create create_overwrite = {
    .name = "overwrite",
    .doc = "the old file opened as it is; a crash can leave old and new bytes mixed",
    .replaces = true,
    .open = overwrite_open,
    .finish = gather_close_fd,
};

static int settle_finish(struct gather_run *run) {
  int error = ftruncate(run->fd, (off_t)run->plan->file_bytes) < 0 ? gather_fail(run, "ftruncate", -errno) : 0;
  int close_error = gather_close_fd(run);
  return error ? error : close_error;
}

static const struct gather_create create_settle = {
    .name = "settle",
    .doc = "the same, then ftruncate to the new length; a crash can leave old and new bytes mixed",
    .replaces = true,
    .open = overwrite_open,
    .finish = settle_finish,
};

static int unlink_open(struct gather_run *run) {
  int error = remove_file(run, run->file_name);
  return error ? error : open_new(run);
}

static const struct gather_create create_unlink = {
    .name = "unlink",
    .doc = "the old file removed, then a new one; a crash in between loses both",
    .provided = GATHER_NEW_BLOCKS,
    .replaces = true,
    .open = unlink_open,
    .finish = gather_close_fd,
};

/* As careful programs do it: the file is durable before it takes the old one's place, and the directory after that. A
 * file that could not be written takes nobody's place. */
static int rename_finish(struct gather_run *run) {
  if (run->failure.call)
    return give_up(run, run->failure.error);
  int error = gather_close_fd(run);
  const int directory = run->workspace->private_fd;
  if (!error && renameat(directory, run->file_name, directory, run->saved_name) < 0)
    error = gather_fail(run, "rename", -errno);
  if (error) {
    (void)unlinkat(directory, run->file_name, 0);
    return error;
  }
  const struct gather_durability *durability = run->plan->durability;
  if (durability->sync == NULL && durability->open_flags == 0 && durability->call_flags == 0)
    return 0;
  while (fsync(directory) < 0)
    if (errno != EINTR)
      return gather_fail(run, "fsync of the directory", -errno);
  return 0;
}

static const struct gather_create create_rename = {
    .name = "rename",
    .doc = "a new file renamed over the old one; with a durability the directory is synced, too",
    .provided = GATHER_NEW_BLOCKS,
    .replaces = true,
    .renames = true,
    .open = open_new,
    .finish = rename_finish,
};

const struct gather_create *const gather_creates[] = {
    &create_new,    &create_dotnet, &create_truncate, &create_overwrite,
    &create_settle, &create_unlink, &create_rename,   NULL,
};

/* --- Around the ops. --- */

int gather_create_open(struct gather_run *run) {
  const struct gather_create *create = gather_plan_create(run->plan);
  int fd = gather_workspace_name(run, run->file_name, sizeof run->file_name);
  if (fd >= 0 && create->renames)
    fd = gather_workspace_name(run, run->saved_name, sizeof run->saved_name);
  else
    snprintf(run->saved_name, sizeof run->saved_name, "%s", run->file_name);
  if (fd < 0)
    return fd;
  return create->replaces ? gather_workspace_lay(run, run->saved_name, run->plan->file_bytes) : 0;
}

/* Waits until what the last op left has reached the device, so that the next one finds an old file that is written out,
 * or removes it, so that it finds none. */
int gather_create_prepare(struct gather_run *run) {
  const int directory = run->workspace->private_fd;
  if (!run->left)
    return 0;
  run->left = false;
  int fd = openat(directory, run->saved_name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return gather_fail(run, "open the old file", -errno);
  int error = 0;
  while (!error && fsync(fd) < 0)
    if (errno != EINTR)
      error = errno;
  if (error && !gather_is_loss(error)) {
    gather_go_without(run->workspace, "fsync of the old file", error);
    error = 0;
  }
  if (error)
    gather_fail(run, "fsync the old file", -error);
  int close_error = close(fd) < 0 ? gather_fail(run, "close", -errno) : 0;
  if (error || close_error)
    return error ? -error : close_error;
  return gather_plan_create(run->plan)->replaces ? 0 : remove_file(run, run->saved_name);
}

/* What an op may have left goes: the workspace removes the directory when it is empty. */
int gather_create_close(struct gather_run *run) {
  if (!gather_plan_keeps(run->plan))
    return 0;
  const int directory = run->workspace->private_fd;
  int error = 0;
  if (unlinkat(directory, run->saved_name, 0) < 0 && errno != ENOENT)
    error = gather_fail(run, "unlink", -errno);
  return error;
}

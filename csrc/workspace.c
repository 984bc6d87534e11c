/* workspace.c: the only files that the suite makes, and how they go away again.
 *
 * The windows of the scope `op` have no name where the system allows that. Other windows, and the files of the scope
 * `file`, have names in a private directory; the process holds a lock on that directory as long as it
 * lives, so that a later process can tell what a killed one has left behind, and removes it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define PRIVATE_PREFIX ".gatherbench-"
#define FILE_PREFIX    "file-"
#define WINDOW_PREFIX  "window-"
#define WINDOW_SEED    2 /* not the buffers' seed: a window that was not overwritten must not look as if it was */

void gather_workspace_init(struct gather_workspace *workspace, const char *dir) {
  *workspace = (struct gather_workspace){
      .dir = dir,
      .parent_fd = -1,
      .private_fd = -1,
      .mutex = PTHREAD_MUTEX_INITIALIZER,
  };
}

/* Keeps the first error of a public function, each of which begins with forget_failure. Returns the one given. */
static int fail(struct gather_workspace *workspace, const char *call, int error) {
  if (workspace->failure.call == NULL)
    workspace->failure = (struct gather_failure){call, error};
  return error;
}

static void forget_failure(struct gather_workspace *workspace) {
  workspace->failure = (struct gather_failure){0};
}

bool gather_is_loss(int error) {
  return error == EIO || error == ENOSPC || error == EDQUOT;
}

/* gather_go_without, with the mutex held. */
static void go_without(struct gather_workspace *workspace, const char *call, int error) {
  char line[128];
  snprintf(line, sizeof line, "%s: %s", call, strerror(error));
  size_t used = strlen(workspace->went_without);
  if (strstr(workspace->went_without, line) == NULL)
    snprintf(workspace->went_without + used, sizeof workspace->went_without - used, "%s%s", used ? "\n" : "", line);
}

void gather_go_without(struct gather_workspace *workspace, const char *call, int error) {
  pthread_mutex_lock(&workspace->mutex);
  go_without(workspace, call, error);
  pthread_mutex_unlock(&workspace->mutex);
}

/* Removes the files that we make in a private directory. What cannot be removed shows when the directory is. */
static void remove_files(DIR *entries) {
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
    if (strncmp(entry->d_name, FILE_PREFIX, strlen(FILE_PREFIX)) == 0 ||
        strncmp(entry->d_name, WINDOW_PREFIX, strlen(WINDOW_PREFIX)) == 0)
      (void)unlinkat(dirfd(entries), entry->d_name, 0);
}

/* Removes what is left of a directory that one of our processes made and no longer holds. Whatever
 * does not look like that is left alone; so nothing here is an error. */
static void remove_stale(int parent_fd, const char *name) {
  int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return;
  struct stat status;
  if (fstat(fd, &status) < 0 || status.st_uid != geteuid() || (status.st_mode & 07777) != 0700 ||
      flock(fd, LOCK_EX | LOCK_NB) < 0) {
    (void)close(fd);
    return;
  }
  DIR *entries = fdopendir(fd);
  if (entries == NULL) {
    (void)close(fd);
    return;
  }
  remove_files(entries);
  (void)unlinkat(parent_fd, name, AT_REMOVEDIR);
  (void)closedir(entries);
}

static int remove_all_stale(struct gather_workspace *workspace) {
  int fd = openat(workspace->parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return fail(workspace, "open directory", -errno);
  DIR *entries = fdopendir(fd);
  if (entries == NULL) {
    int error = errno;
    (void)close(fd);
    return fail(workspace, "read directory", -error);
  }
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
    if (strncmp(entry->d_name, PRIVATE_PREFIX, strlen(PRIVATE_PREFIX)) == 0)
      remove_stale(workspace->parent_fd, entry->d_name);
  return closedir(entries) < 0 ? fail(workspace, "close directory", -errno) : 0;
}

/* Opens the directory itself, and clears away what a killed run left in it. */
static int open_parent(struct gather_workspace *workspace) {
  if (workspace->parent_fd >= 0)
    return 0;
  int fd = open(workspace->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return fail(workspace, "open directory", -errno);
  workspace->parent_fd = fd;
  return remove_all_stale(workspace);
}

/* Whether the directory that private_fd stands for still is the one of that name: between being
 * made and being locked it looks like one that was left behind. */
static bool still_there(const struct gather_workspace *workspace) {
  struct stat mine, named;
  return fstat(workspace->private_fd, &mine) == 0 &&
         fstatat(workspace->parent_fd, workspace->private_name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

static int open_private(struct gather_workspace *workspace) {
  if (workspace->private_fd >= 0)
    return workspace->private_fd;
  int error = open_parent(workspace);
  if (error)
    return error;

  for (int tries = 0; tries < 100; tries++) {
    uint64_t random;
    if (getentropy(&random, sizeof random) < 0)
      return fail(workspace, "getentropy", -errno);
    snprintf(workspace->private_name, sizeof workspace->private_name, PRIVATE_PREFIX "%016llx",
             (unsigned long long)random);
    if (mkdirat(workspace->parent_fd, workspace->private_name, 0700) < 0) {
      if (errno == EEXIST)
        continue;
      return fail(workspace, "create directory", -errno);
    }
    workspace->private_fd =
        openat(workspace->parent_fd, workspace->private_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (workspace->private_fd >= 0) {
      /* Somebody who clears up may hold it for a moment, and remove it. A file system without locks leaves the
       * directory to be removed by hand if the process is killed. */
      int lock_error = flock(workspace->private_fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
      if (lock_error == EWOULDBLOCK || !still_there(workspace)) {
        (void)unlinkat(workspace->parent_fd, workspace->private_name, AT_REMOVEDIR);
        (void)close(workspace->private_fd);
        workspace->private_fd = -1;
        continue;
      }
      if (lock_error)
        go_without(workspace, "flock", lock_error);
    }
    if (workspace->private_fd < 0) {
      error = errno;
      (void)unlinkat(workspace->parent_fd, workspace->private_name, AT_REMOVEDIR);
      return fail(workspace, "open directory", -error);
    }
    return workspace->private_fd;
  }
  return fail(workspace, "create directory", -EEXIST);
}

int gather_workspace_check(struct gather_workspace *workspace, uint64_t bytes, uint64_t *free_bytes) {
  forget_failure(workspace);
  int error = open_parent(workspace);
  if (error)
    return error;
  bool told = faccessat(workspace->parent_fd, ".", W_OK | X_OK, AT_EACCESS) == 0;
  if (!told && (errno == EACCES || errno == EROFS))
    return fail(workspace, "write to directory", -errno);
  error = gather_free_bytes(workspace->dir, free_bytes);
  if (!error && *free_bytes < bytes)
    return fail(workspace, "make files", -ENOSPC);
  if (error && error != -ENOSYS)
    gather_go_without(workspace, "statvfs", -error); /* only writing tells whether there is room */
  if (told)
    return 0;
  /* The call itself was refused, as by a filter that does not know it: only trying tells. */
  pthread_mutex_lock(&workspace->mutex);
  int private_fd = open_private(workspace);
  pthread_mutex_unlock(&workspace->mutex);
  return private_fd < 0 ? private_fd : 0;
}

/* A new file in the private directory; a descriptor or -errno. */
static int create_window(struct gather_workspace *workspace, char *name, size_t size) {
  int private_fd = open_private(workspace);
  if (private_fd < 0)
    return private_fd;
  snprintf(name, size, WINDOW_PREFIX "%u", workspace->files++);
  int fd = openat(private_fd, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
  return fd < 0 ? fail(workspace, "create file", -errno) : fd;
}

/* The path by which an open file without a name can be opened anew. */
static void path_of(int fd, char path[32]) {
  snprintf(path, 32, "/proc/self/fd/%d", fd);
}

/* A new file without a name; -EOPNOTSUPP where the system or the file system has no such thing, or where it could not
 * be opened anew, for there is no /proc. */
static int create_nameless(struct gather_workspace *workspace) {
#ifdef __linux__
  char path[32];
  int fd = openat(workspace->parent_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0 && errno != EISDIR && errno != ENOENT && !gather_is_unavailable(errno))
    return fail(workspace, "create file", -errno);
  if (fd >= 0) {
    path_of(fd, path);
    if (access(path, F_OK) == 0)
      return fd;
    (void)close(fd);
  }
#else
  (void)workspace;
#endif
  return -EOPNOTSUPP;
}

/* The file of a window. One that has a name keeps it until the workspace is closed: some file systems cannot open a
 * file anew that has lost its name. */
static int open_window(struct gather_workspace *workspace, struct gather_window *window) {
  int fd = create_nameless(workspace);
  return fd == -EOPNOTSUPP ? create_window(workspace, window->name, sizeof window->name) : fd;
}

/* A descriptor of its own has a position and flags of its own, and yet writes the same pages. */
static int reopen_window(struct gather_workspace *workspace, const struct gather_window *window, int flags) {
  if (*window->name)
    return openat(workspace->private_fd, window->name, flags | O_NOFOLLOW);
  char path[32];
  path_of(window->fd, path);
  return open(path, flags);
}

/* fsync, repeated after signals; 0 or an error number. */
static int sync_file(int fd) {
  while (fsync(fd) < 0)
    if (errno != EINTR)
      return errno;
  return 0;
}

/* Where a file cannot be synced at all it is as clean as it can be; what was lost is an error. */
static int sync_window(struct gather_workspace *workspace, int fd, const char *operation) {
  int error = sync_file(fd);
  if (error && gather_is_loss(error))
    return fail(workspace, operation, -error);
  if (error)
    go_without(workspace, "fsync of the window", error);
  return 0;
}

/* Writes bytes [from, to) of a window or an old file, so that blocks and pages exist before anything is
 * timed. */
static int fill(struct gather_workspace *workspace, int fd, uint64_t from, uint64_t to, size_t piece,
                const char *write_call, const char *sync_call) {
  char *chunk = malloc(piece);
  if (chunk == NULL)
    return fail(workspace, "malloc", -ENOMEM);
  int error = 0;
  while (from < to) {
    size_t bytes = to - from < piece ? (size_t)(to - from) : piece;
    gather_fill(chunk, bytes, WINDOW_SEED + from);
    ssize_t result = pwrite(fd, chunk, bytes, (off_t)from);
    if (result > 0) {
      from += (uint64_t)result;
    } else if (result == 0 || errno != EINTR) {
      error = fail(workspace, write_call, result == 0 ? -EIO : -errno);
      break;
    }
  }
  free(chunk);
  return error ? error : sync_window(workspace, fd, sync_call);
}

/* Ends what was done for a run: its failure is the run's, noted before another thread's takes its place. */
static int release(struct gather_run *run, int result) {
  if (result < 0)
    gather_fail(run, run->workspace->failure.call, result);
  pthread_mutex_unlock(&run->workspace->mutex);
  return result;
}

int gather_workspace_name(struct gather_run *run, char *name, size_t size) {
  struct gather_workspace *workspace = run->workspace;
  pthread_mutex_lock(&workspace->mutex);
  forget_failure(workspace);
  int fd = open_private(workspace);
  if (fd >= 0)
    snprintf(name, size, FILE_PREFIX "%u", workspace->files++);
  return release(run, fd);
}

static int lay(struct gather_workspace *workspace, const char *name, uint64_t bytes, size_t piece) {
  int fd = openat(workspace->private_fd, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0)
    return fail(workspace, "create the old file", -errno);
  int error = fill(workspace, fd, 0, bytes, piece, "write the old file", "fsync the old file");
  if (close(fd) < 0 && !error)
    error = fail(workspace, "close the old file", -errno);
  if (error)
    (void)unlinkat(workspace->private_fd, name, 0); /* the first error is the one to tell */
  return error;
}

int gather_workspace_lay(struct gather_run *run, const char *name, uint64_t bytes) {
  struct gather_workspace *workspace = run->workspace;
  pthread_mutex_lock(&workspace->mutex);
  forget_failure(workspace);
  return release(run, lay(workspace, name, bytes, gather_plan_piece_bytes(run->plan)));
}

/* The window of that number, made if need be, of that length at least and laid in such pieces; NULL with *error set. */
static struct gather_window *grow_window(struct gather_workspace *workspace, unsigned index, uint64_t bytes,
                                         size_t piece, int *error) {
  *error = open_parent(workspace);
  if (*error)
    return NULL;
  if (index >= workspace->windows_count) {
    struct gather_window *windows = realloc(workspace->windows, (index + 1) * sizeof *windows);
    if (windows == NULL) {
      *error = fail(workspace, "malloc", -ENOMEM);
      return NULL;
    }
    for (unsigned i = workspace->windows_count; i <= index; i++)
      windows[i] = (struct gather_window){.fd = -1};
    workspace->windows = windows;
    workspace->windows_count = index + 1;
  }
  struct gather_window *window = &workspace->windows[index];
  if (window->fd < 0) {
    int fd = open_window(workspace, window);
    if (fd < 0) {
      *error = fd;
      return NULL;
    }
    window->fd = fd;
  }
  if (window->piece != piece && window->bytes > 0) {
    /* Anew, for only pages that are gone can come back as other folios. */
    bytes = window->bytes > bytes ? window->bytes : bytes;
    window->bytes = 0;
    if (ftruncate(window->fd, 0) < 0) {
      *error = fail(workspace, "ftruncate the window", -errno);
      return NULL;
    }
  }
  window->piece = piece;
  if (window->bytes < bytes) {
    *error = fill(workspace, window->fd, window->bytes, bytes, piece, "write the window", "fsync the window");
    if (*error)
      return NULL;
    window->bytes = bytes;
  }
  return window;
}

int gather_workspace_window(struct gather_run *run, unsigned index, uint64_t bytes, int open_flags) {
  struct gather_workspace *workspace = run->workspace;
  pthread_mutex_lock(&workspace->mutex);
  forget_failure(workspace);
  int result;
  struct gather_window *window = grow_window(workspace, index, bytes, gather_plan_piece_bytes(run->plan), &result);
  if (window) {
    result = reopen_window(workspace, window, O_RDWR | O_CLOEXEC | open_flags);
    if (result < 0)
      result = fail(workspace, "open the window", -errno);
  }
  return release(run, result);
}

int gather_workspace_sync(struct gather_run *run) {
  struct gather_workspace *workspace = run->workspace;
  pthread_mutex_lock(&workspace->mutex);
  forget_failure(workspace);
  int error = 0;
  for (unsigned i = 0; i < workspace->windows_count && !error; i++)
    if (workspace->windows[i].fd >= 0)
      error = sync_window(workspace, workspace->windows[i].fd, "fsync after the run");
  /* The deletion of files is on its way until the directory is synced; nothing that was measured is. */
  if (!error && workspace->private_fd >= 0) {
    int directory_error = sync_file(workspace->private_fd);
    if (directory_error)
      go_without(workspace, "fsync of the directory", directory_error);
  }
  return release(run, error);
}

/* Removes the private directory; if that fails, once more after what earlier errors may have left in it. */
static int remove_private(const struct gather_workspace *workspace) {
  if (unlinkat(workspace->parent_fd, workspace->private_name, AT_REMOVEDIR) == 0)
    return 0;
  int fd = openat(workspace->private_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = fd < 0 ? NULL : fdopendir(fd);
  if (entries) {
    remove_files(entries);
    (void)closedir(entries);
  } else if (fd >= 0) {
    (void)close(fd);
  }
  return unlinkat(workspace->parent_fd, workspace->private_name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

int gather_workspace_close(struct gather_workspace *workspace) {
  forget_failure(workspace);
  int error = 0;
  for (unsigned i = 0; i < workspace->windows_count; i++) {
    const struct gather_window *window = &workspace->windows[i];
    if (window->fd < 0)
      continue;
    /* First closed, for a network file system gives a file that is removed while it is open another name. */
    if (close(window->fd) < 0)
      error = fail(workspace, "close the window", -errno);
    if (*window->name && unlinkat(workspace->private_fd, window->name, 0) < 0)
      error = fail(workspace, "unlink the window", -errno);
  }
  free(workspace->windows);
  gather_probes_free(workspace);
  char left[sizeof workspace->private_name] = "";
  if (workspace->private_fd >= 0) {
    int remove_error = remove_private(workspace);
    if (remove_error)
      memcpy(left, workspace->private_name, sizeof left);
    if (remove_error && !error)
      error = fail(workspace, "remove directory", remove_error);
    if (close(workspace->private_fd) < 0 && !error)
      error = fail(workspace, "close directory", -errno);
  }
  if (workspace->parent_fd >= 0 && close(workspace->parent_fd) < 0 && !error)
    error = fail(workspace, "close directory", -errno);
  /* All but the mutex, which the caller may hold to keep other threads out. */
  workspace->windows = NULL;
  workspace->windows_count = workspace->files = 0;
  workspace->private_fd = workspace->parent_fd = -1;
  memcpy(workspace->private_name, left, sizeof left);
  return error;
}

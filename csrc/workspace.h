/* workspace.h: the directory that files are made in, and how all of them go away again. Functions return 0 or -errno;
 * the workspace's `failure` then says
 * which call failed. */
#ifndef GATHER_WORKSPACE_H
#define GATHER_WORKSPACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "failure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A file that `op` overwrites. */
struct gather_window {
  int fd;         /* -1 before it is needed */
  uint64_t bytes; /* its length, all of it written */
  size_t piece;   /* in pieces of so many bytes */
  char name[24];  /* where it needs one */
};

/* Where files are made: DIR, and in it, once it is needed, a private directory that nobody else may enter. */
struct gather_workspace {
  const char *dir;               /* as the user gave it */
  struct gather_failure failure; /* of the latest call of a function that failed */
  int parent_fd;                 /* DIR; -1 before it is needed */
  int private_fd;                /* the private directory, which this process holds locked; -1 before it is needed */
  char private_name[32];
  char went_without[1024];       /* what was refused and is not needed to measure: lines such as "flock: Bad file
                                    descriptor", each once */
  unsigned files;                /* names given out so far */
  struct gather_window *windows; /* one for each thread that has a file of its own */
  unsigned windows_count;
  struct gather_probe *probes; /* what gather_plan_probe has found so far; it alone uses it */
  pthread_mutex_t mutex;       /* over all of the above */
};

/* Whether an error of fsync(2) says that what was written is lost. Others say that the call itself is refused. */
bool gather_is_loss(int error);

/* A workspace in `dir`, which must outlive it; touches no file yet. */
void gather_workspace_init(struct gather_workspace *workspace, const char *dir);

/* Whether files of `bytes` bytes in all can be made: -EACCES, -EROFS, -ENOTDIR and the like where nothing can be made
 * in the directory, -ENOSPC where *free_bytes, which is set in that case too, is less. A file system that does not tell
 * how much is free is taken to have enough; where access rights cannot be asked for, a directory is made. */
int gather_workspace_check(struct gather_workspace *workspace, uint64_t bytes, uint64_t *free_bytes);

/* Removes all that was made. Returns the first error, and goes on after it; private_name is then the directory that is
 * left, or "". */
int gather_workspace_close(struct gather_workspace *workspace);

#ifdef __cplusplus
}
#endif

#endif

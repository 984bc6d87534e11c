/* directory.c: checks for room before a run, and leaves nothing behind after it. */
#include <string.h>

#include "directory.h"
#include "printable.h"

bool directory_check(const struct options *options, struct gather_workspace *workspace) {
  uint64_t bytes = options_disk_bytes(options);
  if (bytes == 0)
    return true;
  bytes += bytes / 20 < UINT64_MAX - bytes ? bytes / 20 : UINT64_MAX - bytes;
  uint64_t free_bytes = UINT64_MAX; /* not yet known */
  int error = gather_workspace_check(workspace, bytes, &free_bytes);
  if (free_bytes < bytes)
    complain("%s: %.1f MB are needed and %.1f MB are free", options->dir, (double)bytes / 1e6,
             (double)free_bytes / 1e6);
  else if (error)
    complain("%s %s: %s", workspace->failure.call, options->dir, strerror(-error));
  return error == 0;
}

bool directory_close(struct gather_workspace *workspace) {
  int error = gather_workspace_close(workspace);
  if (error)
    complain("%s in %s: %s", workspace->failure.call, workspace->dir, strerror(-error));
  if (*workspace->private_name)
    complain("%s/%s is left; the next run there removes it", workspace->dir, workspace->private_name);
  return error == 0;
}

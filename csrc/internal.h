/* internal.h: what the files of csrc tell each other and nobody else. */
#ifndef GATHER_INTERNAL_H
#define GATHER_INTERNAL_H

#include "config.h"
#include "environment.h"
#include "gather.h"
#include "port.h"
#include "workspace.h"

/* What the compiler cannot know: the branch is for short writes, signals and errors. */
#define GATHER_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* The most bytes of one call: whole pages, fewer than 2 GiB. Linux returns short beyond (0x7ffff000 where a page has
 * 4096 bytes; write(2), Notes); macOS refuses more than INT_MAX. */
size_t gather_call_bytes_max(void);

/* Keeps the first failure of a run, and returns `error`, which is -errno. Cold: no error may cost the timed path
 * anything.
 */
__attribute__((cold, noinline)) int gather_fail(struct gather_run *run, const char *call, int error);

/* The most entries that one call takes. */
size_t gather_iov_max(void);

/* Whether an error says "not here" or "not for you", rather than that something broke. */
bool gather_is_unavailable(int error);

/* Fills memory with bytes that no file system can compress; equal seeds give equal bytes. */
void gather_fill(char *memory, size_t bytes, uint64_t seed);

/* batch.c */

/* Allocates the bytes of the plan's buffers in run->memory and the batches over them. */
int gather_batches_open(struct gather_run *run);
void gather_batches_close(struct gather_run *run);

/* target.c */

/* The flags for open(2) that the plan's durability and its way past the page cache ask for. */
int gather_open_flags(const struct gather_plan *plan);

/* Closes run->fd. */
int gather_close_fd(struct gather_run *run);

/* create.c: around the ops of the scope `file` on the target `file`, untimed. Each returns -errno after gather_fail. */

int gather_create_open(struct gather_run *run);
int gather_create_prepare(struct gather_run *run);
int gather_create_close(struct gather_run *run);

/* probe.c */

void gather_probes_free(struct gather_workspace *workspace);

/* verify.c */

/* A descriptor of its own, past O_DIRECT's rules, for what the run wrote; or -errno. */
int gather_open_for_reading(struct gather_run *run);

/* Closes it; the first error is the one to tell, so that `error` is returned where it is one. */
int gather_close_after_reading(struct gather_run *run, int fd, int error);

/* workspace.c: of the run's workspace, which threads share. Each returns -errno after gather_fail. */

/* File number `index` of those that `op` overwrites, at least `bytes` long and laid as the plan says, opened anew with
 * open_flags beside O_RDWR. All callers with the same index write the same pages, which were written before. */
int gather_workspace_window(struct gather_run *run, unsigned index, uint64_t bytes, int open_flags);

/* The private directory, made if need be, and in name[size] a file name that nobody else in it has. The descriptor
 * stays the workspace's. */
int gather_workspace_name(struct gather_run *run, char *name, size_t size);

/* A file of that name in the private directory, all of its bytes written and made durable; nothing stays of it after an
 * error. */
int gather_workspace_lay(struct gather_run *run, const char *name, uint64_t bytes);

/* Notes once that the measurement goes on without what a call would have done: workspace->went_without. */
void gather_go_without(struct gather_workspace *workspace, const char *call, int error);

/* Waits until all that was written in the workspace so far has reached the device. */
int gather_workspace_sync(struct gather_run *run);

/* proc.c: the kernel's text files. */

/* Calls on_line for each line of a file until it returns true; -ENOENT if it never does. */
int gather_scan(const char *path, bool (*on_line)(char *line, void *context), void *context);

/* Reads the first line of a file into line[size], without its newline; -ENODATA where there is none. */
int gather_read_line(const char *path, char *line, size_t size);

/* What a "key: value" or "key : value" line says of a key. */
struct gather_field {
  const char *key;
  char value[256];
};

/* For gather_scan: whether the line is the key's, whose value it then puts into the struct gather_field. */
bool gather_read_field(char *line, void *field);

/* The number that a line of that key begins its value with; -ENOSYS where there is no such file or line. */
int gather_read_number(const char *path, const char *key, uint64_t *number);

/* A line of /proc/self/mountinfo (proc(5)): id parent major:minor root mount-point options [fields] - type source
 * super-options. */
struct gather_mount {
  uint64_t id;
  char type[64], source[256];
  char options[4096 + 256]; /* the mount's and the file system's; the latter have a page at most */
};

/* The mount that a directory lies in; -ENOSYS or another error where that is not told. */
int gather_mount_find(const char *dir, struct gather_mount *mount);

#endif

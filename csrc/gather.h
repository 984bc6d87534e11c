/* gather.h: how N buffers are written: tables of what can be combined, and the running of one
 * combination. What the machine is stands in environment.h, where files are made in workspace.h.
 *
 * A plan says what is to be measured. It is opened (untimed), its op is run any number of times
 * (timed), and it is closed (untimed). Functions that can fail return 0 or -errno; the `failure`
 * of the object that they were given then names the call that failed first. Bytes are bytes,
 * never KiB; times are nanoseconds (`_ns`).
 */
#ifndef GATHER_H
#define GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "failure.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gather_batch;
struct gather_run;
struct gather_workspace;

/* What a part of a plan requires and what another part provides. A plan is refused if it requires a bit
 * that nothing in it provides; the reasons stand in one table in plan.c. */
enum gather_capability {
  GATHER_OFFSETS = 1 << 0,     /* the target has offsets, so that a call can name where to write */
  GATHER_DURABLE = 1 << 1,     /* what is written to the target can be made durable */
  GATHER_WRITES = 1 << 2,      /* the strategy writes something */
  GATHER_REOPENED = 1 << 3,    /* the target can be opened anew in each op */
  GATHER_IS_FILE = 1 << 4,     /* the target has blocks that can be allocated in advance */
  GATHER_WHOLE_FILE = 1 << 5,  /* the scope makes a file in each op */
  GATHER_CALL_FLAGS = 1 << 6,  /* the strategy's calls take flags of their own */
  GATHER_ALIGNED = 1 << 7,     /* the strategy's memory is aligned as O_DIRECT needs it */
  GATHER_SYNC_CALL = 1 << 8,   /* the durability acts in a call of its own, after the batch */
  GATHER_WINDOWED = 1 << 9,    /* the scope overwrites a window */
  GATHER_NEW_BLOCKS = 1 << 10, /* the file of an op begins without blocks */
  GATHER_COUNTED = 1 << 11,    /* the kernel counts the strategy's calls as the thread's write calls (proc(5), syscw) */
  GATHER_SYNCS = 1 << 12,      /* the strategy takes the durability's sync into what it submits: none comes after it */
};

/* How a strategy divides a batch into system calls. */
enum gather_call_shape {
  GATHER_PER_BUFFER, /* a call a buffer */
  GATHER_VECTORED,   /* a call for as many buffers as the system takes at once */
  GATHER_CONTIGUOUS, /* a call for all bytes, which lie together */
};

/* How many calls a batch takes that meets no short write, signal or error. */
enum gather_batch_calls {
  GATHER_CALLS_OF_SHAPE,   /* those that the call shape makes of it */
  GATHER_CALLS_PER_BUFFER, /* one a buffer, whatever the shape */
  GATHER_CALLS_OF_LIBRARY, /* as many as a library finds right */
};

/* How a batch is written. */
struct gather_strategy {
  const char *name;
  const char *doc;                         /* one line */
  const char *call;                        /* its system call, for messages and --list; NULL for none */
  const char *positioned_call;             /* NULL, or the call in its place where the target has offsets */
  unsigned required;                       /* of the rest of the plan: gather_capability bits */
  unsigned provided;                       /* gather_capability bits */
  enum gather_call_shape shape;            /* how a batch becomes calls */
  enum gather_batch_calls batch_calls;     /* how many */
  const char *(*unavailable_reason)(void); /* NULL, or a function that returns NULL or why this system lacks it */
  /* NULL, or tries the system call itself, without bytes, where the C library might put another one in its place:
   * returns 0 or -errno. */
  int (*try_call)(void);
  int (*open)(struct gather_run *run);   /* untimed, or NULL; keeps what it needs in run->state */
  void (*close)(struct gather_run *run); /* untimed, or NULL */
  /* Writes the whole batch, from `offset` on where the strategy is positioned. */
  int (*write)(struct gather_run *run, const struct gather_batch *batch, int64_t offset);
};

/* How what was written is made durable. It acts when the file is opened, in each write call, or in
 * a call afterwards. */
struct gather_durability {
  const char *name;
  const char *doc;   /* one line */
  unsigned required; /* gather_capability bits */
  int open_flags;    /* for open(2), or 0 */
  int call_flags;    /* for each pwritev2(2), or 0 */
  const char *(*unavailable_reason)(void);
  int (*sync)(int fd);   /* the call afterwards, or NULL; returns 0 or -errno */
  const char *sync_call; /* its name, for messages */
};

/* What is written to. In the scope `op` it is opened and closed untimed; in the scope `file` each op opens and closes
 * it, but for a file, which is created as the plan's `create` says. */
struct gather_target {
  const char *name;
  const char *doc;   /* one line */
  unsigned provided; /* gather_capability bits */
  int (*open)(struct gather_run *run);
  int (*close)(struct gather_run *run);
};

/* How the file of an op comes to be, and how it ends: the scope `file` on the target `file`. Both functions are timed.
 */
struct gather_create {
  const char *name;
  const char *doc;   /* one line: the calls, and what a crash can lose where the old file is replaced */
  unsigned provided; /* gather_capability bits */
  bool replaces;     /* there is an old file of the same length, and the new one stays in its place */
  bool renames;      /* the file is written under another name */
  /* Sets run->fd; after an error nothing is open. */
  int (*open)(struct gather_run *run);
  /* Closes run->fd, also after a write that failed, which run->failure tells. */
  int (*finish)(struct gather_run *run);
};

/* What one timed op is. */
struct gather_scope {
  const char *name;
  const char *doc;                      /* one line */
  unsigned required;                    /* gather_capability bits */
  unsigned provided;                    /* gather_capability bits */
  int (*open)(struct gather_run *run);  /* untimed: chooses run->op */
  int (*close)(struct gather_run *run); /* untimed */
};

/* The tables; each ends with NULL. A new row touches one file, and tests, benchmark and --list pick
 * it up. */
extern const struct gather_strategy *const gather_strategies[];
extern const struct gather_durability *const gather_durabilities[];
extern const struct gather_target *const gather_targets[];
extern const struct gather_scope *const gather_scopes[];
extern const struct gather_create *const gather_creates[]; /* the first is the usual one */

/* The row of that name, or NULL. */
const struct gather_strategy *gather_strategy_find(const char *name);
const struct gather_durability *gather_durability_find(const char *name);
const struct gather_target *gather_target_find(const char *name);
const struct gather_scope *gather_scope_find(const char *name);
const struct gather_create *gather_create_find(const char *name);

enum {
  GATHER_SIZES_MAX = 8,  /* parts of a pattern of sizes */
  GATHER_NAME_MAX = 256, /* bytes of a plan's name, with its NUL */
  GATHER_KEYS_MAX = 20,  /* keys of a plan */
};

#define GATHER_WINDOW_BYTES (UINT64_C(64) << 20) /* the window that `op` overwrites unless the plan says otherwise */

/* In what pieces the window or the old file was written that an op finds. The page cache keeps what was written at once
 * as one folio where the file system can, and a later write into a folio may cost more the larger it is. */
enum gather_laid {
  GATHER_LAID_BY_PAGES,  /* of 4,096 bytes */
  GATHER_LAID_IN_PIECES, /* of the plan's first size */
  GATHER_LAID_AT_ONCE,   /* as large as the page cache's folios can be */
  GATHER_LAIDS,
};
extern const char *const gather_laid_names[GATHER_LAIDS];

/* What is to be measured. */
struct gather_plan {
  const struct gather_scope *scope;
  const struct gather_strategy *strategy;
  const struct gather_target *target;
  const struct gather_durability *durability;
  size_t count;                       /* buffers in a batch */
  size_t sizes[GATHER_SIZES_MAX];     /* bytes of a buffer; a pattern's parts are used in turn */
  unsigned sizes_count;               /* parts used, at least 1 */
  uint64_t window_bytes;              /* `op` on a file: the bytes that are overwritten, from the start again at
                                         their end */
  uint64_t file_bytes;                /* `file`: the bytes of each file */
  const struct gather_create *create; /* `file`: how the file comes to be; NULL is the usual way */
  bool keep;                          /* `file`: an op leaves its file, which is removed untimed */
  enum gather_laid laid;              /* on a file: how what an op finds was written */
  bool preallocate;                   /* `file`: allocate all blocks after opening */
  bool direct;                        /* past the page cache: O_DIRECT */
  bool sync_each;                     /* `file`: make each batch durable, not only the whole file at its end */
  bool reuse_buffer;                  /* all buffers of a batch are the same memory, as in the blog's loop */
  bool shared_file;                   /* `op`: all threads write one file, each a window of its own in it */
  bool verify;                        /* stream targets: the reader compares what it gets; see also gather_verify */
  bool pinned;                        /* the writing thread stays on `cpu` while the run is open */
  unsigned cpu;
  unsigned threads; /* that run the plan at the same time; 0 is 1 */
};

/* The bytes of a plan's buffer `index`, and of a whole batch. */
size_t gather_plan_buffer_bytes(const struct gather_plan *plan, size_t index);
uint64_t gather_plan_batch_bytes(const struct gather_plan *plan);

/* The bytes that one op writes, and the buffers. */
uint64_t gather_plan_op_bytes(const struct gather_plan *plan);
uint64_t gather_plan_op_buffers(const struct gather_plan *plan);

/* The bytes that the plan needs on a file system at any one time; 0 where it makes no file. */
uint64_t gather_plan_disk_bytes(const struct gather_plan *plan);

/* How the file of an op comes to be, and whether it is there when the op has ended. */
const struct gather_create *gather_plan_create(const struct gather_plan *plan);
bool gather_plan_keeps(const struct gather_plan *plan);

/* Whether an op finds a window or an old file, which was laid before. */
bool gather_plan_finds_bytes(const struct gather_plan *plan);

/* The bytes of each write by which that was laid. */
size_t gather_plan_piece_bytes(const struct gather_plan *plan);

/* The threads that run the plan at the same time, at least 1. */
unsigned gather_plan_threads(const struct gather_plan *plan);

/* `op` on a file: the number of the file that a thread overwrites, among those of the workspace. What goes past the
 * page cache has files of its own, for it would push the others' pages out. */
unsigned gather_plan_window_index(const struct gather_plan *plan, unsigned thread);

/* NULL, or the reason why the plan makes no sense or this system lacks a part of it. Touches no file. */
const char *gather_plan_refuse(const struct gather_plan *plan);

/* What only a real transfer can tell: whether the plan's calls are there and allowed, its target can be opened, and
 * this very directory takes its flags (O_DIRECT, RWF_DSYNC). Returns 0 if so, 1 with the reason in reason[size] if not,
 * or -errno, with the reason too, where the attempt itself failed. Plans that make the same calls are tried once for
 * each workspace. Not for several threads at once. */
int gather_plan_probe(const struct gather_plan *plan, struct gather_workspace *workspace, char *reason, size_t size);

/* One of the things that tell a plan from others: what it is called and its value, as on the command line. */
struct gather_plan_key {
  const char *key;
  char value[GATHER_NAME_MAX];
};

/* Writes the plan's keys into keys[GATHER_KEYS_MAX], in the order of its name; what has its usual value is left out,
 * and so are the threads, which are no part of the name. Returns their number, or -ENAMETOOLONG where a value does not
 * fit.
 */
int gather_plan_keys(const struct gather_plan *plan, struct gather_plan_key *keys);

/* Writes the plan's name, in Google Benchmark's key:value style, into name[size]; what has its
 * usual value is left out. Returns its length, or -ENAMETOOLONG. */
int gather_plan_name(const struct gather_plan *plan, char *name, size_t size);

/* One system call that a batch is divided into. */
struct gather_call {
  struct iovec *iov;
  int count;    /* entries of iov, at most the system's IOV_MAX */
  size_t bytes; /* their sum, at most what the system takes in one call */
};

/* A batch of buffers, and the calls that a strategy's call shape makes of it. */
struct gather_batch {
  struct iovec *buffers; /* as a user would have them */
  size_t buffers_count;
  char *staging;        /* GATHER_CONTIGUOUS: room for all bytes, filled with them; else NULL */
  struct iovec *pieces; /* what the calls point to: buffers or staging, cut where one is too long
                           for a call */
  struct gather_call *calls;
  size_t calls_count;
  uint64_t bytes;
};

/* What happened since the run was opened. */
struct gather_stats {
  uint64_t calls;        /* write calls made, failed and repeated ones included */
  uint64_t short_writes; /* calls that wrote less than they were given */
  uint64_t sync_ns;      /* time in the calls that make what was written durable; two clock reads each */
  uint64_t open_ns;      /* `file`: time in creating the file, */
  uint64_t write_ns;     /* in writing it, */
  uint64_t close_ns;     /* and in closing it, with what removes or renames it */
};

/* An open plan. Callers read it, and may set `inspect` after gather_open; nothing else of it. */
struct gather_run {
  /* Read and written while time is taken, in the order of an op. */
  int (*op)(struct gather_run *run);
  int (*write)(struct gather_run *run, const struct gather_batch *batch, int64_t offset); /* the strategy's */
  int (*sync)(int fd);    /* the durability's call after a batch; NULL for none, or where the strategy makes it */
  void *state;            /* of the strategy, from its `open` to its `close` */
  int fd;                 /* what is written to; -1 where nothing is open */
  int call_flags;         /* the durability's, for strategies that provide GATHER_CALL_FLAGS */
  bool positioned;        /* the target has offsets: a strategy that works with and without uses them */
  bool rewinds;           /* `op`: the calls move the file's position, which goes back at the window's end */
  int64_t position;       /* `op`: offset of the next batch */
  int64_t position_begin; /* `op`: offset of the window in its file */
  int64_t position_end;   /* `op`: the last offset at which a batch still fits into the window */
  int (*open_file)(struct gather_run *run);  /* `file`: what opens the file in each op, */
  int (*sync_file)(int fd);                  /* makes all of it durable, or NULL, */
  int (*close_file)(struct gather_run *run); /* and closes it */
  struct gather_stats stats;
  struct gather_batch batch;     /* what an op writes, once or again and again */
  struct gather_batch remainder; /* `file`: what is left when whole batches no longer fit; bytes is 0 if nothing is */
  uint64_t batches;              /* `file`: whole batches a file */
  uint64_t ops;                  /* stream targets: ops that wrote all their bytes */
  const struct gather_plan *plan;
  /* `file`: called in each op before the file is deleted, to look at it; NULL in timed runs. Returns 0 or -errno. */
  int (*inspect)(struct gather_run *run);
  struct gather_workspace *workspace;
  char file_name[24];  /* `file`: the name in the workspace's private directory that is written to */
  char saved_name[24]; /* `file`: the name under which the file stands when an op has ended */
  int lock_error;      /* `file`: 0, or the error number of the latest lock that was refused */
  bool locked;         /* `file`: the file at hand */
  bool left;           /* `file`: the latest op has left its file there */

  /* Read when it is opened, when it is closed, and after an error. */
  struct gather_failure failure;    /* what failed first since it was opened */
  unsigned thread;                  /* which of the plan's threads this is, from 0 */
  char *memory;                     /* the bytes of all buffers */
  size_t memory_bytes;              /* of it */
  struct gather_reader *reader;     /* stream targets: the thread that drains them */
  struct gather_affinity *affinity; /* a pinned run: where the thread ran before */
};

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t gather_clock_ns(void);

/* Opens a plan that is not refused, for the calling thread, which is number `thread` of the plan's threads. The plan
 * and the workspace must outlive the run; threads may share them. On an error nothing stays open, and run->failure
 * says what failed. */
int gather_open(struct gather_run *run, const struct gather_plan *plan, struct gather_workspace *workspace,
                unsigned thread);

/* Makes ready what the next op finds, such as an old file that is written out. Untimed, and needed before each op of a
 * plan for which gather_plan_keeps; others have nothing to prepare. */
int gather_prepare(struct gather_run *run);

/* One op, the timed path. -EIO is also returned where a call wrote nothing at all of what it was
 * given. */
static inline int gather_op(struct gather_run *run) {
  return run->op(run);
}

/* Closes a run that gather_open opened, and on a file waits until what was written has reached the device: writing back
 * is over before anything else is timed, and every run finds its window clean. All is released even if it returns an
 * error, which is the first; run->failure says what failed. */
int gather_close(struct gather_run *run);

/* Reads back what the last op wrote and compares it: 0 where all bytes are right, -EBADMSG where
 * not, -errno where reading failed. In the scope `file` it is for run->inspect; in the scope `op`
 * it is called after an op. Targets that keep no bytes, and strategies that write none, return 0.
 */
int gather_verify(struct gather_run *run);

/* One op whose bytes are then read back and compared, untimed: on a file of the scope `op`, what lay there before is
 * overwritten first. Errors are those of gather_op and gather_verify. */
int gather_verified_op(struct gather_run *run);

#ifdef __cplusplus
}
#endif

#endif

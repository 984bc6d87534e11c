/* target.c: what is written to. A new target is its functions, the row below them, and an entry in
 * the table. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "internal.h"

int gather_close_fd(struct gather_run *run) {
  int fd = run->fd;
  run->fd = -1;
  /* Not repeated after EINTR: the descriptor is gone all the same (close(2), on Linux). */
  return close(fd) < 0 ? gather_fail(run, "close", -errno) : 0;
}

int gather_open_flags(const struct gather_plan *plan) {
  return plan->durability->open_flags | (plan->direct ? O_DIRECT : 0);
}

/* A file's `open` takes the window that every row overwrites. */
static int file_open(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  uint64_t bytes = plan->shared_file ? plan->window_bytes * gather_plan_threads(plan) : plan->window_bytes;
  int fd = gather_workspace_window(run, gather_plan_window_index(plan, run->thread), bytes, gather_open_flags(plan));
  if (fd < 0)
    return fd;
  run->fd = fd;
  return 0;
}

static const struct gather_target target_file = {
    .name = "file",
    .doc = "a file in the directory given",
    .provided = GATHER_OFFSETS | GATHER_DURABLE | GATHER_REOPENED | GATHER_IS_FILE,
    .open = file_open,
    .close = gather_close_fd,
};

static int null_open(struct gather_run *run) {
  run->fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  return run->fd < 0 ? gather_fail(run, "open", -errno) : 0;
}

static const struct gather_target target_null = {
    .name = "null",
    .doc = "/dev/null: what the calls cost without a file system",
    .provided = GATHER_OFFSETS | GATHER_REOPENED,
    .open = null_open,
    .close = gather_close_fd,
};

/* --- Streams: what is written must be read, by a thread that the run owns. --- */

/* More than a socket holds, or a pipe, which has 16 pages, so that the reader empties it in one call. */
static size_t reader_bytes(void) {
  const size_t pipe = 16 * (size_t)sysconf(_SC_PAGESIZE), least = 256 << 10;
  return pipe > least ? pipe : least;
}

struct gather_reader {
  pthread_t thread;
  int fd;
  char *memory;
  size_t memory_bytes;
  uint64_t bytes;                    /* read so far */
  int error;                         /* 0, or the first error of a read, or EBADMSG for a wrong byte */
  const struct gather_batch *expect; /* what comes, again and again; NULL where only bytes are counted */
  size_t buffer, offset;             /* where in `expect` the next byte stands */
};

/* Compares what came with the batch, and goes on in it. */
static bool is_expected(struct gather_reader *reader, const char *memory, size_t bytes) {
  const struct gather_batch *batch = reader->expect;
  while (bytes > 0) {
    const struct iovec *buffer = &batch->buffers[reader->buffer];
    size_t length = buffer->iov_len - reader->offset;
    if (length > bytes)
      length = bytes;
    if (memcmp(memory, (const char *)buffer->iov_base + reader->offset, length) != 0)
      return false;
    memory += length;
    bytes -= length;
    reader->offset += length;
    if (reader->offset == buffer->iov_len) {
      reader->offset = 0;
      reader->buffer = (reader->buffer + 1) % batch->buffers_count;
    }
  }
  return true;
}

/* Reads until the writer closes its end; it sleeps in read(2) in between. After a wrong byte it goes on draining, and
 * after an error it closes its end, for the writer must not wait for it. */
static void *drain(void *context) {
  struct gather_reader *reader = context;
  for (;;) {
    ssize_t result = read(reader->fd, reader->memory, reader->memory_bytes);
    if (result == 0)
      return NULL;
    if (result < 0) {
      if (errno == EINTR)
        continue;
      reader->error = errno;
      (void)close(reader->fd);
      reader->fd = -1;
      return NULL;
    }
    reader->bytes += (uint64_t)result;
    if (reader->expect && !reader->error && !is_expected(reader, reader->memory, (size_t)result))
      reader->error = EBADMSG;
  }
}

/* Starts the thread that drains read_fd, which it owns from now on, even after an error. */
static int start_reader(struct gather_run *run, int read_fd) {
  struct gather_reader *reader = calloc(1, sizeof *reader);
  char *memory = malloc(reader_bytes());
  int error = ENOMEM;
  if (reader == NULL || memory == NULL)
    goto err;
  *reader = (struct gather_reader){.fd = read_fd, .memory = memory, .memory_bytes = reader_bytes()};
  if (run->plan->verify && (run->plan->strategy->provided & GATHER_WRITES))
    reader->expect = &run->batch;

  error = pthread_create(&reader->thread, NULL, drain, reader);
  if (error)
    goto err;
  run->reader = reader;
  return 0;

err:
  free(memory);
  free(reader);
  (void)close(read_fd);
  return gather_fail(run, "start a reader", -error);
}

/* Closes the writer's end, waits for the reader, and compares what it got with what was written. */
static int stream_close(struct gather_run *run) {
  struct gather_reader *reader = run->reader;
  bool failed = run->failure.call != NULL; /* an op that failed may have written a part of its batch */
  int error = gather_close_fd(run);
  int join_error = pthread_join(reader->thread, NULL);
  if (!error && join_error)
    error = gather_fail(run, "join the reader", -join_error);
  if (reader->fd >= 0 && close(reader->fd) < 0 && !error)
    error = gather_fail(run, "close", -errno);
  if (!error && reader->error)
    error = gather_fail(run, "read back", -reader->error);
  uint64_t expected = (run->plan->strategy->provided & GATHER_WRITES) ? run->ops * run->batch.bytes : 0;
  if (!error && !failed && reader->bytes != expected)
    error = gather_fail(run, "count what the reader got", -EBADMSG);
  free(reader->memory);
  free(reader);
  run->reader = NULL;
  return error;
}

/* The writer's end becomes the run's descriptor, the other one the reader's. */
static int stream_open(struct gather_run *run, int read_fd, int write_fd) {
  int error = start_reader(run, read_fd);
  if (error)
    (void)close(write_fd);
  else
    run->fd = write_fd;
  return error;
}

/* Signals wait until a stream is open: they are not for its reader, which inherits the mask, and would interrupt a
 * connection in the middle. */
static int open_undisturbed(struct gather_run *run, int (*open)(struct gather_run *run)) {
  sigset_t all, before;
  sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* fails for an unknown `how` only */
  int error = open(run);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

static int pipe_ends(struct gather_run *run) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0)
    return gather_fail(run, "pipe", -errno);
  return stream_open(run, ends[0], ends[1]);
}

static int pipe_open(struct gather_run *run) {
  return open_undisturbed(run, pipe_ends);
}

static const struct gather_target target_pipe = {
    .name = "pipe",
    .doc = "a pipe, of 64 KiB unless the system gives less, drained by a thread",
    .open = pipe_open,
    .close = stream_close,
};

static int unix_ends(struct gather_run *run) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
    return gather_fail(run, "socketpair", -errno);
  return stream_open(run, ends[0], ends[1]);
}

static int unix_open(struct gather_run *run) {
  return open_undisturbed(run, unix_ends);
}

static const struct gather_target target_unix = {
    .name = "unix",
    .doc = "a pair of Unix stream sockets, drained by a thread",
    .open = unix_open,
    .close = stream_close,
};

/* Accepts the connection that write_fd has made, and no other process's. */
static int accept_own(int listener, int write_fd) {
  struct sockaddr_in own = {0}, peer = {0};
  socklen_t own_length = sizeof own, peer_length = sizeof peer;
  int fd = accept4(listener, (struct sockaddr *)&peer, &peer_length, SOCK_CLOEXEC);
  if (fd < 0)
    return -errno;
  if (getsockname(write_fd, (struct sockaddr *)&own, &own_length) < 0 || own.sin_port != peer.sin_port) {
    (void)close(fd);
    return -ECONNABORTED;
  }
  return fd;
}

static int tcp_ends(struct gather_run *run) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  const int on = 1;
  int error, read_fd;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int write_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || write_fd < 0) {
    error = gather_fail(run, "socket", -errno);
    goto err;
  }
  if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 1) < 0 ||
      getsockname(listener, (struct sockaddr *)&address, &length) < 0) {
    error = gather_fail(run, "listen on the loopback", -errno);
    goto err;
  }
  if (connect(write_fd, (struct sockaddr *)&address, sizeof address) < 0) {
    error = gather_fail(run, "connect over the loopback", -errno);
    goto err;
  }
  if (setsockopt(write_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) {
    error = gather_fail(run, "set TCP_NODELAY", -errno);
    goto err;
  }
  read_fd = accept_own(listener, write_fd);
  if (read_fd < 0) {
    error = gather_fail(run, "accept", read_fd);
    goto err;
  }
  if (close(listener) < 0) {
    error = gather_fail(run, "close", -errno);
    listener = -1;
    (void)close(read_fd);
    goto err;
  }
  return stream_open(run, read_fd, write_fd);

err:
  if (listener >= 0)
    (void)close(listener);
  if (write_fd >= 0)
    (void)close(write_fd);
  return error;
}

static int tcp_open(struct gather_run *run) {
  return open_undisturbed(run, tcp_ends);
}

static const struct gather_target target_tcp = {
    .name = "tcp",
    .doc = "a TCP connection over the loopback, with TCP_NODELAY, drained by a thread",
    .open = tcp_open,
    .close = stream_close,
};

const struct gather_target *const gather_targets[] = {
    &target_file, &target_null, &target_pipe, &target_unix, &target_tcp, NULL,
};

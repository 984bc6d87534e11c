/* process.c: standard streams and signals. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "process.h"

static atomic_int interrupted_by;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal's handler sets it");

int process_interrupted_by(void) {
  return atomic_load(&interrupted_by);
}

static void on_signal(int number) {
  if (atomic_exchange(&interrupted_by, number))
    _exit(SIGNALLED + number);
}

static const struct {
  int number;
  const char *name;
} interruptions[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};
enum { INTERRUPTIONS = sizeof interruptions / sizeof *interruptions };

const char *process_signal_name(int number) {
  for (size_t i = 0; i < INTERRUPTIONS; i++)
    if (interruptions[i].number == number)
      return interruptions[i].name;
  return "a signal";
}

int process_catch_interruptions(void) {
  /* SA_RESTART: stdio would lose what it has when a signal meets a slow pipe. */
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  for (size_t i = 0; i < INTERRUPTIONS; i++) {
    struct sigaction before;
    if (sigaction(interruptions[i].number, NULL, &before) < 0)
      return -errno;
    /* What was ignored, as under nohup, stays ignored. */
    if (before.sa_handler != SIG_IGN && sigaction(interruptions[i].number, &action, NULL) < 0)
      return -errno;
  }
  return 0;
}

/* A reader that goes away and a file that may not grow become errors of a row or of the output, and do not end the
 * process. */
static int ignore_write_signals(void) {
  const struct sigaction action = {.sa_handler = SIG_IGN};
  return sigaction(SIGPIPE, &action, NULL) == 0 && sigaction(SIGXFSZ, &action, NULL) == 0 ? 0 : -errno;
}

/* A file opened later would take a closed stream's number and get what is printed: a descriptor that fails when it is
 * used takes the number first. */
static int open_standard_streams(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      return errno ? -errno : -EBADF;
  return 0;
}

/* At exit, because Google Benchmark may end the process. */
static void check_stdout(void) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return;
  fprintf(stderr, "gatherbench: write to the standard output failed\n");
  int number = process_interrupted_by();
  _exit(number ? SIGNALLED + number : FAILED);
}

int process_prepare(void) {
  int error = open_standard_streams();
  if (!error)
    error = ignore_write_signals();
  if (!error && atexit(check_stdout) != 0)
    error = -ENOMEM;
  return error;
}

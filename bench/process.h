/* process.h: what a run needs of its process: standard streams, signals and the exit status. */
#ifndef PROCESS_H
#define PROCESS_H

#ifdef __cplusplus
extern "C" {
#endif

enum exit_status {
  MEASURED = 0,
  FAILED = 1, /* a row, or the results */
  BAD_USAGE = 2,
  NOTHING_MEASURED = 3, /* no row matched, or all were refused */
  SIGNALLED = 128,
};

/* Occupies standard streams that the caller closed, ignores the signals of failing writes, and checks at exit that what
 * was printed was written. Returns 0 or -errno. */
int process_prepare(void);

/* From here on the first SIGINT, SIGTERM or SIGHUP asks the run to stop after the current repetition, and a second one
 * ends the process at once. Before, they do what they always do. Returns 0 or -errno. */
int process_catch_interruptions(void);

/* The signal that asked the run to stop, or 0. */
int process_interrupted_by(void);

/* Its name, such as "SIGINT". */
const char *process_signal_name(int number);

#ifdef __cplusplus
}
#endif

#endif

/* progress.c: progress is a courtesy: if stderr is closed, the run goes on without it. */
#include <stdio.h>
#include <unistd.h>

#include "gather.h"
#include "progress.h"

void progress_begin(struct progress *progress, size_t repetitions) {
  uint64_t now_ns = gather_clock_ns();
  *progress = (struct progress){
      .repetitions = repetitions,
      .terminal = isatty(STDERR_FILENO) == 1,
      .begin_ns = now_ns,
      .shown_ns = now_ns,
  };
}

void progress_show(struct progress *progress, size_t done) {
  uint64_t now_ns = gather_clock_ns(), pause_ns = progress->terminal ? 200000000 : 10000000000;
  if (now_ns - progress->shown_ns < pause_ns || done == 0)
    return;
  progress->shown_ns = now_ns;
  double elapsed_s = (double)(now_ns - progress->begin_ns) / 1e9;
  double left_s = elapsed_s / (double)done * (double)(progress->repetitions - done);
  (void)fprintf(stderr, "%s%zu of %zu repetitions, %.0f s left%s", progress->terminal ? "\r\033[K" : "", done,
                progress->repetitions, left_s, progress->terminal ? "" : "\n");
  (void)fflush(stderr);
  progress->line_open = progress->terminal;
}

void progress_clear(struct progress *progress) {
  if (progress->line_open)
    (void)fputs("\r\033[K", stderr);
  progress->line_open = false;
}

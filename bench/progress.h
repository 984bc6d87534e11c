/* progress.h: how far a run is, on stderr. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct progress {
  size_t repetitions; /* of all rows */
  bool terminal;
  bool line_open; /* the line that is overwritten is on the screen */
  uint64_t begin_ns, shown_ns;
};

void progress_begin(struct progress *progress, size_t repetitions);

/* Shows how many repetitions are done and about how long the rest takes: on a terminal in one line that is overwritten,
 * elsewhere in a line every ten seconds. To be called between repetitions, never in a timed stretch. */
void progress_show(struct progress *progress, size_t done);

/* Ends the line that is overwritten, so that something else can be printed. */
void progress_clear(struct progress *progress);

#ifdef __cplusplus
}
#endif

#endif

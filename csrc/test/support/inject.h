/* inject.h: faults in write calls, for programs that are linked with --wrap for each of them. */
#ifndef INJECT_H
#define INJECT_H

#include <stddef.h>

/* What happens to one write call. */
struct inject_step {
  int error;          /* not 0: nothing is written, and errno is this */
  size_t short_bytes; /* not 0: at most so many bytes are written */
  int nothing;        /* not 0: 0 is returned and nothing written */
};

/* The next `count` write calls of the process meet these steps; a step of zeros lets its call pass.
 * Calls after the last step pass. The steps must stay. */
void inject(const struct inject_step *steps, size_t count);

#endif

/* untimed.h: counters that need an op of their own, which is not timed. */
#ifndef UNTIMED_H
#define UNTIMED_H

#include <stdbool.h>

#include "options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes these ops for each row that is measured, and keeps what they tell in the row. A row of which one
 * fails has failed. Ends early once `stop` returns true. */
void untimed_observe(struct options *options, struct gather_workspace *workspace, bool (*stop)(void));

#ifdef __cplusplus
}
#endif

#endif

/* budget.h: how many repetitions fit into the time that a run may take. */
#ifndef BUDGET_H
#define BUDGET_H

#include <stdbool.h>

#include "options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where options->budget_s is not 0: makes one repetition of each row untimed and lowers options->repetitions to what
 * fits, ten at least. The number is settled before anything is measured, so that no figure decides how often it is
 * measured. Rows that fail here keep their share: they will say so themselves. Once `stop` returns true nothing is
 * changed. */
void budget_apply(struct options *options, struct gather_workspace *workspace, bool (*stop)(void));

#ifdef __cplusplus
}
#endif

#endif

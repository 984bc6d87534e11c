/* dry_run.h: says what a run would do. */
#ifndef DRY_RUN_H
#define DRY_RUN_H

#include "options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prints the rows, the bytes that they write and about how long they take. The bytes of op rows are not known in
 * advance: as many ops are made as fit into the time. */
void dry_run(const struct options *options);

#ifdef __cplusplus
}
#endif

#endif

/* sync_proof.h: what the device saw of each durability, before anything is timed. */
#ifndef SYNC_PROOF_H
#define SYNC_PROOF_H

#include "options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tries every durability of the rows in the directory. Rows whose bytes do not reach the device although they were
 * synced are marked as refused, those whose attempt failed as failed. What is doubtful goes to `spoiled`. No further
 * durability is tried once `stop` returns true. */
void sync_proof(struct options *options, struct gather_workspace *workspace, bool (*stop)(void));

/* "reached the device", "did not reach the device: WHY" or "not known: WHY"; "" where no row syncs a file. */
const char *sync_proof_text(void);

#ifdef __cplusplus
}
#endif

#endif

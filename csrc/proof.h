/* proof.h: whether a call that says that something is durable does anything: the device tells. */
#ifndef GATHER_PROOF_H
#define GATHER_PROOF_H

#include "device.h"
#include "gather.h"
#include "workspace.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gather_proof_result {
  GATHER_REACHED_DEVICE,  /* all bytes arrived, and the device's cache, where it has one, was flushed */
  GATHER_FLUSH_NOT_KNOWN, /* all bytes arrived; the device has a cache, and does not count flushes */
  GATHER_NOT_FLUSHED,     /* all bytes arrived, and the cache was not flushed */
  GATHER_NOT_WRITTEN,     /* fewer bytes arrived than were synced */
};

struct gather_proof {
  enum gather_proof_result result;
  uint64_t written; /* bytes of an op that was to be durable */
  uint64_t arrived; /* the least that the device counted meanwhile */
};

/* Makes a plan's way of writing durable a few times, untimed, and looks at the device. What others write to it at the
 * same moment counts too, so that only "not" is certain; that others write as much each time is not likely. Needs a
 * file target and a durability that does something. -errno where the op itself failed; reason[size] then says how. */
int gather_prove_sync(const struct gather_plan *plan, struct gather_workspace *workspace,
                      const struct gather_device *device, struct gather_proof *proof, char *reason, size_t size);

enum { GATHER_ARRIVAL_BYTES = 512 << 10 }; /* more than a file system compresses at a time */

/* Writes so many of the plan's own bytes, as often as it takes, and syncs them: a file system that compresses, or keeps
 * equal bytes once, writes fewer to the device. Only `written` and `arrived` are set. For plans whose batch has no more
 * bytes than that. Errors as above. */
int gather_prove_arrival(const struct gather_plan *plan, struct gather_workspace *workspace,
                         const struct gather_device *device, struct gather_proof *proof, char *reason, size_t size);

/* The bytes after which a plan's content repeats. */
uint64_t gather_plan_distinct_bytes(const struct gather_plan *plan);

#ifdef __cplusplus
}
#endif

#endif

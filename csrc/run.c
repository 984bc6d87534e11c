/* run.c: opening and closing a plan. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "internal.h"

int gather_fail(struct gather_run *run, const char *call, int error) {
  if (run->failure.call == NULL)
    run->failure = (struct gather_failure){call, error};
  return error;
}

#ifdef __linux__
struct gather_affinity {
  cpu_set_t before;
};

/* Keeps the calling thread on the plan's processor. Threads that were started before, such as a reader, stay free. */
static int pin(struct gather_run *run) {
  if (!run->plan->pinned)
    return 0;
  struct gather_affinity *affinity = malloc(sizeof *affinity);
  if (affinity == NULL)
    return gather_fail(run, "malloc", -ENOMEM);
  cpu_set_t one;
  CPU_ZERO(&one);
  if (run->plan->cpu < CPU_SETSIZE)
    CPU_SET(run->plan->cpu, &one);
  if (sched_getaffinity(0, sizeof affinity->before, &affinity->before) < 0 ||
      sched_setaffinity(0, sizeof one, &one) < 0) {
    int error = errno;
    free(affinity);
    return gather_fail(run, "sched_setaffinity", -error);
  }
  run->affinity = affinity;
  return 0;
}

static int unpin(struct gather_run *run) {
  if (run->affinity == NULL)
    return 0;
  int error = sched_setaffinity(0, sizeof run->affinity->before, &run->affinity->before) < 0 ? errno : 0;
  free(run->affinity);
  run->affinity = NULL;
  return error ? gather_fail(run, "sched_setaffinity", -error) : 0;
}
#else
static int pin(struct gather_run *run) {
  return run->plan->pinned ? gather_fail(run, "pin to a processor", -ENOTSUP) : 0;
}

static int unpin(struct gather_run *run) {
  (void)run;
  return 0;
}
#endif

int gather_open(struct gather_run *run, const struct gather_plan *plan, struct gather_workspace *workspace,
                unsigned thread) {
  *run = (struct gather_run){
      .write = plan->strategy->write,
      .sync = (plan->strategy->provided & GATHER_SYNCS) ? NULL : plan->durability->sync,
      .fd = -1,
      .call_flags = plan->durability->call_flags,
      .positioned = (plan->target->provided & GATHER_OFFSETS) != 0,
      .plan = plan,
      .workspace = workspace,
      .thread = thread,
  };
  int error = gather_batches_open(run);
  if (error)
    return error;
  if (plan->strategy->open && (error = plan->strategy->open(run)) != 0)
    goto err_batches;
  error = plan->scope->open(run);
  if (error)
    goto err_strategy;
  error = pin(run);
  if (error)
    goto err_scope;
  return 0;

err_scope:
  (void)plan->scope->close(run);
err_strategy:
  if (plan->strategy->close)
    plan->strategy->close(run);
err_batches:
  gather_batches_close(run);
  return error;
}

/* So that writing back disturbs nobody else's times, and its errors are told of the run that wrote. pg_test_fsync, too,
 * syncs what it wrote before it measures. A run that failed is not settled: what failed once can do more harm when it
 * is tried again, as on ext4, which then gives up its journal. */
static int sync_written(struct gather_run *run) {
  if (run->failure.call || !(run->plan->target->provided & GATHER_IS_FILE))
    return 0;
  return gather_workspace_sync(run);
}

int gather_close(struct gather_run *run) {
  const struct gather_plan *plan = run->plan;
  const int unpin_error = unpin(run), close_error = plan->scope->close(run), sync_error = sync_written(run);
  if (run->lock_error)
    gather_go_without(run->workspace, "flock", run->lock_error);
  if (plan->strategy->close)
    plan->strategy->close(run);
  gather_batches_close(run);
  return unpin_error ? unpin_error : close_error ? close_error : sync_error;
}

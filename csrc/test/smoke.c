/* smoke.c: the main paths of csrc without a test library, for systems on which there is none: writes, reads back, and
 * goes past offsets of 4 GiB. Prints what failed and exits with 1. */
#include <stdio.h>
#include <string.h>

#include "gather.h"
#include "workspace.h"

static int failures;

static void expect(int condition, const char *what, const char *name) {
  if (condition)
    return;
  printf("failed: %s: %s\n", name, what);
  failures++;
}

static void run(const struct gather_plan *plan, struct gather_workspace *workspace, int64_t position) {
  char name[GATHER_NAME_MAX];
  gather_plan_name(plan, name, sizeof name);
  struct gather_run run;
  int error = gather_open(&run, plan, workspace, 0);
  expect(error == 0, error ? strerror(-error) : "open", name);
  if (error)
    return;
  const bool files = (plan->scope->provided & GATHER_WHOLE_FILE) != 0;
  if (files)
    run.inspect = gather_verify;
  if (position)
    run.position = run.position_end = position;
  error = gather_op(&run);
  expect(error == 0, error ? strerror(-error) : "op", name);
  if (!error && !files)
    expect(gather_verify(&run) == 0, "what was read is not what was written", name);
  expect(run.stats.calls > 0, "no call was counted", name);
  error = gather_close(&run);
  expect(error == 0, error ? strerror(-error) : "close", name);
}

int main(int argc, char **argv) {
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, argc > 1 ? argv[1] : "/tmp");
  int plans = 0;
  for (const struct gather_scope *const *scope = gather_scopes; *scope; scope++)
    for (const struct gather_strategy *const *strategy = gather_strategies; *strategy; strategy++)
      for (const struct gather_target *const *target = gather_targets; *target; target++) {
        struct gather_plan plan = {
            .scope = *scope,
            .strategy = *strategy,
            .target = *target,
            .durability = gather_durability_find("none"),
            .count = 5,
            .sizes = {24, 4096},
            .sizes_count = 2,
            .window_bytes = 1 << 16,
            .file_bytes = 30000,
            .verify = true,
        };
        if (!((*strategy)->provided & GATHER_WRITES) || gather_plan_refuse(&plan))
          continue;
        run(&plan, &workspace, 0);
        /* Only a positioned strategy goes where the position says. */
        if (((*strategy)->required & GATHER_OFFSETS) && strcmp((*target)->name, "file") == 0 &&
            !((*scope)->provided & GATHER_WHOLE_FILE))
          run(&plan, &workspace, (INT64_C(1) << 32) + 12345);
        plans++;
      }
  int error = gather_workspace_close(&workspace);
  expect(error == 0, "close", "workspace");
  expect(plans > 20, "too few plans", "tables");
  printf("%d plans, %d failures\n", plans, failures);
  return failures > 0;
}

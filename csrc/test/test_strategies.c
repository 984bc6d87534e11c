/* test_strategies.c: what a strategy's row promises to the files that know no row by its name. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observer.h"
#include "test.h"

/* The failing call that a strategy names when its target cannot be written. */
static const char *failing_call(const char *dir, const struct gather_plan *plan) {
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, dir);
  struct gather_run run;
  assert_int_equal(gather_open(&run, plan, &workspace, 0), 0);
  const int fd = run.fd;
  run.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  assert_true(run.fd >= 0);
  assert_int_equal(gather_op(&run), -EBADF);
  assert_int_equal(close(run.fd), 0);
  run.fd = fd;
  (void)gather_close(&run); /* a stream tells of the bytes that did not arrive */
  assert_int_equal(gather_workspace_close(&workspace), 0);
  return run.failure.call;
}

static void errors_name_the_call_under_test(void **state) {
  const struct {
    const char *strategy, *target, *call;
  } cases[] = {
      {"write", "null", "write"},      {"writev", "null", "writev"},     {"pwrite", "null", "pwrite"},
      {"pwritev", "null", "pwritev"},  {"coalesce", "pipe", "write"},    {"coalesce", "null", "pwrite"},
      {"contiguous", "unix", "write"}, {"contiguous", "null", "pwrite"}, {"fallback", "null", "pwrite"},
      {"stdio", "null", "write"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct gather_plan plan = usual_plan(&(struct shape){2, {100}, 1, 0});
    plan.strategy = gather_strategy_find(cases[i].strategy);
    plan.target = gather_target_find(cases[i].target);
    if (gather_plan_refuse(&plan) == NULL)
      assert_string_equal(failing_call(*state, &plan), cases[i].call);
  }
}

struct counters {
  double calls, kernel_calls; /* -1: absent */
};

static void on_counter(void *context, const char *name, double value, const char *doubt) {
  (void)doubt;
  struct counters *counters = context;
  if (strcmp(name, "calls") == 0)
    counters->calls = value;
  if (strcmp(name, "kernel_calls") == 0)
    counters->kernel_calls = value;
}

/* Counters of one op. */
static struct counters count(const char *dir, const struct gather_plan *plan) {
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, dir);
  struct gather_run run;
  assert_int_equal(gather_open(&run, plan, &workspace, 0), 0);
  struct gather_observations observations;
  struct counters counters = {-1, -1};
  gather_observe(&observations, &run);
  assert_int_equal(gather_op(&run), 0);
  gather_observed(&observations, &run, 1, on_counter, &counters);
  assert_int_equal(gather_close(&run), 0);
  assert_int_equal(gather_workspace_close(&workspace), 0);
  return counters;
}

static bool kernel_counts_calls(const char *dir) {
  const struct gather_plan plan = usual_plan(&(struct shape){1, {100}, 1, 0});
  return count(dir, &plan).kernel_calls >= 0;
}

static void the_kernel_counts_what_a_row_says_that_it_counts(void **state) {
  if (!kernel_counts_calls(*state))
    skip();
  for (const struct gather_strategy *const *strategy = gather_strategies; *strategy; strategy++) {
    struct gather_plan plan = usual_plan(&(struct shape){3, {3000}, 1, 0});
    plan.strategy = *strategy;
    if (gather_plan_refuse(&plan) || !((*strategy)->provided & GATHER_COUNTED))
      continue;
    struct counters counters = count(*state, &plan);
    if (counters.kernel_calls != counters.calls)
      fail_msg("%s: %g calls, %g by the kernel's count", (*strategy)->name, counters.calls, counters.kernel_calls);
  }
}

/* --- A strategy that submits otherwise than by write calls of the thread, and syncs what it submits. --- */

static unsigned syncs; /* made by the suite after a batch */

static int count_sync(int fd) {
  (void)fd;
  syncs++;
  return 0;
}

static unsigned submitted; /* batches, by the runs that were closed */

static int submitter_open(struct gather_run *run) {
  run->state = calloc(1, sizeof(unsigned));
  assert_non_null(run->state);
  return 0;
}

static void submitter_close(struct gather_run *run) {
  submitted += *(unsigned *)run->state;
  free(run->state);
}

static int submit(struct gather_run *run, const struct gather_batch *batch, int64_t offset) {
  ++*(unsigned *)run->state;
  run->stats.calls++;
  for (size_t i = 0; i < batch->buffers_count; i++) {
    const struct iovec *buffer = &batch->buffers[i];
    assert_int_equal(pwrite(run->fd, buffer->iov_base, buffer->iov_len, offset), buffer->iov_len);
    offset += (int64_t)buffer->iov_len;
  }
  return 0;
}

static const struct gather_strategy submitting = {
    .name = "submit",
    .doc = "one submission",
    .call = "submit",
    .required = GATHER_OFFSETS,
    .provided = GATHER_WRITES | GATHER_SYNCS,
    .open = submitter_open,
    .close = submitter_close,
    .write = submit,
};

static const struct gather_durability counting = {
    .name = "counting",
    .doc = "counts",
    .required = GATHER_WRITES | GATHER_DURABLE,
    .sync = count_sync,
    .sync_call = "count_sync",
};

static void what_syncs_itself_is_not_synced_again(void **state) {
  const char *const scopes[] = {"op", "file"};
  for (size_t i = 0; i < 2; i++) {
    struct gather_plan plan = usual_plan(&(struct shape){2, {100}, 1, 200});
    plan.scope = gather_scope_find(scopes[i]);
    plan.durability = &counting;
    syncs = 0;
    struct gather_stats stats;
    assert_int_equal(run_verified_in(*state, &plan, 3, &stats), 0);
    assert_int_equal(syncs, 3);
    plan.strategy = &submitting;
    submitted = 0;
    assert_int_equal(run_verified_in(*state, &plan, 3, &stats), 0);
    assert_int_equal(syncs, 3);
    assert_int_equal(stats.sync_ns, 0);
    assert_int_equal(submitted, 3);
  }
}

/* Figures that mean something else are absent, not wrong. */
static void what_the_kernel_does_not_count_has_no_counter(void **state) {
  if (!kernel_counts_calls(*state))
    skip();
  struct gather_plan plan = usual_plan(&(struct shape){2, {100}, 1, 0});
  plan.strategy = &submitting;
  struct counters counters = count(*state, &plan);
  assert_true(counters.calls == 1);
  assert_true(counters.kernel_calls < 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_DIRECTORY(errors_name_the_call_under_test),
      WITH_DIRECTORY(the_kernel_counts_what_a_row_says_that_it_counts),
      WITH_DIRECTORY(what_syncs_itself_is_not_synced_again),
      WITH_DIRECTORY(what_the_kernel_does_not_count_has_no_counter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

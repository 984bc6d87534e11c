/* test_faults.c: short writes, signals and errors, injected into every strategy and both scopes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inject.h"
#include "test.h"

static const struct shape shape = {3, {100, 7}, 2, 1000};

/* Every strategy that writes, in both scopes, on every target that can tell what arrived, without sync. */
static void for_each_writer(void (*each)(const struct gather_plan *plan, const char *dir), const char *dir) {
  size_t count = 0;
  for (const struct gather_scope *const *scope = gather_scopes; *scope; scope++)
    for (const struct gather_strategy *const *strategy = gather_strategies; *strategy; strategy++)
      for (const struct gather_target *const *target = gather_targets; *target; target++) {
        struct gather_plan plan = usual_plan(&shape);
        plan.scope = *scope;
        plan.strategy = *strategy;
        plan.target = *target;
        plan.verify = true; /* the reader of a stream compares; a file is read back by run_injected */
        if (*target == gather_target_find("null") || !((*strategy)->provided & GATHER_WRITES) ||
            gather_plan_refuse(&plan))
          continue;
        each(&plan, dir);
        count++;
      }
  assert_true(count >= 18 + 15);
}

/* The window is written with the calls that are injected into: make it before. */
static int run_injected(const struct gather_plan *plan, const char *dir, const struct inject_step *steps, size_t count,
                        struct gather_stats *stats, char *operation, size_t size) {
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, dir);
  struct gather_run run;
  assert_int_equal(gather_open(&run, plan, &workspace, 0), 0);
  bool files = (plan->scope->provided & GATHER_WHOLE_FILE) != 0;
  if (files)
    run.inspect = gather_verify;
  inject(steps, count);
  int error = gather_op(&run);
  inject(NULL, 0);
  if (!error && !files)
    error = gather_verify(&run);
  *stats = run.stats;
  if (error)
    snprintf(operation, size, "%s", run.failure.call);
  assert_int_equal(gather_close(&run), 0);
  assert_int_equal(gather_workspace_close(&workspace), 0);
  assert_int_equal(directory_entries(dir), 0);
  return error;
}

static void short_by_bytes(const struct gather_plan *plan, const char *dir) {
  /* One byte, all but one, at a buffer's edge, in the middle of each buffer. */
  const size_t lengths[] = {1, 6, 7, 50, 99, 100, 101, 106, 107, 150, 206};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    const struct inject_step steps[] = {{.short_bytes = lengths[i]}, {.short_bytes = 1}, {.short_bytes = lengths[i]}};
    struct gather_stats whole, stats;
    char operation[64];
    assert_int_equal(run_injected(plan, dir, NULL, 0, &whole, operation, sizeof operation), 0);
    assert_int_equal(run_injected(plan, dir, steps, 3, &stats, operation, sizeof operation), 0);
    assert_int_equal(whole.short_writes, 0);
    bool counts_otherwise = plan->strategy == gather_strategy_find("fallback");
    if (!counts_otherwise)
      assert_int_equal(stats.calls, whole.calls + stats.short_writes); /* a short write costs one more call */
    if (lengths[i] == 1)
      assert_true(stats.short_writes > 0);
  }
}

static void short_writes_are_resumed_by_bytes(void **state) {
  for_each_writer(short_by_bytes, *state);
}

static void one_byte_at_a_time(const struct gather_plan *plan, const char *dir) {
  static struct inject_step steps[1000];
  uint64_t bytes = gather_plan_op_bytes(plan);
  assert_true(bytes <= sizeof steps / sizeof *steps);
  for (uint64_t i = 0; i < bytes; i++)
    steps[i].short_bytes = 1;
  struct gather_stats stats;
  char operation[64];
  assert_int_equal(run_injected(plan, dir, steps, bytes, &stats, operation, sizeof operation), 0);
  assert_int_equal(stats.calls, bytes);
}

static void every_call_may_write_one_byte(void **state) {
  for_each_writer(one_byte_at_a_time, *state);
}

static void interrupted_calls(const struct gather_plan *plan, const char *dir) {
  const struct inject_step steps[] = {{.error = EINTR},  {.short_bytes = 3}, {.error = EINTR},
                                      {.error = EAGAIN}, {.short_bytes = 2}, {.error = EINTR}};
  struct gather_stats stats;
  char operation[64];
  assert_int_equal(run_injected(plan, dir, steps, 6, &stats, operation, sizeof operation), 0);
  assert_true(stats.calls >= 6);
}

static void signals_and_full_buffers_are_waited_out(void **state) {
  for_each_writer(interrupted_calls, *state);
}

static void failing_calls(const struct gather_plan *plan, const char *dir) {
  const int errors[] = {ENOSPC, EIO, EDQUOT, EFBIG};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    /* At once, after a short write, and after a signal. */
    const struct inject_step first[] = {{.error = errors[i]}};
    const struct inject_step later[] = {{.short_bytes = 5}, {.error = errors[i]}};
    const struct inject_step signal[] = {{.error = EINTR}, {.error = errors[i]}};
    struct gather_stats stats;
    char operation[64];
    assert_int_equal(run_injected(plan, dir, first, 1, &stats, operation, sizeof operation), -errors[i]);
    assert_non_null(strstr(operation, "write"));
    assert_int_equal(run_injected(plan, dir, later, 2, &stats, operation, sizeof operation), -errors[i]);
    assert_int_equal(run_injected(plan, dir, signal, 2, &stats, operation, sizeof operation), -errors[i]);
  }
}

static void errors_are_returned_and_nothing_is_left(void **state) {
  for_each_writer(failing_calls, *state);
}

static void writes_nothing(const struct gather_plan *plan, const char *dir) {
  const struct inject_step steps[] = {{.nothing = 1}};
  struct gather_stats stats;
  char operation[64];
  assert_int_equal(run_injected(plan, dir, steps, 1, &stats, operation, sizeof operation), -EIO);
}

static void a_call_that_writes_nothing_is_an_error(void **state) {
  for_each_writer(writes_nothing, *state);
}

/* A call of empty buffers only has nothing to resume at. */
static void interrupted_empty_calls(void **state) {
  const char *const strategies[] = {"write", "writev", "pwritev", "coalesce", "fallback"};
  for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
    struct gather_plan plan = usual_plan(&(struct shape){4, {0}, 1, 0});
    plan.strategy = gather_strategy_find(strategies[i]);
    const struct inject_step steps[] = {{.error = EINTR}, {.error = EAGAIN}};
    struct gather_stats stats;
    char operation[64];
    assert_int_equal(run_injected(&plan, *state, steps, 2, &stats, operation, sizeof operation), 0);
    assert_int_equal(stats.short_writes, 0);
  }
}

static uint64_t calls_of(const char *strategy, const struct shape *of, const char *dir) {
  struct gather_plan plan = usual_plan(of);
  plan.strategy = gather_strategy_find(strategy);
  struct gather_stats stats;
  int error = run_verified_in(dir, &plan, 1, &stats);
  if (error)
    fail_msg("%s of %zu buffers: %s", strategy, of->count, strerror(-error));
  return stats.calls;
}

/* A raw writev of 1,025 buffers fails with EINVAL on Linux, whose IOV_MAX is 1,024. */
static void more_buffers_than_a_call_takes(void **state) {
  const struct {
    size_t count;
    uint64_t calls;
  } cases[] = {{1023, 1}, {1024, 1}, {1025, 2}, {2048, 2}, {10240, 10}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct shape of = {cases[i].count, {1}, 1, 0};
    assert_int_equal(calls_of("writev", &of, *state), cases[i].calls);
    assert_int_equal(calls_of("pwritev", &of, *state), cases[i].calls);
    assert_int_equal(calls_of("coalesce", &of, *state), 1);
    assert_int_equal(calls_of("write", &of, *state), cases[i].count);
  }
}

/* Empty buffers: one among others, only empty ones, and more of them than a call takes before the
 * first byte. */
static void empty_buffers_are_no_error(void **state) {
  assert_int_equal(calls_of("writev", &(struct shape){3, {0, 4}, 2, 0}, *state), 1);
  assert_int_equal(calls_of("writev", &(struct shape){1100, {0}, 1, 0}, *state), 2);
  assert_int_equal(calls_of("coalesce", &(struct shape){3, {0}, 1, 0}, *state), 1);
  assert_int_equal(calls_of("write", &(struct shape){3, {0}, 1, 0}, *state), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_DIRECTORY(short_writes_are_resumed_by_bytes),       WITH_DIRECTORY(every_call_may_write_one_byte),
      WITH_DIRECTORY(signals_and_full_buffers_are_waited_out), WITH_DIRECTORY(errors_are_returned_and_nothing_is_left),
      WITH_DIRECTORY(a_call_that_writes_nothing_is_an_error),  WITH_DIRECTORY(interrupted_empty_calls),
      WITH_DIRECTORY(more_buffers_than_a_call_takes),          WITH_DIRECTORY(empty_buffers_are_no_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

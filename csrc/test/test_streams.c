/* test_streams.c: pipes and sockets: every byte that is written is read, counted and compared. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

static const char *const streams[] = {"pipe", "unix", "tcp"};
enum { STREAMS = sizeof streams / sizeof *streams };

static struct gather_plan stream_plan(const char *target, const char *strategy, const struct shape *shape) {
  struct gather_plan plan = usual_plan(shape);
  plan.target = gather_target_find(target);
  plan.strategy = gather_strategy_find(strategy);
  plan.verify = true;
  assert_null(gather_plan_refuse(&plan));
  return plan;
}

/* Batches far larger than what a pipe or a socket holds: the writer waits for the reader again and again. */
static void large_batches_arrive_whole(void **state) {
  const char *const strategies[] = {"write", "writev", "coalesce", "contiguous", "stdio"};
  for (size_t i = 0; i < STREAMS; i++)
    for (size_t k = 0; k < sizeof strategies / sizeof *strategies; k++) {
      const struct shape shape = {30, {40000, 7, 0, 100001}, 4, 0};
      struct gather_plan plan = stream_plan(streams[i], strategies[k], &shape);
      int error = run_verified_in(*state, &plan, 3, NULL);
      if (error)
        fail_msg("%s to %s: %s", strategies[k], streams[i], strerror(-error));
    }
}

static void positioned_writes_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < STREAMS; i++) {
    struct gather_plan plan = usual_plan(&(struct shape){1, {10}, 1, 0});
    plan.target = gather_target_find(streams[i]);
    const char *reason = gather_plan_refuse(&plan);
    assert_non_null(reason);
    assert_non_null(strstr(reason, "offsets"));
  }
}

/* Opens a stream and writes two batches, the second after `change`. */
static int write_two(const char *dir, const struct gather_plan *plan, void (*change)(struct gather_run *run)) {
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, dir);
  struct gather_run run;
  assert_int_equal(gather_open(&run, plan, &workspace, 0), 0);
  assert_int_equal(gather_op(&run), 0);
  change(&run);
  assert_int_equal(gather_op(&run), 0);
  int error = gather_close(&run);
  assert_int_equal(gather_workspace_close(&workspace), 0);
  return error;
}

static void claim_one_more(struct gather_run *run) {
  run->ops++;
}

static void change_a_byte(struct gather_run *run) {
  run->batch.staging[150] ^= 1;
}

static void what_did_not_arrive_is_noticed(void **state) {
  for (size_t i = 0; i < STREAMS; i++) {
    struct gather_plan plan = stream_plan(streams[i], "writev", &(struct shape){2, {100}, 1, 0});
    assert_int_equal(write_two(*state, &plan, claim_one_more), -EBADMSG);
    plan = stream_plan(streams[i], "contiguous", &(struct shape){2, {100}, 1, 0});
    assert_int_equal(write_two(*state, &plan, change_a_byte), -EBADMSG);
    plan.verify = false; /* then only bytes are counted */
    assert_int_equal(write_two(*state, &plan, change_a_byte), 0);
  }
}

static void on_signal(int signal) {
  (void)signal;
}

static void *send_signals(void *context) {
  pthread_t writer = *(pthread_t *)context;
  for (int i = 0; i < 2000; i++) {
    pthread_kill(writer, SIGUSR1);
    usleep(50);
  }
  return NULL;
}

/* A writer that waits in a full pipe is interrupted, with a part of its batch written or with nothing: neither is lost
 * or written twice. */
static void signals_cost_no_byte(void **state) {
  struct sigaction action = {.sa_handler = on_signal}, before;
  assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
  for (size_t i = 0; i < STREAMS; i++) {
    struct gather_plan plan = stream_plan(streams[i], "writev", &(struct shape){20, {100000}, 1, 0});
    pthread_t self = pthread_self(), sender;
    assert_int_equal(pthread_create(&sender, NULL, send_signals, &self), 0);
    int error = run_verified_in(*state, &plan, 40, NULL);
    assert_int_equal(pthread_join(sender, NULL), 0);
    assert_int_equal(error, 0);
  }
  assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_DIRECTORY(large_batches_arrive_whole),
      WITH_DIRECTORY(positioned_writes_are_refused),
      WITH_DIRECTORY(what_did_not_arrive_is_noticed),
      WITH_DIRECTORY(signals_cost_no_byte),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

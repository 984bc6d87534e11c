/* test_threads.c: several threads run one plan at the same time, as the benchmark does. */
#include <string.h>

#include "test.h"

enum { THREADS = 4, OPS = 20 };

struct thread {
  pthread_t id;
  unsigned number;
  const struct gather_plan *plan;
  struct gather_workspace *workspace;
  pthread_barrier_t *barrier;
  int error;
};

/* Opens, runs, and verifies only when all threads are done, so that a thread that wrote where it should not is seen. */
static void *run_thread(void *context) {
  struct thread *thread = context;
  const bool files = (thread->plan->scope->provided & GATHER_WHOLE_FILE) != 0;
  struct gather_run run;
  int error = gather_open(&run, thread->plan, thread->workspace, thread->number);
  const bool opened = !error;
  if (opened && files)
    run.inspect = gather_verify;
  for (int i = 0; i < OPS && !error; i++)
    error = gather_op(&run);
  pthread_barrier_wait(thread->barrier);
  if (!error && !files)
    error = gather_verify(&run);
  int close_error = opened ? gather_close(&run) : 0;
  thread->error = error ? error : close_error;
  return NULL;
}

static void run_all(const char *dir, const struct gather_plan *plan) {
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, dir);
  pthread_barrier_t barrier;
  assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
  struct thread threads[THREADS];
  for (unsigned i = 0; i < THREADS; i++) {
    threads[i] = (struct thread){.number = i, .plan = plan, .workspace = &workspace, .barrier = &barrier};
    assert_int_equal(pthread_create(&threads[i].id, NULL, run_thread, &threads[i]), 0);
  }
  char name[GATHER_NAME_MAX];
  gather_plan_name(plan, name, sizeof name);
  for (unsigned i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(threads[i].id, NULL), 0);
    if (threads[i].error)
      fail_msg("%s, thread %u: %s", name, i, strerror(-threads[i].error));
  }
  assert_int_equal(pthread_barrier_destroy(&barrier), 0);
  assert_int_equal(gather_workspace_close(&workspace), 0);
}

static const char *const strategies[] = {"write", "pwrite", "writev", "pwritev", "coalesce", "stdio"};

static void threads_write_what_they_should(void **state) {
  const char *const scopes[] = {"op", "file"};
  const char *const targets[] = {"file", "null", "pipe", "unix", "tcp"};
  for (size_t s = 0; s < sizeof scopes / sizeof *scopes; s++)
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++)
      for (size_t k = 0; k < sizeof strategies / sizeof *strategies; k++)
        for (int shared = 0; shared < 2; shared++) {
          struct gather_plan plan = usual_plan(&(struct shape){3, {1000, 24}, 2, 10000});
          plan.scope = gather_scope_find(scopes[s]);
          plan.target = gather_target_find(targets[t]);
          plan.strategy = gather_strategy_find(strategies[k]);
          plan.window_bytes = 10000;
          plan.threads = THREADS;
          plan.shared_file = shared;
          plan.verify = true;
          if (gather_plan_refuse(&plan) == NULL)
            run_all(*state, &plan);
        }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_DIRECTORY(threads_write_what_they_should),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

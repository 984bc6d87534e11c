/* test_each_call.c: in a run of each kind of plan every library call fails once: the first of its name, the second, and
 * so on until a run meets no failure. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "fail_call.h"
#include "test.h"

enum { PLANS_MAX = 20 };

static struct gather_plan plan_of(const char *scope, const char *strategy, const char *target, const char *durability) {
  struct gather_plan plan = usual_plan(&(struct shape){3, {4096}, 1, 20480});
  plan.scope = gather_scope_find(scope);
  plan.strategy = gather_strategy_find(strategy);
  plan.target = gather_target_find(target);
  plan.durability = gather_durability_find(durability);
  plan.window_bytes = 20480; /* the second op begins at its start again */
  plan.verify = true;
  return plan;
}

/* Plans that between them make every call there is. */
static size_t make_plans(struct gather_plan plans[PLANS_MAX]) {
  size_t count = 0;
  plans[count++] = plan_of("op", "write", "file", "fdatasync");
  plans[count++] = plan_of("op", "coalesce", "file", "none");
  const char *const ways[] = {"dotnet", "rename"}; /* which make all calls that the others make */
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    plans[count] = plan_of("file", "pwritev", "file", "fdatasync");
    plans[count++].create = gather_create_find(ways[i]);
  }
  plans[count] = plan_of("op", "pwritev", "file", "none");
  plans[count++].direct = true;
  plans[count++] = plan_of("op", "stdio", "null", "none");
  plans[count++] = plan_of("op", "writev", "pipe", "none");
  plans[count++] = plan_of("op", "writev", "unix", "none");
  plans[count++] = plan_of("op", "writev", "tcp", "none");
  plans[count] = plan_of("file", "pwritev", "file", "fsync");
  plans[count++].preallocate = true;
  plans[count] = plan_of("file", "pwritev", "file", "fdatasync");
  plans[count++].sync_each = true;
  plans[count] = plan_of("file", "pwritev", "file", "none");
  plans[count++].direct = true;
  plans[count] = plan_of("op", "none", "null", "none");
  plans[count].pinned = true;
  plans[count++].cpu = (unsigned)sched_getcpu();
  /* Memory that maps the same pages again and again. */
  plans[count] = plan_of("op", "writev", "null", "none");
  plans[count].sizes[0] = 100 << 20;
  plans[count++].verify = false;
  return count;
}

/* Whether the latest run_in noted that it went without something. */
static bool went_without;

/* All that is done with a plan: 0 or the first -errno with the operation that failed; 1 where the file system does not
 * take the plan. */
static int run_in(const char *dir, const struct gather_plan *plan, const char **operation) {
  struct gather_workspace workspace;
  struct gather_run run;
  gather_workspace_init(&workspace, dir);
  char reason[160] = "";
  uint64_t free_bytes;
  int error = gather_workspace_check(&workspace, 1, &free_bytes);
  *operation = workspace.failure.call;
  if (!error) {
    error = gather_plan_probe(plan, &workspace, reason, sizeof reason);
    *operation = *reason ? "probe" : NULL;
  }
  if (!error) {
    error = gather_open(&run, plan, &workspace, 0);
    *operation = run.failure.call;
    if (!error) {
      for (int i = 0; i < 2 && !error; i++)
        error = gather_verified_op(&run);
      *operation = run.failure.call;
      int close_error = gather_close(&run);
      if (!error) {
        error = close_error;
        *operation = run.failure.call;
      }
    }
  }
  int close_error = gather_workspace_close(&workspace);
  if (!error) {
    error = close_error;
    *operation = workspace.failure.call;
  }
  went_without = workspace.went_without[0] != '\0';
  return error;
}

/* Failures that need not be told: nothing is lost with the descriptor of memory that is mapped, a directory that could
 * not be removed may be gone at the second try, and where access rights are not told a directory is made. */
static bool is_harmless(const char *dir, const struct gather_plan *plan, const char *call) {
  if (strcmp(call, "unlinkat") == 0)
    return directory_entries(dir) == 0;
  return strcmp(call, "faccessat") == 0 || (!plan->verify && strcmp(call, "close") == 0);
}

/* Returns how many failures there were. */
static size_t fail_each(const char *dir, const struct gather_plan *plan, const char *call) {
  char name[GATHER_NAME_MAX];
  gather_plan_name(plan, name, sizeof name);
  const size_t descriptors = directory_entries("/proc/self/fd");
  const char *operation;
  for (size_t number = 1;; number++) {
    /* Whether O_DIRECT is ignored is looked at hundreds of times, all alike. */
    if (plan->direct && number > 8 && (strcmp(call, "lseek64") == 0 || strcmp(call, "mincore") == 0)) {
      fail_call(NULL, 0, 0);
      return number - 1;
    }
    fail_call(call, number, EIO);
    int error = run_in(dir, plan, &operation);
    if (!call_failed()) {
      assert_int_equal(error, 0);
      return number - 1;
    }
    if (error == 0 && !went_without && !is_harmless(dir, plan, call))
      fail_msg("%s: %s %zu: is not told", name, call, number);
    if (error && operation == NULL)
      fail_msg("%s: %s %zu: does not say what failed", name, call, number);
    if (directory_entries("/proc/self/fd") != descriptors)
      fail_msg("%s: %s %zu: descriptors stay open", name, call, number);
    if (directory_entries(dir) == 0)
      continue;
    /* What could not be removed goes with the next run. */
    assert_string_equal(call, "unlinkat");
    assert_int_equal(run_in(dir, plan, &operation), 0);
    assert_int_equal(directory_entries(dir), 0);
  }
}

static void each_call_that_fails_is_told(void **state) {
  struct gather_plan plans[PLANS_MAX];
  size_t count = 0;
  for (size_t i = 0, made = make_plans(plans); i < made; i++) {
    const char *operation;
    if (run_in(*state, &plans[i], &operation) == 0)
      plans[count++] = plans[i];
  }
  for (const char *const *call = failing_calls; *call; call++) {
    size_t failures = 0;
    for (size_t i = 0; i < count; i++)
      failures += fail_each(*state, &plans[i], *call);
    if (failures == 0)
      fail_msg("no plan calls %s", *call);
  }
}

/* Lets each call of that name fail once. Returns how often the run went on all the same. */
static size_t fail_and_go_on(const char *dir, const struct gather_plan *plan, const char *call, int error_number) {
  for (size_t number = 1, survived = 0;; number++) {
    const char *operation;
    fail_call(call, number, error_number);
    int error = run_in(dir, plan, &operation);
    if (!call_failed())
      return survived;
    survived += error == 0;
    /* Of all that is opened only a window has another way. */
    if (error < 0 && strcmp(call, "openat64") != 0)
      fail_msg("%s %zu: %s: %s", call, number, operation, strerror(-error));
  }
}

/* Signals are waited out; a name that is taken, and a file system without locks or without files that have no name,
 * have another way. */
static void what_is_no_failure_is_got_over(void **state) {
  const struct {
    const char *call;
    int error;
  } cases[] = {
      {"fdatasync", EINTR},   {"fsync", EINTR},         {"posix_fallocate64", EINTR},
      {"fallocate64", EINTR}, {"pread64", EINTR},       {"pwrite64", EINTR},
      {"read", EINTR},        {"mkdirat", EEXIST},      {"flock", EBADF},
      {"flock", EIO},         {"openat64", EOPNOTSUPP}, {"openat64", EPERM},
      {"openat64", ENOSYS},   {"openat64", EACCES},     {"faccessat", EPERM},
      {"statvfs64", EPERM},
  };
  struct gather_plan plans[PLANS_MAX];
  const size_t count = make_plans(plans);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    size_t survived = 0;
    for (size_t i = 0; i < count; i++)
      survived += fail_and_go_on(*state, &plans[i], cases[c].call, cases[c].error);
    if (survived == 0)
      fail_msg("no plan gets over %s in %s", strerror(cases[c].error), cases[c].call);
  }
}

int main(void) {
  (void)signal(SIGPIPE, SIG_IGN); /* as the benchmark does: a reader that fails closes its end */
  const struct CMUnitTest tests[] = {
      WITH_DIRECTORY(each_call_that_fails_is_told),
      WITH_DIRECTORY(what_is_no_failure_is_got_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

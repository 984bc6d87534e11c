/* test_run.c: every plan that the tables allow writes what it should, and leaves nothing behind. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "environment.h"
#include "test.h"

static const struct shape shapes[] = {
    {1, {16}, 1, 160},   {4, {16000}, 1, 100000}, {5, {24, 4096}, 2, 30000},
    {7, {0, 3}, 2, 100}, {1025, {1}, 1, 1100},    {3, {4096}, 1, 20480}, /* whole blocks, for O_DIRECT */
};

/* Calls that a strategy makes for a whole batch of `count` buffers; CALLS_UNKNOWN where a library decides. */
#define CALLS_UNKNOWN UINT64_MAX
static uint64_t expected_calls(const struct gather_plan *plan) {
  const struct gather_strategy *strategy = plan->strategy;
  if (!(strategy->provided & GATHER_WRITES))
    return 0;
  if (strategy->batch_calls == GATHER_CALLS_OF_LIBRARY)
    return CALLS_UNKNOWN;
  if (strategy->batch_calls == GATHER_CALLS_PER_BUFFER || strategy->shape == GATHER_PER_BUFFER)
    return plan->count;
  return strategy->shape == GATHER_CONTIGUOUS ? 1 : (plan->count + 1023) / 1024;
}

/* A thousand calls that are each synced take minutes on a slow disk, and show nothing that seven do not. */
static bool waits_too_often(const struct gather_plan *plan) {
  const bool synced = plan->durability->open_flags || plan->durability->call_flags;
  return synced && plan->count > 100 && expected_calls(plan) == plan->count;
}

struct walk {
  struct gather_workspace workspace;
  size_t run, refused, unavailable;
};

static void run_one(const struct gather_plan *plan, void *context) {
  struct walk *walk = context;
  if (gather_plan_refuse(plan)) {
    walk->refused++;
    return;
  }
  if (waits_too_often(plan))
    return;
  char name[GATHER_NAME_MAX], reason[160];
  gather_plan_name(plan, name, sizeof name);
  int unavailable = gather_plan_probe(plan, &walk->workspace, reason, sizeof reason);
  if (unavailable < 0)
    fail_msg("%s: %s", name, reason);
  if (unavailable) {
    walk->unavailable++;
    return;
  }
  struct gather_stats stats;
  int error = run_verified(plan, &walk->workspace, 2, &stats);
  if (error)
    fail_msg("%s: %s", name, strerror(-error));
  if (!(plan->scope->provided & GATHER_WHOLE_FILE) && expected_calls(plan) != CALLS_UNKNOWN &&
      stats.calls != 2 * expected_calls(plan))
    fail_msg("%s: %llu calls", name, (unsigned long long)stats.calls);
  walk->run++;
}

static void every_legal_plan_writes_its_bytes(void **state) {
  struct walk walk = {0};
  gather_workspace_init(&walk.workspace, *state);
  /* Another compiler or architecture sees the first and the last shape. */
  const size_t count = sizeof shapes / sizeof *shapes, step = getenv("GATHERBENCH_FEW_SHAPES") ? count - 1 : 1;
  for (size_t i = 0; i < count; i += step)
    for_each_plan(&shapes[i], run_one, &walk);
  for_each_way_of_creating(&shapes[sizeof shapes / sizeof *shapes - 1], run_one, &walk);
  assert_true(walk.run > 100);
  assert_true(walk.refused > 0);
  print_message("%zu plans run, %zu refused, %zu not available here\n", walk.run, walk.refused, walk.unavailable);
  assert_int_equal(gather_workspace_close(&walk.workspace), 0); /* fails if a file was left in its directory */
}

/* The blog's numbers of calls, on a file of a thousandth of its size: 100,000 bytes are 6 buffers
 * of 16,000 and a rest. */
static void calls_of_a_file(void **state) {
  const struct shape shape = {4, {16000}, 1, 100000};
  struct gather_plan plan = usual_plan(&shape);
  plan.scope = gather_scope_find("file");
  struct gather_stats stats;
  assert_int_equal(run_verified_in(*state, &plan, 1, &stats), 0);
  assert_int_equal(stats.calls, 7);
  plan.strategy = gather_strategy_find("pwritev");
  assert_int_equal(run_verified_in(*state, &plan, 1, &stats), 0);
  assert_int_equal(stats.calls, 2);
}

/* With a window of two and a half batches the third batch starts again at 0, for calls with offsets
 * and without. */
static void window_wraps(void **state) {
  const char *const strategies[] = {"write", "pwrite", "writev", "coalesce"};
  for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
    struct gather_plan plan = usual_plan(&(struct shape){2, {100}, 1, 0});
    plan.strategy = gather_strategy_find(strategies[i]);
    plan.window_bytes = 500;
    assert_int_equal(run_verified_in(*state, &plan, 7, NULL), 0);

    struct gather_workspace workspace;
    gather_workspace_init(&workspace, *state);
    struct gather_run run;
    assert_int_equal(gather_open(&run, &plan, &workspace, 0), 0);
    for (int op = 0; op < 7; op++)
      assert_int_equal(gather_op(&run), 0);
    struct stat status;
    assert_int_equal(fstat(run.fd, &status), 0);
    assert_int_equal(status.st_size, 500);
    assert_int_equal(run.position, 200);
    assert_int_equal(gather_close(&run), 0);
    assert_int_equal(gather_workspace_close(&workspace), 0);
  }
}

/* Rows with other open flags write the same pages: what one wrote, another descriptor reads. */
static void rows_share_one_window(void **state) {
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, *state);
  struct gather_plan plan = usual_plan(&(struct shape){1, {512}, 1, 0});
  struct gather_plan durable = plan;
  durable.durability = gather_durability_find("odsync");
  struct gather_run first, second;
  assert_int_equal(gather_open(&first, &plan, &workspace, 0), 0);
  assert_int_equal(gather_open(&second, &durable, &workspace, 0), 0);
  struct stat one, two;
  assert_int_equal(fstat(first.fd, &one), 0);
  assert_int_equal(fstat(second.fd, &two), 0);
  assert_int_equal(one.st_ino, two.st_ino);
  assert_int_equal(fcntl(second.fd, F_GETFL) & O_DSYNC, O_DSYNC);
  assert_int_equal(fcntl(first.fd, F_GETFL) & O_DSYNC, 0);
  assert_int_equal(gather_close(&first), 0);
  assert_int_equal(gather_close(&second), 0);
  assert_int_equal(gather_workspace_close(&workspace), 0);
}

/* A window that lies in a file shared with other threads stays within its own part, for calls with offsets and without.
 */
static void shared_windows_are_disjoint(void **state) {
  const char *const strategies[] = {"write", "pwritev", "coalesce", "stdio"};
  for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
    struct gather_workspace workspace;
    gather_workspace_init(&workspace, *state);
    struct gather_plan plan = usual_plan(&(struct shape){2, {100}, 1, 0});
    plan.strategy = gather_strategy_find(strategies[i]);
    plan.shared_file = true;
    plan.threads = 3;
    plan.window_bytes = 500;
    struct gather_run run;
    assert_int_equal(gather_open(&run, &plan, &workspace, 1), 0);
    char before[1500], after[1500];
    assert_int_equal(pread(run.fd, before, sizeof before, 0), sizeof before);
    for (int op = 0; op < 7; op++)
      assert_int_equal(gather_op(&run), 0);
    assert_int_equal(gather_verify(&run), 0);
    assert_int_equal(pread(run.fd, after, sizeof after, 0), sizeof after);
    assert_memory_equal(before, after, 500);
    assert_memory_not_equal(before + 500, after + 500, 200);
    assert_memory_equal(before + 900, after + 900, 600);
    assert_int_equal(gather_close(&run), 0);
    assert_int_equal(gather_workspace_close(&workspace), 0);
  }
}

/* O_DIRECT is never claimed where the file system ignores it: tmpfs takes the flag and caches all the same. */
static void ignored_direct_is_refused(void **state) {
  (void)state;
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, "/dev/shm");
  char type[64] = "";
  if (gather_environment_read("/dev/shm", "filesystem", type, sizeof type) != 0 || strcmp(type, "tmpfs") != 0)
    skip();
  struct gather_plan plan = usual_plan(&(struct shape){2, {4096}, 1, 8192});
  plan.direct = true;
  const char *const scopes[] = {"op", "file"};
  for (size_t i = 0; i < 2; i++) {
    plan.scope = gather_scope_find(scopes[i]);
    char reason[160];
    assert_int_equal(gather_plan_probe(&plan, &workspace, reason, sizeof reason), 1);
    assert_true(strlen(reason) > 0);
  }
  assert_int_equal(gather_workspace_close(&workspace), 0);
}

/* More than 2 GiB to /dev/null, in one batch and in one buffer, without so much memory. */
static void totals_past_two_gib(void **state) {
  if (getenv("QEMU_PAGESIZE"))
    skip(); /* qemu-user 7.2 cannot map shared memory there with pages that are not the kernel's */
  const struct {
    const char *strategy;
    size_t count, size;
    uint64_t calls;
  } cases[] = {
      {"writev", 3, (size_t)1 << 30, 3}, /* two buffers would be one page too many for a call */
      {"writev", 40, (size_t)64 << 20, 2},
      {"write", 1, (size_t)3 << 30, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct gather_plan plan = usual_plan(&(struct shape){cases[i].count, {cases[i].size}, 1, 0});
    plan.target = gather_target_find("null");
    plan.strategy = gather_strategy_find(cases[i].strategy);
    assert_null(gather_plan_refuse(&plan));
    struct gather_stats stats;
    assert_int_equal(run_verified_in(*state, &plan, 1, &stats), 0);
    assert_int_equal(stats.calls, cases[i].calls);
    assert_int_equal(stats.short_writes, 0);
  }
  struct rusage usage;
  assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
  assert_true(usage.ru_maxrss < 1 << 20); /* KiB */
}

static void offsets_past_four_gib(void **state) {
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, *state);
  struct gather_plan plan = usual_plan(&(struct shape){2, {100}, 1, 0});
  struct gather_run run;
  assert_int_equal(gather_open(&run, &plan, &workspace, 0), 0);
  const int64_t offsets[] = {INT64_C(1) << 31, (INT64_C(1) << 32) - 4096, INT64_C(1) << 33};
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
    run.position = run.position_end = offsets[i];
    assert_int_equal(gather_op(&run), 0);
    assert_int_equal(gather_verify(&run), 0);
  }
  assert_int_equal(gather_close(&run), 0);
  assert_int_equal(gather_workspace_close(&workspace), 0);
}

static void time_of_sync_is_noted(void **state) {
  struct gather_plan plan = usual_plan(&(struct shape){2, {100}, 1, 1000});
  struct gather_stats stats;
  assert_int_equal(run_verified_in(*state, &plan, 3, &stats), 0);
  assert_int_equal(stats.sync_ns, 0);
  plan.durability = gather_durability_find("fdatasync");
  assert_int_equal(run_verified_in(*state, &plan, 3, &stats), 0);
  assert_true(stats.sync_ns > 0);
}

static void a_processor_that_is_not_there_is_an_error(void **state) {
  struct gather_plan plan = usual_plan(&(struct shape){2, {100}, 1, 1000});
  plan.pinned = true;
  assert_int_equal(run_verified_in(*state, &plan, 1, NULL), 0);
  plan.cpu = 1023;
  assert_non_null(gather_plan_refuse(&plan));
}

/* An op that writes nothing must not pass because an earlier one wrote the same bytes there. */
static void verification_notices_a_lost_write(void **state) {
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, *state);
  struct gather_plan plan = usual_plan(&(struct shape){3, {100}, 1, 0});
  plan.window_bytes = 300;
  struct gather_run run;
  assert_int_equal(gather_open(&run, &plan, &workspace, 0), 0);
  assert_int_equal(gather_verified_op(&run), 0);
  run.write = gather_strategy_find("none")->write;
  assert_int_equal(gather_verified_op(&run), -EBADMSG);
  assert_int_equal(gather_close(&run), 0);
  assert_int_equal(gather_workspace_close(&workspace), 0);
}

/* Transfers past the page cache push pages out of it: they have a file of their own. */
static void direct_rows_have_a_window_of_their_own(void **state) {
  (void)state;
  struct gather_plan plan = usual_plan(&(struct shape){1, {4096}, 1, 0});
  struct gather_plan direct = plan;
  direct.direct = true;
  for (unsigned i = 0; i < 4; i++)
    for (unsigned k = 0; k < 4; k++)
      assert_int_not_equal(gather_plan_window_index(&plan, i), gather_plan_window_index(&direct, k));
}

/* Verification must notice a wrong byte: break the file behind its back. */
static void verification_notices_a_wrong_byte(void **state) {
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, *state);
  struct gather_plan plan = usual_plan(&(struct shape){3, {100}, 1, 0});
  struct gather_run run;
  assert_int_equal(gather_open(&run, &plan, &workspace, 0), 0);
  assert_int_equal(gather_op(&run), 0);
  assert_int_equal(gather_verify(&run), 0);
  char byte;
  assert_int_equal(pread(run.fd, &byte, 1, 299), 1);
  byte ^= 1;
  assert_int_equal(pwrite(run.fd, &byte, 1, 299), 1);
  assert_int_equal(gather_verify(&run), -EBADMSG);
  assert_int_equal(gather_close(&run), 0);
  assert_int_equal(gather_workspace_close(&workspace), 0);
}

static int lengthen_by_a_byte(struct gather_run *run) {
  assert_int_equal(ftruncate(run->fd, (off_t)run->plan->file_bytes + 1), 0);
  return gather_verify(run);
}

static int shorten_by_a_byte(struct gather_run *run) {
  assert_int_equal(ftruncate(run->fd, (off_t)run->plan->file_bytes - 1), 0);
  return gather_verify(run);
}

static void verification_notices_a_wrong_length(void **state) {
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, *state);
  struct gather_plan plan = usual_plan(&(struct shape){3, {100}, 1, 1000});
  plan.scope = gather_scope_find("file");
  struct gather_run run;
  assert_int_equal(gather_open(&run, &plan, &workspace, 0), 0);
  run.inspect = lengthen_by_a_byte;
  assert_int_equal(gather_op(&run), -EBADMSG);
  run.inspect = shorten_by_a_byte;
  assert_int_equal(gather_op(&run), -EBADMSG);
  run.inspect = gather_verify;
  assert_int_equal(gather_op(&run), 0);
  assert_int_equal(gather_close(&run), 0);
  assert_int_equal(gather_workspace_close(&workspace), 0);
}

static void buffers_are_distinct_unless_one_is_reused(void **state) {
  (void)state;
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, *state);
  struct gather_plan plan = usual_plan(&(struct shape){3, {100}, 1, 0});
  struct gather_run run;
  assert_int_equal(gather_open(&run, &plan, &workspace, 0), 0);
  assert_memory_not_equal(run.batch.buffers[0].iov_base, run.batch.buffers[1].iov_base, 100);
  assert_int_equal(gather_close(&run), 0);
  plan.reuse_buffer = true;
  assert_int_equal(gather_open(&run, &plan, &workspace, 0), 0);
  assert_ptr_equal(run.batch.buffers[0].iov_base, run.batch.buffers[2].iov_base);
  assert_int_equal(gather_close(&run), 0);
  assert_int_equal(gather_workspace_close(&workspace), 0);
}

static void missing_directory_is_an_error(void **state) {
  char path[512];
  snprintf(path, sizeof path, "%s/missing", (const char *)*state);
  const char *const scopes[] = {"op", "file"};
  for (size_t i = 0; i < 2; i++) {
    struct gather_plan plan = usual_plan(&(struct shape){1, {16}, 1, 16});
    plan.scope = gather_scope_find(scopes[i]);
    struct gather_workspace workspace;
    gather_workspace_init(&workspace, path);
    struct gather_run run;
    assert_int_equal(gather_open(&run, &plan, &workspace, 0), -ENOENT);
    assert_string_equal(run.failure.call, "open directory");
    assert_int_equal(gather_workspace_close(&workspace), 0);
  }
}

static void make_directory(const char *dir, const char *name, const char *file) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  assert_int_equal(mkdir(path, 0700), 0);
  if (file) {
    snprintf(path, sizeof path, "%s/%s/%s", dir, name, file);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
  }
}

static bool exists(const char *dir, const char *name) {
  char path[512];
  struct stat status;
  snprintf(path, sizeof path, "%s/%s", dir, name);
  return lstat(path, &status) == 0;
}

static void remove_path(const char *dir, const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  assert_int_equal(remove(path), 0);
}

/* What a killed run left behind goes; what another run holds, or what is not ours, stays. */
static void stale_directories_are_removed(void **state) {
  const char *dir = *state;
  make_directory(dir, ".gatherbench-dead", "file-0");
  make_directory(dir, ".gatherbench-live", "file-0");
  make_directory(dir, ".gatherbench-else", "letter");
  make_directory(dir, "elsewhere", "file-0");
  char link[512];
  snprintf(link, sizeof link, "%s/.gatherbench-link", dir);
  assert_int_equal(symlink("elsewhere", link), 0);
  char live[512];
  snprintf(live, sizeof live, "%s/.gatherbench-live", dir);
  int live_fd = open(live, O_RDONLY | O_DIRECTORY);
  assert_int_equal(flock(live_fd, LOCK_EX), 0);

  struct gather_plan plan = usual_plan(&(struct shape){1, {16}, 1, 16});
  plan.scope = gather_scope_find("file");
  assert_int_equal(run_verified_in(dir, &plan, 1, NULL), 0);

  assert_false(exists(dir, ".gatherbench-dead"));
  assert_true(exists(dir, ".gatherbench-live/file-0"));
  assert_true(exists(dir, ".gatherbench-else/letter"));
  assert_true(exists(dir, ".gatherbench-link"));
  assert_true(exists(dir, "elsewhere/file-0"));

  assert_int_equal(close(live_fd), 0);
  const char *const left[] = {
      ".gatherbench-link", ".gatherbench-live/file-0", ".gatherbench-live", ".gatherbench-else/letter",
      ".gatherbench-else", "elsewhere/file-0",         "elsewhere"};
  for (size_t i = 0; i < sizeof left / sizeof *left; i++)
    remove_path(dir, left[i]);
}

static void environment_names_kernel_and_file_system(void **state) {
  const char *const keys[] = {"kernel", "filesystem", "directory", "machine"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    char value[GATHER_FACT_MAX] = "";
    assert_int_equal(gather_environment_read(*state, keys[i], value, sizeof value), 0);
    assert_true(strlen(value) > 0);
  }
  char value[8];
  assert_int_equal(gather_environment_read(*state, "no such key", value, sizeof value), -EINVAL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_DIRECTORY(every_legal_plan_writes_its_bytes),
      WITH_DIRECTORY(calls_of_a_file),
      WITH_DIRECTORY(window_wraps),
      WITH_DIRECTORY(rows_share_one_window),
      WITH_DIRECTORY(shared_windows_are_disjoint),
      cmocka_unit_test(ignored_direct_is_refused),
      WITH_DIRECTORY(totals_past_two_gib),
      WITH_DIRECTORY(offsets_past_four_gib),
      WITH_DIRECTORY(time_of_sync_is_noted),
      WITH_DIRECTORY(a_processor_that_is_not_there_is_an_error),
      WITH_DIRECTORY(verification_notices_a_lost_write),
      cmocka_unit_test(direct_rows_have_a_window_of_their_own),
      WITH_DIRECTORY(verification_notices_a_wrong_byte),
      WITH_DIRECTORY(verification_notices_a_wrong_length),
      WITH_DIRECTORY(buffers_are_distinct_unless_one_is_reused),
      WITH_DIRECTORY(missing_directory_is_an_error),
      WITH_DIRECTORY(stale_directories_are_removed),
      WITH_DIRECTORY(environment_names_kernel_and_file_system),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

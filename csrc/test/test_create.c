/* test_create.c: what each way of creating a file finds, leaves, and does when something fails. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static const struct shape shape = {3, {4096}, 1, 20480};

static struct gather_plan plan_of(const struct gather_create *create) {
  struct gather_plan plan = usual_plan(&shape);
  plan.scope = gather_scope_find("file");
  plan.create = create;
  return plan;
}

/* The length of a file in the run's directory, or -errno. */
static int64_t length_of(const struct gather_run *run, const char *name) {
  struct stat status;
  return fstatat(run->workspace->private_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : status.st_size;
}

/* The first byte of the file that an op leaves. */
static char first_byte(const struct gather_run *run) {
  char byte;
  int fd = openat(run->workspace->private_fd, run->saved_name, O_RDONLY);
  assert_true(fd >= 0);
  assert_int_equal(pread(fd, &byte, 1, 0), 1);
  assert_int_equal(close(fd), 0);
  return byte;
}

static void open_run(struct gather_run *run, const struct gather_plan *plan, struct gather_workspace *workspace,
                     const char *dir) {
  assert_null(gather_plan_refuse(plan));
  gather_workspace_init(workspace, dir);
  assert_int_equal(gather_open(run, plan, workspace, 0), 0);
}

/* Nothing stays, whatever happened before. */
static void close_run(struct gather_run *run) {
  struct gather_workspace *workspace = run->workspace;
  (void)gather_close(run);
  assert_int_equal(gather_workspace_close(workspace), 0);
}

static void an_op_leaves_its_file_where_it_should(void **state) {
  for (const struct gather_create *const *create = gather_creates; *create; create++)
    for (int keep = 0; keep < 2; keep++) {
      struct gather_plan plan = plan_of(*create);
      plan.keep = keep != 0;
      const int64_t before = (*create)->replaces ? 20480 : -ENOENT;
      const int64_t after = gather_plan_keeps(&plan) ? 20480 : -ENOENT;
      struct gather_workspace workspace;
      struct gather_run run;
      open_run(&run, &plan, &workspace, *state);
      for (int op = 0; op < 3; op++) {
        assert_int_equal(gather_prepare(&run), 0);
        assert_int_equal(length_of(&run, run.saved_name), before);
        assert_int_equal(gather_op(&run), 0);
        assert_int_equal(length_of(&run, run.saved_name), after);
        if (after > 0)
          assert_int_equal(first_byte(&run), *(const char *)run.batch.buffers[0].iov_base);
        if (strcmp(run.file_name, run.saved_name) != 0)
          assert_int_equal(length_of(&run, run.file_name), -ENOENT);
      }
      close_run(&run);
    }
}

/* Each byte of what an op writes is read back, over an old file with other bytes. */
static void every_way_writes_its_bytes(void **state) {
  for (const struct gather_create *const *create = gather_creates; *create; create++) {
    struct gather_plan plan = plan_of(*create);
    assert_int_equal(run_verified_in(*state, &plan, 3, NULL), 0);
    plan.durability = gather_durability_find("fsync");
    assert_int_equal(run_verified_in(*state, &plan, 3, NULL), 0);
  }
}

static int write_nothing(struct gather_run *run, const struct gather_batch *batch, int64_t offset) {
  (void)run;
  (void)batch;
  (void)offset;
  return 0;
}

/* The bytes of an earlier op must not pass for those of one that wrote nothing. */
static void verification_notices_an_op_that_writes_nothing(void **state) {
  for (const struct gather_create *const *create = gather_creates; *create; create++) {
    struct gather_plan plan = plan_of(*create);
    struct gather_workspace workspace;
    struct gather_run run;
    open_run(&run, &plan, &workspace, *state);
    assert_int_equal(gather_verified_op(&run), 0);
    run.write = write_nothing;
    assert_int_equal(gather_verified_op(&run), -EBADMSG);
    close_run(&run);
  }
}

static int fail_to_write(struct gather_run *run, const struct gather_batch *batch, int64_t offset) {
  (void)batch;
  (void)offset;
  run->failure = (struct gather_failure){"pwrite", -ENOSPC};
  return -ENOSPC;
}

/* A new file that could not be written takes nobody's place. */
static void a_failed_write_leaves_the_old_file_under_its_name(void **state) {
  struct gather_plan plan = plan_of(gather_create_find("rename"));
  struct gather_workspace workspace;
  struct gather_run run;
  open_run(&run, &plan, &workspace, *state);
  const char old = first_byte(&run);
  run.write = fail_to_write;
  assert_int_equal(gather_op(&run), -ENOSPC);
  assert_int_equal(length_of(&run, run.saved_name), 20480);
  assert_int_equal(first_byte(&run), old);
  assert_int_equal(length_of(&run, run.file_name), -ENOENT);
  close_run(&run);
}

/* An old file that vanishes is an error, and not measured as a new one. */
static void an_old_file_that_vanishes_is_an_error(void **state) {
  for (const struct gather_create *const *create = gather_creates; *create; create++) {
    if (!(*create)->replaces || (*create)->renames)
      continue;
    struct gather_plan plan = plan_of(*create);
    struct gather_workspace workspace;
    struct gather_run run;
    open_run(&run, &plan, &workspace, *state);
    assert_int_equal(unlinkat(workspace.private_fd, run.saved_name, 0), 0);
    assert_int_equal(gather_op(&run), -ENOENT);
    assert_non_null(run.failure.call);
    close_run(&run);
  }
}

/* One that vanishes after an op is noticed before the next. */
static void a_kept_file_that_vanishes_is_an_error(void **state) {
  struct gather_plan plan = plan_of(gather_create_find("new"));
  plan.keep = true;
  struct gather_workspace workspace;
  struct gather_run run;
  open_run(&run, &plan, &workspace, *state);
  assert_int_equal(gather_op(&run), 0);
  assert_int_equal(unlinkat(workspace.private_fd, run.saved_name, 0), 0);
  assert_int_equal(gather_prepare(&run), -ENOENT);
  assert_string_equal(run.failure.call, "open the old file");
  close_run(&run);
}

/* The phases lie within the op, one after the other. */
static void phases_add_up(void **state) {
  for (const struct gather_create *const *create = gather_creates; *create; create++) {
    struct gather_plan plan = plan_of(*create);
    plan.durability = gather_durability_find("fdatasync");
    struct gather_workspace workspace;
    struct gather_run run;
    open_run(&run, &plan, &workspace, *state);
    for (int each = 0; each < 2; each++) {
      const struct gather_stats before = run.stats;
      assert_int_equal(gather_prepare(&run), 0);
      const uint64_t begin_ns = gather_clock_ns();
      assert_int_equal(gather_op(&run), 0);
      const uint64_t op_ns = gather_clock_ns() - begin_ns;
      const uint64_t phases[] = {run.stats.open_ns - before.open_ns, run.stats.write_ns - before.write_ns,
                                 run.stats.sync_ns - before.sync_ns, run.stats.close_ns - before.close_ns};
      uint64_t sum_ns = 0;
      for (size_t i = 0; i < 4; i++) {
        assert_true(phases[i] > 0);
        sum_ns += phases[i];
      }
      assert_true(sum_ns <= op_ns);
    }
    close_run(&run);
  }
}

/* Where batches are synced one by one, their syncs are no part of the writing. */
static void syncs_between_batches_are_no_writing(void **state) {
  struct gather_plan plan = plan_of(NULL);
  plan.durability = gather_durability_find("fsync");
  plan.sync_each = true;
  struct gather_stats stats;
  const uint64_t begin_ns = gather_clock_ns();
  assert_int_equal(run_verified_in(*state, &plan, 1, &stats), 0);
  assert_true(stats.sync_ns > 0 && stats.write_ns > 0);
  assert_true(stats.open_ns + stats.write_ns + stats.sync_ns + stats.close_ns <= gather_clock_ns() - begin_ns);
}

static void assert_refused(const struct gather_plan *plan, const char *part_of_reason) {
  const char *reason = gather_plan_refuse(plan);
  assert_non_null(reason);
  if (strstr(reason, part_of_reason) == NULL)
    fail_msg("'%s' does not say '%s'", reason, part_of_reason);
}

static void what_makes_no_sense_is_refused(void **state) {
  (void)state;
  struct gather_plan plan = plan_of(gather_create_find("truncate"));
  plan.target = gather_target_find("null");
  assert_refused(&plan, "no blocks to create");
  plan = plan_of(gather_create_find("truncate"));
  plan.scope = gather_scope_find("op");
  assert_refused(&plan, "scope `file`");
  plan = plan_of(gather_create_find("overwrite"));
  plan.preallocate = true;
  assert_refused(&plan, "has its blocks");
  plan = plan_of(gather_create_find("rename"));
  plan.threads = 2;
  assert_refused(&plan, "one thread");
  assert_int_equal(gather_plan_disk_bytes(&plan), 2 * 2 * 20480);
  plan = usual_plan(&shape);
  plan.keep = true;
  assert_refused(&plan, "scope `file`");
}

/* What was laid in other pieces is laid anew, to the length that it had, and overwritten as before. */
static void a_window_is_laid_anew_for_other_pieces(void **state) {
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, *state);
  struct gather_plan plan = usual_plan(&shape);
  plan.laid = GATHER_LAID_IN_PIECES;
  const size_t sizes[] = {4096, 100, 4096};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    plan.sizes[0] = sizes[i];
    struct gather_run run;
    struct stat status;
    assert_null(gather_plan_refuse(&plan));
    assert_int_equal(gather_open(&run, &plan, &workspace, 0), 0);
    assert_int_equal(gather_verified_op(&run), 0);
    assert_int_equal(fstat(run.fd, &status), 0);
    assert_int_equal(status.st_size, plan.window_bytes);
    assert_int_equal(gather_close(&run), 0);
  }
  assert_int_equal(gather_workspace_close(&workspace), 0);
  plan.scope = gather_scope_find("file");
  assert_refused(&plan, "nothing that could be laid");
  plan.create = gather_create_find("overwrite");
  assert_int_equal(run_verified_in(*state, &plan, 2, NULL), 0);
}

static void names_say_what_is_not_usual(void **state) {
  (void)state;
  char name[GATHER_NAME_MAX];
  struct gather_plan plan = plan_of(gather_create_find("new"));
  gather_plan_name(&plan, name, sizeof name);
  assert_null(strstr(name, "create"));
  assert_null(strstr(name, "keep"));
  plan.keep = true;
  gather_plan_name(&plan, name, sizeof name);
  assert_non_null(strstr(name, "/sync:none/keep:yes/"));
  plan.create = gather_create_find("dotnet");
  gather_plan_name(&plan, name, sizeof name);
  assert_non_null(strstr(name, "/create:dotnet/keep:yes/"));
  plan.create = gather_create_find("rename"); /* which always keeps */
  gather_plan_name(&plan, name, sizeof name);
  assert_non_null(strstr(name, "/create:rename/file_bytes:"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_DIRECTORY(an_op_leaves_its_file_where_it_should),
      WITH_DIRECTORY(every_way_writes_its_bytes),
      WITH_DIRECTORY(verification_notices_an_op_that_writes_nothing),
      WITH_DIRECTORY(a_failed_write_leaves_the_old_file_under_its_name),
      WITH_DIRECTORY(an_old_file_that_vanishes_is_an_error),
      WITH_DIRECTORY(a_kept_file_that_vanishes_is_an_error),
      WITH_DIRECTORY(phases_add_up),
      WITH_DIRECTORY(syncs_between_batches_are_no_writing),
      cmocka_unit_test(what_makes_no_sense_is_refused),
      WITH_DIRECTORY(a_window_is_laid_anew_for_other_pieces),
      cmocka_unit_test(names_say_what_is_not_usual),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_plan.c: names, sums and refusals. */
#include <errno.h>
#include <string.h>

#include "test.h"

static const struct shape blog = {4, {16000}, 1, 100000000};

static void name_of_a_batch(void **state) {
  (void)state;
  struct gather_plan plan = usual_plan(&blog);
  plan.strategy = gather_strategy_find("writev");
  plan.window_bytes = GATHER_WINDOW_BYTES;
  char name[GATHER_NAME_MAX];
  int length = gather_plan_name(&plan, name, sizeof name);
  assert_int_equal(length, strlen(name));
  assert_string_equal(name, "op/strategy:writev/target:file/sync:none/count:4/size:16000");
}

static void name_of_what_is_unusual(void **state) {
  (void)state;
  struct gather_plan plan = usual_plan(&(struct shape){3, {24, 4096}, 2, 0});
  char name[GATHER_NAME_MAX];
  gather_plan_name(&plan, name, sizeof name);
  assert_string_equal(name, "op/strategy:pwrite/target:file/sync:none/window:262144/count:3/size:24+4096");
  plan.scope = gather_scope_find("file");
  plan.preallocate = true;
  plan.file_bytes = 9000;
  gather_plan_name(&plan, name, sizeof name);
  assert_string_equal(name, "file/strategy:pwrite/target:file/sync:none/preallocate:yes/"
                            "file_bytes:9000/count:3/size:24+4096");
  plan = usual_plan(&(struct shape){3, {24}, 1, 0});
  plan.target = gather_target_find("null");
  plan.reuse_buffer = plan.verify = plan.pinned = true;
  gather_plan_name(&plan, name, sizeof name);
  assert_string_equal(name, "op/strategy:pwrite/target:null/sync:none/buffers:one/verify:yes/cpu:0/count:3/size:24");
}

static void name_that_does_not_fit(void **state) {
  (void)state;
  struct gather_plan plan = usual_plan(&blog);
  char name[8];
  assert_int_equal(gather_plan_name(&plan, name, sizeof name), -ENAMETOOLONG);
  assert_int_equal(strlen(name), sizeof name - 1);
}

static void sums_of_the_blog(void **state) {
  (void)state;
  struct gather_plan plan = usual_plan(&blog);
  plan.scope = gather_scope_find("file");
  assert_int_equal(gather_plan_op_bytes(&plan), 100000000);
  assert_int_equal(gather_plan_op_buffers(&plan), 6250);
  assert_int_equal(gather_plan_batch_bytes(&plan), 64000);
}

static void sums_of_a_pattern(void **state) {
  (void)state;
  struct gather_plan plan = usual_plan(&(struct shape){5, {24, 4096}, 2, 20000});
  assert_int_equal(gather_plan_batch_bytes(&plan), 3 * 24 + 2 * 4096);
  assert_int_equal(gather_plan_buffer_bytes(&plan, 3), 4096);
  plan.scope = gather_scope_find("file");
  /* Two batches of 8,264 bytes, then 24, and 3,448 of the next 4,096. */
  assert_int_equal(gather_plan_op_buffers(&plan), 12);
}

static void assert_refused(const struct gather_plan *plan, const char *part_of_reason) {
  const char *reason = gather_plan_refuse(plan);
  assert_non_null(reason);
  if (strstr(reason, part_of_reason) == NULL)
    fail_msg("'%s' does not say '%s'", reason, part_of_reason);
}

static void refusals_say_why(void **state) {
  (void)state;
  struct gather_plan plan = usual_plan(&blog);
  assert_null(gather_plan_refuse(&plan));

  plan.target = gather_target_find("null");
  assert_null(gather_plan_refuse(&plan));
  plan.durability = gather_durability_find("fsync");
  assert_refused(&plan, "cannot be made durable");

  plan = usual_plan(&blog);
  plan.strategy = gather_strategy_find("none");
  plan.durability = gather_durability_find("fdatasync");
  assert_refused(&plan, "nothing is written");

  plan = usual_plan(&blog);
  plan.preallocate = true;
  assert_refused(&plan, "scope `file`");
  plan.scope = gather_scope_find("file");
  assert_null(gather_plan_refuse(&plan));
  plan.target = gather_target_find("null");
  assert_refused(&plan, "no blocks");

  plan = usual_plan(&blog);
  plan.window_bytes = 63999;
  assert_refused(&plan, "larger than the window");

  plan = usual_plan(&(struct shape){4, {0}, 1, 100});
  assert_null(gather_plan_refuse(&plan));
  plan.scope = gather_scope_find("file");
  assert_refused(&plan, "empty batches");

  plan = usual_plan(&blog);
  plan.window_bytes = UINT64_C(1) << 60;
  plan.threads = 16;
  assert_refused(&plan, "more bytes");

  plan = usual_plan(&(struct shape){1, {4096}, 1, 0});
  plan.direct = true;
  plan.shared_file = true;
  plan.window_bytes = 10000;
  assert_refused(&plan, "whole blocks");

  plan = usual_plan(&blog);
  plan.count = 0;
  assert_refused(&plan, "at least one buffer");

  plan = usual_plan(&blog);
  plan.sizes_count = 0;
  assert_refused(&plan, "one to eight sizes");
  plan.sizes_count = GATHER_SIZES_MAX + 1;
  assert_refused(&plan, "one to eight sizes");

  plan = usual_plan(&blog);
  plan.count = SIZE_MAX;
  assert_refused(&plan, "more bytes than a file can");

  plan = usual_plan(&blog);
  plan.scope = gather_scope_find("file");
  plan.file_bytes = 0;
  assert_refused(&plan, "at least one byte");
}

static void unknown_names_are_not_found(void **state) {
  (void)state;
  assert_null(gather_strategy_find("writevv"));
  assert_null(gather_durability_find(""));
  assert_null(gather_target_find("tape"));
  assert_null(gather_scope_find("File"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(name_of_a_batch),
      cmocka_unit_test(name_of_what_is_unusual),
      cmocka_unit_test(name_that_does_not_fit),
      cmocka_unit_test(sums_of_the_blog),
      cmocka_unit_test(sums_of_a_pattern),
      cmocka_unit_test(refusals_say_why),
      cmocka_unit_test(unknown_names_are_not_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

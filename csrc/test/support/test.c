#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int directory_fd = -1; /* one test at a time has a directory */

int directory_setup(void **state) {
  const char *temporary = getenv("TMPDIR");
  char path[256];
  snprintf(path, sizeof path, "%s/gatherbench-test-XXXXXX", temporary && *temporary ? temporary : "/tmp");
  if (mkdtemp(path) == NULL)
    return -1;
  /* What a killed test left has no lock: bench/test/support/scratch.py removes it by that. */
  directory_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_fd < 0 || flock(directory_fd, LOCK_EX) < 0)
    return -1;
  *state = strdup(path);
  return *state ? 0 : -1;
}

int directory_teardown(void **state) {
  char *path = *state;
  int left = (int)directory_entries(path);
  int error = rmdir(path);
  close(directory_fd);
  free(path);
  return left == 0 && error == 0 ? 0 : -1;
}

size_t directory_entries(const char *path) {
  DIR *entries = opendir(path);
  assert_non_null(entries);
  size_t count = 0;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
    count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  assert_int_equal(closedir(entries), 0);
  return count;
}

struct gather_plan usual_plan(const struct shape *shape) {
  struct gather_plan plan = {
      .scope = gather_scope_find("op"),
      .strategy = gather_strategy_find("pwrite"),
      .target = gather_target_find("file"),
      .durability = gather_durability_find("none"),
      .count = shape->count,
      .sizes_count = shape->sizes_count,
      .window_bytes = 1 << 18,
      .file_bytes = shape->file_bytes,
  };
  memcpy(plan.sizes, shape->sizes, sizeof plan.sizes);
  return plan;
}

void for_each_plan(const struct shape *shape, void (*each)(const struct gather_plan *plan, void *context),
                   void *context) {
  const struct gather_plan usual = usual_plan(shape);
  for (const struct gather_scope *const *scope = gather_scopes; *scope; scope++)
    for (const struct gather_strategy *const *strategy = gather_strategies; *strategy; strategy++)
      for (const struct gather_target *const *target = gather_targets; *target; target++)
        for (const struct gather_durability *const *durability = gather_durabilities; *durability; durability++)
          for (unsigned flag = 0; flag < 5; flag++) {
            struct gather_plan plan = usual;
            plan.scope = *scope;
            plan.strategy = *strategy;
            plan.target = *target;
            plan.durability = *durability;
            plan.verify = true;
            plan.preallocate = flag == 1;
            plan.reuse_buffer = flag == 2;
            plan.sync_each = flag == 3;
            plan.direct = flag == 4;
            each(&plan, context);
          }
}

void for_each_way_of_creating(const struct shape *shape, void (*each)(const struct gather_plan *plan, void *context),
                              void *context) {
  struct gather_plan file = usual_plan(shape);
  file.scope = gather_scope_find("file");
  for (const struct gather_create *const *create = gather_creates; *create; create++)
    for (const struct gather_durability *const *durability = gather_durabilities; *durability; durability++)
      for (unsigned flag = 0; flag < 4; flag++) {
        file.create = *create;
        file.durability = *durability;
        file.preallocate = flag == 1;
        file.keep = flag == 2;
        file.direct = flag == 3;
        each(&file, context);
      }
}

int run_verified(const struct gather_plan *plan, struct gather_workspace *workspace, unsigned ops,
                 struct gather_stats *stats) {
  struct gather_run run;
  int error = gather_open(&run, plan, workspace, 0);
  if (error)
    return error;
  for (unsigned i = 0; i < ops && !error; i++)
    error = gather_verified_op(&run);
  if (stats)
    *stats = run.stats;
  int close_error = gather_close(&run);
  return error ? error : close_error;
}

int run_verified_in(const char *dir, const struct gather_plan *plan, unsigned ops, struct gather_stats *stats) {
  struct gather_workspace workspace;
  gather_workspace_init(&workspace, dir);
  int error = run_verified(plan, &workspace, ops, stats);
  int close_error = gather_workspace_close(&workspace);
  return error ? error : close_error;
}

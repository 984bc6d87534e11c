/* test.h: what the C tests share: cmocka, a directory of their own, and every plan that the tables
 * allow. */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gather.h"
#include "workspace.h"

/* A setup and a teardown for cmocka: *state is the path of an empty directory. The teardown fails
 * the test if anything is left in it. */
int directory_setup(void **state);
int directory_teardown(void **state);
#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, directory_setup, directory_teardown)

/* Entries of a directory, without . and .. */
size_t directory_entries(const char *path);

/* A shape of a plan. */
struct shape {
  size_t count;
  size_t sizes[GATHER_SIZES_MAX];
  unsigned sizes_count;
  uint64_t file_bytes; /* not a multiple of the batch, so that a tail is written too */
};

/* A plan of the usual rows: scope op, pwrite, file, no sync. */
struct gather_plan usual_plan(const struct shape *shape);

/* Calls `each` for every plan of the tables in that shape, refused ones included: plain, and with each of the plan's
 * flags alone. Stream targets compare what they get. */
void for_each_plan(const struct shape *shape, void (*each)(const struct gather_plan *plan, void *context),
                   void *context);

/* The same for the ways of creating a file, each with every durability and each flag that concerns files. */
void for_each_way_of_creating(const struct shape *shape, void (*each)(const struct gather_plan *plan, void *context),
                              void *context);

/* Runs `ops` ops of a plan, verifies what each wrote, and closes the run. Returns 0 or the first -errno. Injected
 * faults would also hit what this writes to prepare an op. */
int run_verified(const struct gather_plan *plan, struct gather_workspace *workspace, unsigned ops,
                 struct gather_stats *stats);

/* The same in a workspace of its own in `dir`. */
int run_verified_in(const char *dir, const struct gather_plan *plan, unsigned ops, struct gather_stats *stats);

#endif

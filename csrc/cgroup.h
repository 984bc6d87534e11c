/* cgroup.h: the control groups that this process lies in (cgroups(7), version 1 and 2). */
#ifndef GATHER_CGROUP_H
#define GATHER_CGROUP_H

#include <stdint.h>

/* Calls on_group with the folder of the process's own group under a controller, and then of each visible group above
 * it. -ENOSYS where none is visible. */
int gather_cgroup_each(const char *controller, void (*on_group)(const char *folder, void *context), void *context);

/* Reads a number from a group's file: from the line that begins with `key` and a space, or from its only line if `key`
 * is NULL. -ENOENT where there is no such file or line, -ERANGE where it holds no number, such as "max". */
int gather_cgroup_number(const char *folder, const char *file, const char *key, uint64_t *number);

#endif

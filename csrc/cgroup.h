/* cgroup.h: the control groups that this process lies in (cgroups(7), version 1 and 2). */
#ifndef GATHER_CGROUP_H
#define GATHER_CGROUP_H

#include <stdint.h>

/* Reads what a controller's files say in the process's own group and in each group above it that can be seen here, the
 * innermost first: calls on_group with each group's folder. -ENOSYS where no group of the controller is to be seen. */
int gather_cgroup_each(const char *controller, void (*on_group)(const char *folder, void *context), void *context);

/* The number in a file of a folder: of its only line where the key is NULL, else of the line that begins with the key
 * and a space. -ENOENT where it is not there, -ERANGE where it is no number, as "max". */
int gather_cgroup_number(const char *folder, const char *file, const char *key, uint64_t *number);

#endif

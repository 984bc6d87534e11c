/* cgroup.c: finds the process's control groups by /proc/self/cgroup and the table of mounts. */
#include "cgroup.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* A hierarchy of groups, and the process's place in it. */
struct hierarchy {
  const char *controller;
  bool is_v1; /* one hierarchy for each controller, instead of one for all */
  char group[PATH_MAX];
  char mount_root[PATH_MAX], mount_point[PATH_MAX];
};

/* Whether a comma-separated list has that word. */
static bool has_word(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, word, length) == 0 && strchr(",\n", at[length]))
      return true;
  }
  return false;
}

/* A line "ID:CONTROLLERS:GROUP"; version 2 has the line "0::GROUP", which serves where no other names the controller.
 */
static bool match_group(char *line, void *context) {
  struct hierarchy *hierarchy = context;
  char *rest = line;
  line[strcspn(line, "\n")] = '\0';
  (void)strsep(&rest, ":");
  const char *controllers = strsep(&rest, ":");
  if (controllers == NULL || rest == NULL)
    return false;
  hierarchy->is_v1 = has_word(controllers, hierarchy->controller);
  if (hierarchy->is_v1 || *controllers == '\0')
    snprintf(hierarchy->group, sizeof hierarchy->group, "%s", rest);
  return hierarchy->is_v1;
}

/* A line of /proc/self/mountinfo (proc(5)). */
static bool match_hierarchy(char *line, void *context) {
  struct hierarchy *hierarchy = context;
  char type[64], options[256];
  const char *separator = strstr(line, " - ");
  if (separator == NULL || sscanf(separator, " - %63s %*s %255s", type, options) != 2 ||
      strcmp(type, hierarchy->is_v1 ? "cgroup" : "cgroup2") != 0 ||
      (hierarchy->is_v1 && !has_word(options, hierarchy->controller)))
    return false;
  return sscanf(line, "%*s %*s %*s %4095s %4095s", hierarchy->mount_root, hierarchy->mount_point) == 2;
}

int gather_cgroup_each(const char *controller, void (*on_group)(const char *folder, void *context), void *context) {
  struct hierarchy found = {.controller = controller};
  int error = gather_scan("/proc/self/cgroup", match_group, &found);
  if (error && error != -ENOENT)
    return error;
  if (*found.group == '\0' || gather_scan("/proc/self/mountinfo", match_hierarchy, &found) != 0)
    return -ENOSYS;
  /* In a container the mount may show only a part of the hierarchy. */
  size_t root = strcmp(found.mount_root, "/") == 0 ? 0 : strlen(found.mount_root);
  const char *below = strncmp(found.group, found.mount_root, root) == 0 ? found.group + root : "";
  char folder[2 * PATH_MAX];
  size_t point = strlen(found.mount_point);
  snprintf(folder, sizeof folder, "%s%s", found.mount_point, below);
  for (;;) {
    size_t length = strlen(folder);
    while (length > point && folder[length - 1] == '/')
      folder[--length] = '\0';
    on_group(folder, context);
    char *slash = length > point ? strrchr(folder, '/') : NULL;
    if (slash == NULL)
      return 0;
    *slash = '\0';
  }
}

struct line_number {
  const char *key;
  uint64_t number;
  bool is_number;
};

static bool match_number(char *line, void *context) {
  struct line_number *wanted = context;
  size_t length = wanted->key ? strlen(wanted->key) : 0;
  if (length > 0 && (strncmp(line, wanted->key, length) != 0 || line[length] != ' '))
    return false;
  char *end;
  errno = 0;
  wanted->number = strtoull(line + length, &end, 10);
  wanted->is_number = errno == 0 && end != line + length;
  return true;
}

int gather_cgroup_number(const char *folder, const char *file, const char *key, uint64_t *number) {
  char path[2 * PATH_MAX + 64];
  struct line_number wanted = {.key = key};
  snprintf(path, sizeof path, "%s/%s", folder, file);
  int error = gather_scan(path, match_number, &wanted);
  if (error)
    return error;
  *number = wanted.number;
  return wanted.is_number ? 0 : -ERANGE;
}

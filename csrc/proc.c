/* proc.c: reading the kernel's text files under /proc and /sys. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

int gather_scan(const char *path, bool (*on_line)(char *line, void *context), void *context) {
  FILE *file = fopen(path, "re");
  if (file == NULL)
    return -errno;
  char *line = NULL;
  size_t size = 0;
  bool found = false;
  while (!found && getline(&line, &size, file) >= 0)
    found = on_line(line, context);
  free(line);
  int error = ferror(file) ? -EIO : 0;
  if (fclose(file) != 0 && !error)
    error = -errno;
  return error ? error : found ? 0 : -ENOENT;
}

int gather_read_line(const char *path, char *line, size_t size) {
  FILE *file = fopen(path, "re");
  if (file == NULL)
    return -errno;
  int error = fgets(line, (int)size, file) ? 0 : -ENODATA;
  (void)fclose(file); /* it was only read */
  if (!error)
    line[strcspn(line, "\n")] = '\0';
  return error;
}

bool gather_read_field(char *line, void *context) {
  struct gather_field *field = context;
  size_t length = strlen(field->key);
  if (strncmp(line, field->key, length) != 0)
    return false;
  char *value = line + length + strspn(line + length, " \t");
  if (*value != ':')
    return false;
  value += 1 + strspn(value + 1, " \t");
  value[strcspn(value, "\n")] = '\0';
  snprintf(field->value, sizeof field->value, "%s", value);
  return true;
}

int gather_read_number(const char *path, const char *key, uint64_t *number) {
  struct gather_field field = {.key = key};
  int error = gather_scan(path, gather_read_field, &field);
  if (error)
    return error == -ENOENT ? -ENOSYS : error;
  char *end;
  errno = 0;
  *number = strtoull(field.value, &end, 10);
  return errno || end == field.value ? -ENOSYS : 0;
}

#ifdef __linux__
/* The kernel writes space, tab, newline and backslash as \ooo. */
static void unescape(char *text) {
  char *to = text;
  for (const char *from = text; *from; to++) {
    unsigned code;
    if (from[0] == '\\' && sscanf(from + 1, "%3o", &code) == 1) {
      *to = (char)code;
      from += 4;
    } else {
      *to = *from++;
    }
  }
  *to = '\0';
}

/* Single spaces separate the fields: a source may be empty. */
static bool match_mount(char *line, void *context) {
  struct gather_mount *mount = context;
  if (strtoull(line, NULL, 10) != mount->id)
    return false;
  char *separator = strstr(line, " - ");
  if (separator == NULL)
    return false;
  *separator = '\0';
  char *rest = separator + strlen(" - ");
  rest[strcspn(rest, "\n")] = '\0';
  const char *type = strsep(&rest, " ");
  char *source = strsep(&rest, " ");
  const char *super_options = rest;
  const char *options = NULL;
  char *field = line;
  for (int i = 0; i < 6; i++)
    options = strsep(&field, " ");
  if (options == NULL || super_options == NULL)
    return false;
  unescape(source);
  snprintf(mount->type, sizeof mount->type, "%s", type);
  snprintf(mount->source, sizeof mount->source, "%s", source);
  snprintf(mount->options, sizeof mount->options, "%s,%s", options, super_options);
  return true;
}

/* Found by the mount's number: mounts may lie over each other and over a part of each other's paths, and no path tells
 * which one is visible. */
int gather_mount_find(const char *dir, struct gather_mount *mount) {
  int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return -errno;
  char path[40];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  *mount = (struct gather_mount){0};
  int error = gather_read_number(path, "mnt_id", &mount->id);
  (void)close(fd);
  return error ? error : gather_scan("/proc/self/mountinfo", match_mount, mount);
}
#else
int gather_mount_find(const char *dir, struct gather_mount *mount) {
  (void)dir;
  (void)mount;
  return -ENOSYS;
}
#endif

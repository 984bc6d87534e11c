/* environment.c: facts of the machine and the directory of a run. A new fact is a function and a row of its topic's
 * table, in the environment_TOPIC.c of that topic. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "environment_internal.h"

static const struct gather_environment_item *const topics[] = {
    gather_machine_facts, gather_emulation_facts, gather_mount_facts, gather_device_facts, gather_process_facts,
};

void gather_environment_each(const char *dir, void (*on_fact)(const char *key, const char *value)) {
  for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
    for (const struct gather_environment_item *item = topics[i]; item->key; item++) {
      char value[GATHER_FACT_MAX];
      if (item->read(dir, value, sizeof value) == 0)
        on_fact(item->key, value);
    }
}

int gather_environment_read(const char *dir, const char *key, char *value, size_t size) {
  for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
    for (const struct gather_environment_item *item = topics[i]; item->key; item++)
      if (strcmp(item->key, key) == 0)
        return item->read(dir, value, size);
  return -EINVAL;
}

int gather_fact_text(char *value, size_t size, const char *text) {
  return snprintf(value, size, "%s", text) < 0 ? -EINVAL : 0;
}

int gather_fact_choice(char *value, size_t size, const char *path) {
  int error = gather_read_line(path, value, size);
  char *begin = error ? NULL : strchr(value, '[');
  char *end = begin ? strchr(begin, ']') : NULL;
  if (end) {
    *end = '\0';
    memmove(value, begin + 1, (size_t)(end - begin));
  }
  return error;
}

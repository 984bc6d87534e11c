/* environment_internal.h: shared by the files environment_TOPIC.c. */
#ifndef GATHER_ENVIRONMENT_INTERNAL_H
#define GATHER_ENVIRONMENT_INTERNAL_H

#include "environment.h"
#include "internal.h"

/* The facts of a topic, each in the file of its name; each table ends with a NULL key. */
extern const struct gather_environment_item gather_machine_facts[];
extern const struct gather_environment_item gather_emulation_facts[];
extern const struct gather_environment_item gather_mount_facts[];
extern const struct gather_environment_item gather_process_facts[];
extern const struct gather_environment_item gather_device_facts[];

/* Copies a text into value[size]; returns 0 or -EINVAL. */
int gather_fact_text(char *value, size_t size, const char *text);

/* The bracketed choice in the first line of a file, such as "always [madvise] never"; all of the line without one. */
int gather_fact_choice(char *value, size_t size, const char *path);

#endif

/* environment_process.c: under what this process runs. */
#include "environment_internal.h"

static int cpu_affinity(const char *dir, char *value, size_t size) {
  (void)dir;
  struct gather_field field = {.key = "Cpus_allowed_list"};
  int error = gather_scan("/proc/self/status", gather_read_field, &field);
  return error ? error : gather_fact_text(value, size, field.value);
}

const struct gather_environment_item gather_process_facts[] = {
    {"cpu_affinity", cpu_affinity},
    {NULL, NULL},
};

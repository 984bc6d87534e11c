/* environment.h: facts of the machine and the directory of a run. Functions return 0 or -errno, -ENOSYS where the
 * system does not report it. */
#ifndef GATHER_ENVIRONMENT_H
#define GATHER_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One fact. */
struct gather_environment_item {
  const char *key;
  /* Writes the value into value[size]; -errno where it is unknown here. */
  int (*read)(const char *dir, char *value, size_t size);
};

enum { GATHER_FACT_MAX = 4096 }; /* bytes of a fact's value, with its NUL */

/* Calls on_fact with each fact that is known here, topic by topic. */
void gather_environment_each(const char *dir, void (*on_fact)(const char *key, const char *value));

/* Writes the value of one fact into value[size]; -EINVAL for an unknown key, -errno where the value is unknown.
 */
int gather_environment_read(const char *dir, const char *key, char *value, size_t size);

/* Bytes that an unprivileged process may still write in dir; -ENOSYS where the file system does not report it. */
int gather_free_bytes(const char *dir, uint64_t *bytes);

#ifdef __cplusplus
}
#endif

#endif

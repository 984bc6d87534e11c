/* text.h: text that grows. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts as {0}. The bytes are never NULL once something was added, and end with a NUL that `length` does not count. */
struct text {
  char *bytes;
  size_t length, room;
};

/* Memory of zeros. The process ends with status 1, after one line on stderr, where there is none. */
void *allocate(size_t count, size_t size);

/* These end the process as allocate does. */
void text_add_bytes(struct text *text, const char *bytes, size_t length);
__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...);

void text_free(struct text *text);

#ifdef __cplusplus
}
#endif

#endif

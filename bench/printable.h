/* printable.h: text from users and files, made safe for a terminal and for one line. */
#ifndef PRINTABLE_H
#define PRINTABLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes `text` into out[size], control characters, what reverses or hides text, and what is no UTF-8 as escapes such
 * as \x1b. What does not fit is cut, and ends in "...". Returns out. */
char *printable(const char *text, char *out, size_t size);

/* One line on stderr, "gatherbench: ..."; texts in it may hold anything. Returns -EINVAL. */
__attribute__((format(printf, 1, 2))) int complain(const char *format, ...);

#ifdef __cplusplus
}
#endif

#endif

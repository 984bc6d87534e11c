/* json_text.h: JSON that every parser takes, from Google Benchmark's. */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends json[size]. Escapes control characters, and replaces bytes that are no UTF-8 by U+FFFD: the name of a
 * directory may contain both, and Google Benchmark (1.7.1 at least) escapes only what has a letter in JSON. */
void json_text_add(struct text *text, const char *json, size_t size);

#ifdef __cplusplus
}
#endif

#endif

/* json_text.h: JSON that every parser takes, from Google Benchmark's. */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends json[size]. Google Benchmark (1.7.1 at least) escapes what has a letter in JSON, but leaves other control
 * characters and bytes that are no UTF-8 as they are, which the name of a directory may contain: those are escaped
 * here, and such bytes become U+FFFD. */
void json_text_add(struct text *text, const char *json, size_t size);

#ifdef __cplusplus
}
#endif

#endif

/* context.h: what is known of a run as a whole. */
#ifndef CONTEXT_H
#define CONTEXT_H

#include <stddef.h>

#include "options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Takes a fact for the results; the key has no prefix yet. */
typedef void context_add(const char *key, const char *value);

/* What is known before the first row. */
void context_begin(const struct options *options, int argc, char **argv, context_add *add);

/* What is known after the last row. */
void context_end(context_add *add);

/* A fact of the environment into value[size], printable, or what stands in for it where it cannot be told. */
void context_fact(const struct options *options, const char *key, const char *unknown, char *value, size_t size);

/* One line on where the rows are measured. */
void context_heading(const struct options *options, char *line, size_t size);

#ifdef __cplusplus
}
#endif

#endif

/* circumstances.h: what of the machine and of the directory matters for a run's figures. */
#ifndef CIRCUMSTANCES_H
#define CIRCUMSTANCES_H

#include <stddef.h>

#include "options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a fact of the environment into value[size], printable; `unknown` where it is not known. */
void circumstances_fact(const struct options *options, const char *key, const char *unknown, char *value, size_t size);

/* Writes the heading of a table: a line on where the rows are measured, and one on what decides their figures there. */
void circumstances_heading(const struct options *options, char *lines, size_t size);

/* Adds the sentences on what spoils the figures of any run here (spoiled.h). */
void circumstances_spoil(const struct options *options);

#ifdef __cplusplus
}
#endif

#endif

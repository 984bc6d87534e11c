/* fail_call.h: one library call that fails, for programs that are linked with --wrap for each of those in fail_call.c.
 */
#ifndef FAIL_CALL_H
#define FAIL_CALL_H

#include <stdbool.h>
#include <stddef.h>

/* The names of the calls that can fail; ends with NULL. */
extern const char *const failing_calls[];

/* From now on call number `number` of that name, counted from 1 and over all threads, fails with that error. */
void fail_call(const char *name, size_t number, int error);

/* No call fails any more; returns whether one did. */
bool call_failed(void);

#endif

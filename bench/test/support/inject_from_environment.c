/* inject_from_environment.c: the benchmark with a fault: GATHER_INJECT_CALL=N fails the process's write call N, counted
 * from 1, with "no space left on device", or with the error number GATHER_INJECT_ERROR. For tests only. */
#include <errno.h>
#include <stdlib.h>

#include "inject.h"

__attribute__((constructor)) static void inject_from_environment(void) {
  static struct inject_step steps[100000];
  const char *text = getenv("GATHER_INJECT_CALL"), *error = getenv("GATHER_INJECT_ERROR");
  size_t call = text ? strtoul(text, NULL, 10) : 0;
  if (call == 0 || call > sizeof steps / sizeof *steps)
    return;
  steps[call - 1].error = error ? (int)strtol(error, NULL, 10) : ENOSPC;
  inject(steps, call);
}

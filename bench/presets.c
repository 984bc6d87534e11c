/* presets.c: named sets of options: data only. */
#include <string.h>

#include "presets.h"

/* One iteration is one file, so that a repetition is one file: the minimum time is next to nothing.
 */
#define ONE_FILE "--benchmark_min_time=1e-9 --benchmark_repetitions=100 "

static const char *const blog[] = {
    ONE_FILE "--scope=file --strategy=pwrite,pwritev,fallback,contiguous --target=file --sync=none "
             "--file-bytes=100000000 --count=4 --size=16000 --buffers=one",
    NULL,
};

static const char *const prealloc[] = {
    ONE_FILE "--scope=file --strategy=pwrite --target=file --sync=none --preallocate=no,yes "
             "--file-bytes=100000000 --count=4 --size=16000 --buffers=one",
    NULL,
};

const struct preset presets[] = {
    {"blog", "the blog's table: 100 MB in buffers of 16,000 bytes, one by one and gathered by four",
     blog},
    {"prealloc", "the blog's second table: the same file, with and without preallocation",
     prealloc},
    {NULL, NULL, NULL},
};

const struct preset *preset_find(const char *name) {
  for (const struct preset *preset = presets; preset->name != NULL; preset++)
    if (strcmp(preset->name, name) == 0)
      return preset;
  return NULL;
}

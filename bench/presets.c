/* presets.c: named sets of options, and sets of the user's own. A new preset is its lines and a row of the table. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets.h"
#include "printable.h"
#include "text.h"

#define PRESET_MAX (1 << 20) /* bytes of a preset file; a sanity limit */

/* One iteration is one file, so that a repetition is one file: the minimum time is next to nothing.
 */
#define ONE_FILE "--benchmark_min_time=1e-9 --benchmark_repetitions=100 "

#define BLOG_FILE "--file-bytes=100000000 --count=4 --size=16000 --buffers=one"

/* The published program's own calls. Where closing such a file waits for a disk a hundred repetitions would take a
 * minute. */
#define DOTNET "--create=dotnet --budget=20 "

/* The rows on /dev/null take a millisecond a file, and tell the cost of the calls from that of the file system. */
static const char *const blog[] = {
    ONE_FILE DOTNET "--scope=file --target=file --strategy=pwrite,pwritev,fallback,contiguous " BLOG_FILE,
    ONE_FILE "--scope=file --target=null --strategy=pwrite,pwritev,contiguous " BLOG_FILE,
    NULL,
};

static const char *const prealloc[] = {
    ONE_FILE DOTNET "--scope=file --target=file --strategy=pwrite --preallocate=no,yes " BLOG_FILE,
    NULL,
};

/* What a call, a folio and a byte cost: sizes that are whole pages and sizes that are not, one buffer a call and four,
 * up to 256 KiB a call: folios of more are seldom to be had, and looking for them takes time. */
#define FOLIOS "--scope=file --target=file --file-bytes=64000000 --buffers=one "

static const char *const folios[] = {
    FOLIOS "--strategy=pwrite --count=1 --size=4096,6000,8192,12000,16000,16384,32000,32768,64000,65536,131072,262144 "
           "--benchmark_min_time=1e-9 --benchmark_repetitions=30 --budget=30",
    FOLIOS "--strategy=pwritev --count=4 --size=4096,6000,8192,12000,16000,16384,32000,32768,64000,65536",
    NULL,
};

/* Small writes into a window of small folios and into one of large ones. */
static const char *const laid[] = {
    "--scope=op --target=file --strategy=pwrite,pwritev,coalesce --laid=pages,once --count=4 "
    "--size=64,1k,4k,16k "
    "--benchmark_min_time=0.01 --benchmark_repetitions=20",
    NULL,
};

/* How a program saves a file. What is kept can be compared: closing a deleted file may wait for the device, where a
 * kept one's bytes are still on their way. */
#define SAVE                                                                                                           \
  "--scope=file --target=file --keep=yes --create=new,dotnet,truncate,overwrite,settle,unlink,rename "                 \
  "--sync=none,fdatasync --strategy=pwrite,pwritev,coalesce --count=4 "

static const char *const save[] = {
    SAVE "--file-bytes=16k --size=4k --benchmark_min_time=1e-9 --benchmark_repetitions=20 --budget=90",
    SAVE "--file-bytes=1m --size=64k",
    SAVE "--file-bytes=16m --size=64k",
    NULL,
};

/* Where the three ways cross: in memory, and on /dev/null, where nothing but the calls is left. */
static const char *const grid[] = {
    "--scope=op --strategy=pwrite,pwritev,coalesce --target=file,null --sync=none "
    "--count=1,2,4,8,9,16,64,256 --size=16,64,256,1k,4k,16000,64k "
    "--benchmark_min_time=0.015 --benchmark_repetitions=10",
    NULL,
};

/* pg_test_fsync overwrites the start of its file, and opens the open_* files with O_DIRECT as well. */
#define PG "--scope=op --target=file --window=16k "

static const char *const ladder[] = {
    PG "--strategy=pwrite,pwritev --sync=fdatasync,fsync --count=1,2 --size=8k "
       "--benchmark_min_time=0.1 --benchmark_repetitions=10",
    PG "--strategy=pwrite,pwritev --sync=odsync,osync --direct=yes --count=1,2 --size=8k",
    PG "--strategy=pwritev2 --sync=rwf_dsync --direct=yes --count=1,2 --size=8k",
    PG "--strategy=pwrite,pwritev --sync=osync --direct=yes --count=1 --size=16k",
    PG "--strategy=pwrite,pwritev --sync=osync --direct=yes --count=4 --size=4k",
    PG "--strategy=pwrite,pwritev --sync=osync --direct=yes --count=8 --size=2k",
    PG "--strategy=pwrite,pwritev --sync=osync --direct=yes --count=16 --size=1k",
    PG "--strategy=pwrite --sync=none --count=1 --size=8k",
    NULL,
};

static const char *const wal[] = {
    "--scope=op --target=file --sync=fdatasync,odsync --strategy=pwrite,pwritev,coalesce --count=2 "
    "--size=24+100,24+1000,24+8168 --benchmark_min_time=0.05 --benchmark_repetitions=20",
    "--scope=op --target=file --sync=rwf_dsync --strategy=pwritev2 --count=2 --size=24+100,24+1000,24+8168",
    NULL,
};

static const char *const net[] = {
    "--scope=op --target=unix,tcp --strategy=write,writev,coalesce --count=2 --size=24+64,24+1k,24+16k "
    "--benchmark_min_time=0.05 --benchmark_repetitions=20",
    NULL,
};

/* Each public claim's shape, on what it may have been measured on: memory, a file, a socket. */
#define CLAIM "--scope=op --target=null,file,unix --strategy=write,writev,coalesce --sync=none "

static const char *const claims[] = {
    CLAIM "--count=256 --size=16,4k --benchmark_min_time=0.02 --benchmark_repetitions=20",
    CLAIM "--count=16 --size=6,16,32,48,64,128,256,512",
    CLAIM "--count=10 --size=5,500",
    CLAIM "--count=1,8,9 --size=64",
    "--scope=op --target=file --strategy=pwrite --sync=osync --direct=yes --window=16k --count=1 --size=16k",
    "--scope=op --target=file --strategy=pwrite --sync=osync --direct=yes --window=16k --count=2 --size=8k",
    "--scope=op --target=file --strategy=pwrite --sync=osync --direct=yes --window=16k --count=4 --size=4k",
    "--scope=op --target=file --strategy=pwrite --sync=osync --direct=yes --window=16k --count=8 --size=2k",
    "--scope=op --target=file --strategy=pwrite --sync=osync --direct=yes --window=16k --count=16 --size=1k",
    NULL,
};

/* The claims about whole files. */
#define CLAIM_FILE "--scope=file --target=file --sync=none "

static const char *const claim_files[] = {
    CLAIM_FILE "--strategy=write,coalesce --file-bytes=64m --count=64 --size=16k "
               "--benchmark_min_time=1e-9 --benchmark_repetitions=20",
    CLAIM_FILE "--strategy=write,coalesce --file-bytes=64m --count=16 --size=64k",
    CLAIM_FILE "--strategy=pwrite --preallocate=no,yes --file-bytes=64m --count=1 --size=64k",
    CLAIM_FILE "--strategy=pwrite --create=truncate,unlink,overwrite,settle --file-bytes=16k --count=1 --size=16k",
    NULL,
};

/* What one call and one iovec cost: `none` is the harness, and the differences between counts are the rest. */
static const char *const syscall_costs[] = {
    "--scope=op --target=null,file --strategy=none,pwrite,pwritev --sync=none --count=1,2,4,8,9,16,64 --size=64 "
    "--benchmark_min_time=0.02 --benchmark_repetitions=20",
    NULL,
};

const struct preset presets[] = {
    {"blog", "the blog's table: 100 MB in buffers of 16,000 bytes, one by one and gathered by four, with .NET's calls",
     blog},
    {"prealloc", "the blog's second table: the same file, with and without preallocation", prealloc},
    {"save", "how a file is saved: ways of creating it, made durable or not, of 16 KiB, 1 MiB and 16 MiB", save},
    {"folios", "what a call, a folio and a byte cost: sizes of whole pages and others, alone and gathered", folios},
    {"laid", "the same writes into a window that was laid by pages and into one that was laid at once", laid},
    {"grid", "the map: separate, gathered and copied, over counts and sizes, on a file and on /dev/null", grid},
    {"ladder", "pg_test_fsync's questions, with the gathered write beside each split one", ladder},
    {"wal", "a log record: a header of 24 bytes and a payload, made durable", wal},
    {"net", "a message: a header of 24 bytes and a payload, over Unix and TCP sockets", net},
    {"claims", "the shapes for which others have published which way wins", claims},
    {"claim_files", "the same for whole files: copied into larger writes, preallocated, replaced, cut to length",
     claim_files},
    {"syscall", "what one call and one more buffer cost, on /dev/null and on a file", syscall_costs},
    {NULL, NULL, NULL},
};

const struct preset *preset_find(const char *name) {
  for (const struct preset *preset = presets; preset->name != NULL; preset++)
    if (strcmp(preset->name, name) == 0)
      return preset;
  return NULL;
}

char *preset_text(const struct preset *preset) {
  size_t length = 1;
  for (const char *const *line = preset->lines; *line; line++)
    length += strlen(*line) + 1;
  char *text = allocate(length, 1), *end = text;
  for (const char *const *line = preset->lines; *line; line++)
    end += sprintf(end, "%s\n", *line);
  return text;
}

char *preset_file_text(const char *path) {
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    complain("open %s: %s", path, strerror(errno));
    return NULL;
  }
  char *text = allocate(PRESET_MAX + 1, 1);
  size_t length = fread(text, 1, PRESET_MAX + 1, file);
  const char *wrong = ferror(file)                 ? strerror(errno)
                      : length == 0                ? "the file is empty"
                      : length > PRESET_MAX        ? "the file is too large for a preset"
                      : memchr(text, '\0', length) ? "the file is no text"
                                                   : NULL;
  (void)fclose(file); /* nothing was written */
  if (wrong == NULL)
    return text;
  complain("read %s: %s", path, wrong);
  free(text);
  return NULL;
}

/* folios.h: counting the folios that a thread adds to the page cache. */
#ifndef GATHER_FOLIOS_H
#define GATHER_FOLIOS_H

#include <stddef.h>
#include <stdint.h>

/* Begins to count for the calling thread, by the kernel's own tracepoint filemap:mm_filemap_add_to_page_cache (an event
 * for each folio, and for each page where the kernel has no folios), which slows each of them down: not for a timed
 * stretch. The tracepoint may be used by who has CAP_PERFMON, and needs tracefs to be mounted and readable. Returns a
 * descriptor, or -errno with what failed in *call. */
int gather_folios_begin(const char **call);

/* Ends it; *folios is how many were added since. Returns 0 or -errno. */
int gather_folios_end(int fd, uint64_t *folios);

#endif

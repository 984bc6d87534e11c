/* directory.h: the directory that the rows write in. */
#ifndef DIRECTORY_H
#define DIRECTORY_H

#include "options.h"
#include "workspace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the directory can hold what the rows write, with a twentieth more for the file system's own needs; where it
 * cannot, false after one line on stderr. */
bool directory_check(const struct options *options, struct gather_workspace *workspace);

/* Removes all that was made in the directory; where that fails, false after a line on stderr that says what is left. */
bool directory_close(struct gather_workspace *workspace);

#ifdef __cplusplus
}
#endif

#endif

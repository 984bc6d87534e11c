// terminate.h: ends a run cleanly after an exception that nothing catches.
#ifndef TERMINATE_H
#define TERMINATE_H

#include "results_file.h"
#include "workspace.h"

// What would stay behind if the process ended now; null while there is none.
struct LeftBehind {
  gather_workspace *workspace;
  ResultsFile *results;
};
extern LeftBehind left_behind;

// From here on an exception that nothing catches ends the process with one line on stderr and the status FAILED, and
// nothing stays behind. Libraries throw where memory or threads run out, sometimes where nothing can catch it.
void EndOnExceptions();

#endif

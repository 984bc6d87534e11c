// terminate.h: the end of a run that an exception ends.
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

// From here on an exception that nothing catches is one line on stderr and the status FAILED, and nothing stays behind.
// Where there is no memory or no thread the libraries throw, some of it where nothing can catch it.
void EndOnExceptions();

#endif

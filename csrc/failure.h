/* failure.h: an error that remembers which call it comes from. */
#ifndef GATHER_FAILURE_H
#define GATHER_FAILURE_H

/* What failed first; both are 0 while nothing has. */
struct gather_failure {
  const char *call; /* the system call, or what it is a part of, for messages */
  int error;        /* -errno */
};

#endif

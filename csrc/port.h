/* port.h: what some systems lack, in the shape that the others have. macOS compiles, but has not been tried. */
#ifndef GATHER_PORT_H
#define GATHER_PORT_H

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config.h"

/* A plan with `direct` is refused where this is 0. */
#ifndef O_DIRECT
#define O_DIRECT 0
#endif

/* Descriptors that a child inherits are no harm where there is nothing better: this library starts one short-lived
 * child, on Linux only. */
#ifndef SOCK_CLOEXEC
#define SOCK_CLOEXEC                        0
#define accept4(fd, address, length, flags) accept(fd, address, length)
#define pipe2(ends, flags)                  pipe(ends)
#endif

#endif

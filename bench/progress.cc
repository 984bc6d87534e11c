#include "progress.h"

#include <cstdio>
#include <unistd.h>

Progress::Progress(size_t repetitions)
    : repetitions_(repetitions), terminal_(isatty(STDERR_FILENO) == 1), begin_(Clock::now()), shown_(begin_) {}

void Progress::Show(size_t done) {
  const auto now = Clock::now();
  if (now - shown_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10)) || done == 0)
    return;
  shown_ = now;
  const double elapsed_s = std::chrono::duration<double>(now - begin_).count();
  const double left_s = elapsed_s / static_cast<double>(done) * static_cast<double>(repetitions_ - done);
  // Progress is a courtesy: if stderr is closed, the run goes on without it.
  (void)std::fprintf(stderr, "%s%zu of %zu repetitions, %.0f s left%s", terminal_ ? "\r\033[K" : "", done, repetitions_,
                     left_s, terminal_ ? "" : "\n");
  (void)std::fflush(stderr);
  line_open_ = terminal_;
}

void Progress::Clear() {
  if (line_open_)
    (void)std::fputs("\r\033[K", stderr);
  line_open_ = false;
}

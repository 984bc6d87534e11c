// progress.h: how far a run is, on stderr.
#ifndef PROGRESS_H
#define PROGRESS_H

#include <chrono>
#include <cstddef>

// Tells how many repetitions are done and about how long the rest takes: on a terminal in one line
// that is overwritten, elsewhere in a line every ten seconds. It writes only between repetitions,
// never in a timed stretch.
class Progress {
public:
  explicit Progress(size_t repetitions);
  void Show(size_t done);
  // Ends the line that is overwritten, so that something else can be printed.
  void Clear();

private:
  using Clock = std::chrono::steady_clock;
  const size_t repetitions_;
  const bool terminal_;
  const Clock::time_point begin_;
  Clock::time_point shown_;
  bool line_open_ = false;
};

#endif

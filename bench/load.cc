#include "load.h"

#include <algorithm>
#include <cstdio>

#include <benchmark/benchmark.h>

#include "spoiled.h"

// Half of one processor of two, or one of four: below that there is room for the writer and for the kernel's own
// threads, which write back what was written.
static const double kTooMuch = 0.25;

Load::Load() : running_(gather_processor_times_read(&begin_) == 0) {}

void Load::End() {
  gather_processor_times end;
  if (!running_ || gather_processor_times_read(&end) != 0 || end.all_ns <= begin_.all_ns)
    return;
  running_ = false;
  // Other processes' time is counted in ticks, ours is not: over a short time the difference may be below zero.
  const uint64_t others_ns = std::max(end.others_ns, begin_.others_ns) - begin_.others_ns;
  const double share = static_cast<double>(others_ns) / static_cast<double>(end.all_ns - begin_.all_ns);
  char text[128];
  std::snprintf(text, sizeof text, "%.3f", share);
  benchmark::AddCustomContext("gatherbench.others_cpu", text);
  if (share >= kTooMuch) {
    std::snprintf(text, sizeof text, "others used %.0f %% of the processors' time", 100 * share);
    benchmark::AddCustomContext("gatherbench.under_load", text);
    spoiled_add("under load: %s", text);
  }
}

#include "latency.h"

#include <algorithm>
#include <cmath>

static LatencySummary Summarize(std::vector<uint64_t> &times_ns) {
  std::sort(times_ns.begin(), times_ns.end());
  const auto quantile = [&times_ns](double share) {
    const double rank = std::ceil(share * static_cast<double>(times_ns.size()));
    return static_cast<double>(times_ns[rank < 1 ? 0 : static_cast<size_t>(rank) - 1]);
  };
  return {quantile(0.5), quantile(0.99), quantile(0.999), quantile(1), times_ns.size()};
}

bool Latencies::Add(std::vector<uint64_t> times_ns, unsigned threads, LatencySummary &summary) {
  const std::lock_guard<std::mutex> lock(mutex_);
  times_ns_.insert(times_ns_.end(), times_ns.begin(), times_ns.end());
  if (++threads_ < threads)
    return false;
  threads_ = 0;
  const bool any = !times_ns_.empty();
  if (any)
    summary = Summarize(times_ns_);
  times_ns_.clear();
  return any;
}

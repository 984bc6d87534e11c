// latency.h: how long each single op took.
#ifndef LATENCY_H
#define LATENCY_H

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

// Times of one thread's ops in a repetition, in nanoseconds: as many as there is room for, which is set aside before
// anything is timed.
class LatencyRecord {
public:
  static constexpr size_t kOps = 1 << 20;

  explicit LatencyRecord(bool wanted) : times_ns_(wanted ? kOps : 0) {}
  bool wanted() const {
    return !times_ns_.empty();
  }
  void Add(uint64_t time_ns) {
    if (count_ < kOps)
      times_ns_[count_++] = time_ns;
  }
  std::vector<uint64_t> Take() {
    times_ns_.resize(count_);
    return std::move(times_ns_);
  }

private:
  std::vector<uint64_t> times_ns_;
  size_t count_ = 0;
};

// Exact quantiles of recorded ops, in nanoseconds: the smallest time that at least that share of ops did not exceed.
struct LatencySummary {
  double p50_ns, p99_ns, p99_9_ns, max_ns;
  size_t ops; // that they rest on
};

// Collects the records of all threads of a repetition.
class Latencies {
public:
  // Adds one thread's record. True for the last of `threads`, which gets the summary of all.
  bool Add(std::vector<uint64_t> times_ns, unsigned threads, LatencySummary &summary);

private:
  std::mutex mutex_;
  std::vector<uint64_t> times_ns_;
  unsigned threads_ = 0; // that have added theirs
};

#endif

#pragma once
// Runs over processes that threads play, each with a TinySite of its own.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/core/protocols/actors/place_actors.h"
#include "tests/core/protocols/actors/tiny_site.h"
#include "tests/core/thread_message_queue.h"

namespace residuum::test {

inline constexpr auto kLongEnough = std::chrono::seconds(20);

/// Waits until `condition` holds; false if it never does.
inline bool comes_true(const std::function<bool()>& condition) {
  const auto begin = std::chrono::steady_clock::now();
  while (!condition()) {
    if (std::chrono::steady_clock::now() - begin > kLongEnough) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

/// The sites of all processes of one run.
class Sites {
 public:
  Sites(const Cast& cast,
        int processes,
        const std::function<void(const GradientId&)>& during,
        const std::function<void(std::uint64_t)>& after = {}) {
    for (int rank = 0; rank < processes; ++rank) {
      all_.push_back(std::make_unique<TinySite>(cast.roster, during, after));
    }
  }
  TinySite& of(const MessageQueue& queue) { return *all_[static_cast<std::size_t>(queue.rank())]; }
  const std::vector<std::vector<GradientId>>& versions() const { return all_[0]->versions; }

  void expect_guarantees(std::uint64_t largest_staleness) const {
    std::vector<GradientId> computed;
    std::vector<GradientId> discarded;
    for (const auto& site : all_) {
      computed.insert(computed.end(), site->computed.begin(), site->computed.end());
      discarded.insert(discarded.end(), site->discarded.begin(), site->discarded.end());
    }
    expect_counted_once(versions(), computed, discarded, largest_staleness);
  }

 private:
  std::vector<std::unique_ptr<TinySite>> all_;
};

inline Parallel start(const RandomRun& run,
                      MessageQueue& queue,
                      Sites& sites,
                      const std::atomic<bool>* stop = nullptr) {
  Cast cast = run.cast();
  Placement placement = test::place_actors(cast.roster, queue.size());
  return Parallel(std::move(cast), std::move(placement), queue, sites.of(queue).site(), [stop] {
    return stop != nullptr && stop->load();
  });
}

}  // namespace residuum::test

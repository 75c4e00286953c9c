#pragma once
// A witness stands in for a driver of actors and checks what every asynchronous protocol owes it:
// gradients of a worker come in their order, each counts at most once, none is made up or lost.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/protocols/actors/actor.h"

namespace residuum::test {

class Witness final : public Effects {
 public:
  explicit Witness(std::uint64_t payload = 0) : payload_(payload) {}

  void compute(const GradientId& gradient) override {
    EXPECT_EQ(gradient.iteration, computed_[gradient.worker]++);
    EXPECT_LE(gradient.base, versions_);
    in_progress_[key(gradient)] = gradient.base;
    calls_.push_back(gradient);
  }

  void hand_in(const GradientId& gradient, int node) override {
    EXPECT_EQ(in_progress_.at(key(gradient)), gradient.base);
    EXPECT_TRUE(handed_in_.insert({key(gradient), node}).second);
  }

  void collect(int node, std::span<const GradientId> gradients) override {
    for (const auto& gradient : gradients) {
      EXPECT_EQ(handed_in_.at(key(gradient)), node);
      collected_.push_back(key(gradient));
    }
  }

  void make_version(std::uint64_t version, std::span<const GradientId> gradients) override {
    EXPECT_EQ(version, ++versions_);
    EXPECT_FALSE(gradients.empty());
    if (!collected_.empty()) {
      EXPECT_EQ(collected_.size(), gradients.size());
      collected_.clear();
    }
    for (const auto& gradient : gradients) {
      EXPECT_EQ(handed_in_.erase(key(gradient)), 1U);
      EXPECT_EQ(in_progress_.erase(key(gradient)), 1U);
      EXPECT_EQ(gradient.iteration, applied_[gradient.worker]++) << "the watermark has a gap";
      largest_staleness_ = std::max(largest_staleness_, version - 1 - gradient.base);
    }
    calls_.push_back({.worker = ~0U, .iteration = 0, .base = version});
  }

  void discard(const GradientId& gradient) override {
    EXPECT_EQ(in_progress_.erase(key(gradient)), 1U);
    handed_in_.erase(key(gradient));
  }

  void waited(Wait /*cause*/, double seconds) override { EXPECT_GE(seconds, 0); }
  std::uint64_t payload_bytes(const ActorMessage& /*message*/) override { return payload_; }

  std::uint64_t versions() const { return versions_; }
  std::uint64_t largest_staleness() const { return largest_staleness_; }
  /// Returns the gradients that were computed and the versions, as worker ~0, in their order.
  const std::vector<GradientId>& calls() const { return calls_; }
  /// Returns how many gradients were computed that are in no version and were not discarded.
  std::size_t unfinished() const { return in_progress_.size(); }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  static Key key(const GradientId& gradient) { return {gradient.worker, gradient.iteration}; }

  std::uint64_t payload_;
  std::uint64_t versions_ = 0;
  std::uint64_t largest_staleness_ = 0;
  std::vector<GradientId> calls_;
  std::map<std::uint32_t, std::uint32_t> computed_;
  std::map<std::uint32_t, std::uint32_t> applied_;
  std::map<Key, std::uint64_t> in_progress_;
  std::map<Key, int> handed_in_;
  std::vector<Key> collected_;
};

}  // namespace residuum::test

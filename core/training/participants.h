#pragma once
// Participants are the workers that take part in a version where not all do (federated averaging:
// McMahan, Moore, Ramage, Hampson, Aguera y Arcas, AISTATS 2017): m of P, drawn without replacement
// at every version, each subset with the same probability. They are a pure function of (seed,
// version), so that every process knows them.

#include <cstdint>
#include <span>
#include <vector>

namespace residuum {

class Participants {
 public:
  /// `count` workers of `workers` take part, 1 <= count <= workers. Until the first draw they are
  /// the first ones.
  Participants(std::uint64_t seed, int workers, int count);

  /// Draws those of a version.
  void draw(std::uint64_t version);

  bool are_all() const { return numbers_.size() == takes_part_.size(); }
  int count() const { return static_cast<int>(numbers_.size()); }
  bool has(int worker) const { return takes_part_[static_cast<std::size_t>(worker)]; }
  /// Returns the numbers of the workers that take part, which increase.
  std::span<const int> numbers() const { return numbers_; }

 private:
  std::uint64_t seed_;
  std::vector<int> order_;  // of all workers; those that are drawn come first
  std::vector<int> numbers_;
  std::vector<bool> takes_part_;
};

}  // namespace residuum

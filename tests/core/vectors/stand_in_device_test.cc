// The stand-in of a device refuses what would be a race on a device: reading what was not started,
// and changing what is being read.

#include "core/vectors/stand_in_device.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "tests/core/support.h"

namespace residuum::test {
namespace {

class StandInOrder : public testing::Test {
 protected:
  StandInOrder() { gradient_->set(0, normal_vector<float>(kD, 1)); }

  void start_pass() { vectors_->start_accumulate(gradient_->vector(0).span(), 1, whole_); }
  void start_selection() { vectors_->start_select(part_); }

  /// Every call that changes vector 0 is refused.
  void expect_that_vector_0_is_in_use() {
    const SparseVector<float> list{.indices = {3}, .values = {1}};
    const std::vector<float> values(kD);
    EXPECT_THROW(vectors_->set(0, values), std::logic_error);
    EXPECT_THROW(vectors_->clear(0), std::logic_error);
    EXPECT_THROW(vectors_->scale(0, 2), std::logic_error);
    EXPECT_THROW(vectors_->add(0, list, 1), std::logic_error);
    EXPECT_THROW(vectors_->assign(0, list), std::logic_error);
    EXPECT_THROW(vectors_->add_vector(0, 1), std::logic_error);
    EXPECT_THROW(vectors_->vector(0), std::logic_error);
    EXPECT_THROW(start_pass(), std::logic_error);
    EXPECT_NO_THROW(vectors_->clear(1));
  }

  static constexpr std::size_t kD = 50;
  StandInDevice device_;
  std::unique_ptr<DeviceVectors> vectors_ = device_.vectors(2, kD);
  std::unique_ptr<DeviceVectors> gradient_ = device_.vectors(1, kD);
  std::vector<Segment> whole_{{.begin = 0, .size = kD}};
  std::vector<SelectionPart> part_{{.at = {.begin = 0, .size = kD}, .most = 4}};
  SparseVector<float> selected_;
};

TEST_F(StandInOrder, TakesWhatWasStarted) {
  start_pass();
  start_selection();
  EXPECT_GT(vectors_->take_norms().accumulator_sq, 0);
  vectors_->take_selected(selected_);
  EXPECT_EQ(selected_.size(), 4U);
  EXPECT_NO_THROW(vectors_->clear(0));
}

TEST_F(StandInOrder, RefusesToTakeWhatWasNotStarted) {
  EXPECT_THROW(vectors_->take_norms(), std::logic_error);
  EXPECT_THROW(vectors_->take_selected(selected_), std::logic_error);
  start_pass();
  start_selection();
  EXPECT_THROW(vectors_->take_selected(selected_), std::logic_error);  // before the norms
  vectors_->take_norms();
  vectors_->take_selected(selected_);
  EXPECT_THROW(vectors_->take_norms(), std::logic_error);
  EXPECT_THROW(vectors_->take_selected(selected_), std::logic_error);
}

TEST_F(StandInOrder, RefusesASecondSelection) {
  start_selection();
  EXPECT_THROW(start_selection(), std::logic_error);
}

TEST_F(StandInOrder, RefusesToChangeVector0UntilAllIsTaken) {
  start_pass();
  expect_that_vector_0_is_in_use();
  vectors_->take_norms();
  start_selection();
  expect_that_vector_0_is_in_use();
  vectors_->take_selected(selected_);
  EXPECT_NO_THROW(start_pass());
}

TEST_F(StandInOrder, DropsTheSelectionOfAVectorThatIsNotFinite) {
  gradient_->set(0, std::vector<float>(kD, INFINITY));
  start_pass();
  start_selection();
  EXPECT_FALSE(std::isfinite(vectors_->take_norms().accumulator_sq));
  EXPECT_THROW(vectors_->take_selected(selected_), std::logic_error);
  EXPECT_NO_THROW(vectors_->clear(0));
}

}  // namespace
}  // namespace residuum::test

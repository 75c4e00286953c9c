// Liveness in a time that the tests make up.

#include <gtest/gtest.h>

#include "core/cluster/message_queue.h"

namespace residuum {
namespace {

using std::chrono::milliseconds;
constexpr Liveness::Time kStart{};

/// Looks every 10 ms, which is less than the period of 100 ms, until `end`.
void look_often(Liveness& liveness, milliseconds begin, milliseconds end) {
  for (milliseconds at = begin; at <= end; at += milliseconds(10)) {
    liveness.look(kStart + at);
  }
}

TEST(Liveness, NamesAProcessThatIsSilentForAsLongAsItsPatience) {
  Liveness liveness(1, 3, milliseconds(800), kStart);
  look_often(liveness, milliseconds(0), milliseconds(500));
  liveness.hear(0);

  look_often(liveness, milliseconds(500), milliseconds(790));
  EXPECT_EQ(liveness.lost(), std::nullopt);
  liveness.look(kStart + milliseconds(800));
  EXPECT_EQ(liveness.lost(), 2);
}

TEST(Liveness, NamesTheOneThatHasBeenSilentForTheLongestTime) {
  Liveness liveness(0, 4, milliseconds(800), kStart);
  look_often(liveness, milliseconds(0), milliseconds(200));
  liveness.hear(1);
  liveness.hear(3);

  look_often(liveness, milliseconds(200), milliseconds(2000));

  EXPECT_EQ(liveness.lost(), 2);
}

TEST(Liveness, DoesNotHoldItsOwnPausesAgainstTheOthers) {
  // Each pause of 10 s counts as one period of 100 ms, so the eighth makes 800 ms.
  Liveness liveness(0, 2, milliseconds(800), kStart);
  for (int pause = 1; pause < 8; ++pause) {
    liveness.look(kStart + pause * milliseconds(10'000));
    EXPECT_EQ(liveness.lost(), std::nullopt) << pause;
  }
  liveness.look(kStart + milliseconds(80'000));
  EXPECT_EQ(liveness.lost(), 1);
}

TEST(Liveness, OwesASignToWhomItHasNotWrittenForAPeriod) {
  Liveness liveness(0, 3, milliseconds(800), kStart);
  EXPECT_EQ(liveness.period(), milliseconds(100));
  liveness.look(kStart + milliseconds(60));
  liveness.write(1);

  liveness.look(kStart + milliseconds(100));

  EXPECT_FALSE(liveness.owes_sign(0)) << "a process needs no sign of itself";
  EXPECT_FALSE(liveness.owes_sign(1));
  EXPECT_TRUE(liveness.owes_sign(2));
  liveness.look(kStart + milliseconds(160));
  EXPECT_TRUE(liveness.owes_sign(1));
  liveness.leave(1);
  EXPECT_TRUE(liveness.owes_sign(1)) << "it waits for this process before it ends";
  liveness.leave_all();
  EXPECT_FALSE(liveness.owes_sign(1));
}

TEST(Liveness, ExpectsNothingOfProcessesThatHaveLeft) {
  Liveness liveness(0, 3, milliseconds(800), kStart);
  EXPECT_FALSE(liveness.have_all_left());
  liveness.leave(1);
  EXPECT_FALSE(liveness.have_all_left());
  liveness.leave(2);

  look_often(liveness, milliseconds(0), milliseconds(2000));

  EXPECT_TRUE(liveness.have_all_left());
  EXPECT_EQ(liveness.lost(), std::nullopt);
}

}  // namespace
}  // namespace residuum

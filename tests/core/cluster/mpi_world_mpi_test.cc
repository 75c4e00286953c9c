// The World over MPI does what World promises. Every process goes through every test.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/cluster/mpi_world.h"
#include "tests/core/mpi_test_world.h"

namespace residuum {
namespace {

using test::mpi_test_world;

/// `size` bytes that are like no other rank's.
Bytes pattern(int rank, std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 7 + static_cast<std::size_t>(rank) * 31) & 0xffU);
  }
  return bytes;
}

/// The World of these tests sends pieces of 100 000 bytes: some sizes are one piece, some are
/// several with a shorter one at the end, some are whole pieces.
constexpr std::array<std::size_t, 8> kSizes{0, 1, 1000, 99'999, 100'000, 100'001, 200'000, 300'017};

/// Receives a message of at most that many bytes.
Bytes receive(World& world, int from, std::size_t most) {
  Bytes bytes(most);
  world.post(from, bytes);
  bytes.resize(world.take(from));
  return bytes;
}

/// Variables that launchers set for the processes they start.
constexpr std::array kLauncherSigns{
    "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_STEP_ID"};

/// Removes the variables of launchers for as long as it lives.
class WithoutLauncher {
 public:
  WithoutLauncher() {
    for (const char* name : kLauncherSigns) {
      const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
      before_.emplace_back(name,
                           value != nullptr ? std::optional<std::string>(value) : std::nullopt);
      unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
    }
  }
  WithoutLauncher(const WithoutLauncher&) = delete;
  WithoutLauncher& operator=(const WithoutLauncher&) = delete;
  WithoutLauncher(WithoutLauncher&&) = delete;
  WithoutLauncher& operator=(WithoutLauncher&&) = delete;
  ~WithoutLauncher() {
    for (const auto& [name, value] : before_) {
      if (value) {
        setenv(name, value->c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
      }
    }
  }

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

TEST(StartedByLauncher, IsSeenByEachSignAlone) {
  mpi_test_world();  // has read the variables
  const WithoutLauncher cleared;
  ASSERT_FALSE(started_by_launcher());
  for (const char* name : kLauncherSigns) {
    for (const char* value : {"0", "1", "4"}) {
      setenv(name, value, 1);  // NOLINT(concurrency-mt-unsafe)
      EXPECT_TRUE(started_by_launcher()) << name << '=' << value;
    }
    unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
    EXPECT_FALSE(started_by_launcher()) << "without " << name;
  }
}

TEST(StartedByLauncher, IsNotSeenInOtherVariables) {
  mpi_test_world();  // has read the variables
  const WithoutLauncher cleared;
  setenv("SLURM_JOB_ID", "17", 1);  // NOLINT(concurrency-mt-unsafe): a batch script is not a step

  EXPECT_FALSE(started_by_launcher());

  unsetenv("SLURM_JOB_ID");  // NOLINT(concurrency-mt-unsafe)
}

TEST(MpiWorld, KnowsItsRankAndSize) {
  const World& world = mpi_test_world();

  EXPECT_GE(world.rank(), 0);
  EXPECT_LT(world.rank(), world.size());
  EXPECT_EQ(world.is_root(), world.rank() == 0);
  EXPECT_NE(world.description().find(std::to_string(world.size()) + " processes"),
            std::string::npos);
  EXPECT_TRUE(started_by_launcher());
}

TEST(MpiWorld, KnowsItsPlaceOnTheMachineAlsoInAGroup) {
  World& world = mpi_test_world();
  const auto group = make_group_world(world, 2);

  EXPECT_EQ(world.local_rank(), world.rank());  // all are on this machine
  EXPECT_EQ(group->local_rank(), world.rank());
  EXPECT_EQ(make_single_process()->local_rank(), 0);
}

TEST(MpiWorld, SendsAroundTheRingInOrder) {
  World& world = mpi_test_world();
  const int next = (world.rank() + 1) % world.size();
  const int previous = (world.rank() + world.size() - 1) % world.size();
  for (const std::size_t size : kSizes) {
    // Rank 0 sends first, the others receive first: one global order.
    const auto send = [&] {
      world.send(next, pattern(world.rank(), size));
      world.send(next, pattern(world.rank() + 100, size / 2));
    };
    const auto receive_both = [&] {
      EXPECT_EQ(receive(world, previous, size + 7), pattern(previous, size));
      EXPECT_EQ(receive(world, previous, size), pattern(previous + 100, size / 2));
    };
    if (world.is_root()) {
      send();
      receive_both();
    } else {
      receive_both();
      send();
    }
  }
}

TEST(MpiWorld, FillsTheRoomsOfARankInTheOrderTheyWerePostedIn) {
  World& world = mpi_test_world();
  const int last = world.size() - 1;
  for (const std::size_t size : kSizes) {
    if (world.is_root()) {
      // Rooms for all ranks first: their messages may arrive in any order.
      std::vector<Bytes> rooms(2 * static_cast<std::size_t>(world.size()), Bytes(size + 3));
      for (int rank = last; rank > 0; --rank) {
        world.post(rank, rooms[2 * static_cast<std::size_t>(rank)]);
        world.post(rank, rooms[2 * static_cast<std::size_t>(rank) + 1]);
      }
      for (int rank = 1; rank <= last; ++rank) {
        for (const int message : {0, 1}) {
          Bytes& room =
              rooms[2 * static_cast<std::size_t>(rank) + static_cast<std::size_t>(message)];
          room.resize(world.take(rank));
          EXPECT_EQ(
              room,
              pattern(rank + 50 * message, size - size / 3 * static_cast<std::size_t>(message)));
        }
      }
    } else {
      world.send(0, pattern(world.rank(), size));
      world.send(0, pattern(world.rank() + 50, size - size / 3));
    }
  }
}

// A piece of 100 000 bytes waits for its receiver. All ranks send before they take, and two
// messages each, so that nobody could send its second piece if it did not receive meanwhile.
TEST(MpiWorld, ReceivesWhileItSendsLongMessages) {
  World& world = mpi_test_world();
  if (world.size() == 1) {
    GTEST_SKIP() << "there is nobody to send to";
  }
  const int next = (world.rank() + 1) % world.size();
  const int previous = (world.rank() + world.size() - 1) % world.size();
  constexpr std::array<std::size_t, 2> kLong{2'000'000, 300'017};
  std::array<Bytes, kLong.size()> rooms;
  for (std::size_t i = 0; i < kLong.size(); ++i) {
    rooms[i].resize(kLong[i] + 5);
    world.post(previous, rooms[i]);
  }
  for (const std::size_t size : kLong) {
    world.send(next, pattern(world.rank(), size));
  }
  for (std::size_t i = 0; i < kLong.size(); ++i) {
    ASSERT_EQ(world.take(previous), kLong[i]);
    rooms[i].resize(kLong[i]);
    EXPECT_EQ(rooms[i], pattern(previous, kLong[i]));
  }
}

TEST(MpiWorld, BroadcastsFromEveryRank) {
  World& world = mpi_test_world();
  for (int root = 0; root < world.size(); ++root) {
    for (const std::size_t size : kSizes) {
      Bytes bytes = world.rank() == root ? pattern(root, size) : pattern(99, size);
      world.broadcast(root, bytes);
      EXPECT_EQ(bytes, pattern(root, size));
      Bytes unknown = world.rank() == root ? pattern(root, size) : pattern(99, 17);
      broadcast(world, root, unknown);
      EXPECT_EQ(unknown, pattern(root, size));
    }
  }
}

TEST(MpiWorld, GathersPartsOfDifferentLengths) {
  World& world = mpi_test_world();
  const auto size_of = [](int rank) { return static_cast<std::size_t>(rank % 3) * 5000; };

  Gathered all;
  world.all_gather(pattern(world.rank(), size_of(world.rank())), all);

  ASSERT_EQ(all.parts(), static_cast<std::size_t>(world.size()));
  for (int rank = 0; rank < world.size(); ++rank) {
    const auto part = all.part(static_cast<std::size_t>(rank));
    EXPECT_EQ(Bytes(part.begin(), part.end()), pattern(rank, size_of(rank)));
  }
}

TEST(MpiWorld, FindsTheMinimum) {
  World& world = mpi_test_world();

  EXPECT_EQ(world.minimum(world.rank() + 5), 5);
  EXPECT_EQ(world.minimum(-world.rank()), -(world.size() - 1));
  EXPECT_EQ(world.minimum(std::int64_t{1} << 40), std::int64_t{1} << 40);
}

TEST(MpiWorld, AddsUpNumbersOfManyPieces) {
  World& world = mpi_test_world();
  const int ranks = world.size();
  std::vector<float> floats(60'001);
  std::vector<double> doubles(30'001);
  const auto number = [](std::size_t i, int rank) { return static_cast<int>(i % 100) + rank; };
  for (std::size_t i = 0; i < floats.size(); ++i) {
    floats[i] = static_cast<float>(number(i, world.rank()));
  }
  for (std::size_t i = 0; i < doubles.size(); ++i) {
    doubles[i] = number(i, world.rank());
  }
  world.add_up(floats);
  world.add_up(doubles);

  const int of_ranks = ranks * (ranks - 1) / 2;
  for (std::size_t i = 0; i < floats.size(); ++i) {
    ASSERT_EQ(floats[i], static_cast<float>(ranks * number(i, 0) + of_ranks));
  }
  for (std::size_t i = 0; i < doubles.size(); ++i) {
    ASSERT_EQ(doubles[i], ranks * number(i, 0) + of_ranks);
  }
}

TEST(MpiWorld, NamesMpisOwnReasonWhereAMessageIsLongerThanTheRoom) {
  World& world = mpi_test_world();
  if (world.rank() > 1) {
    return;
  }
  if (world.rank() == 1) {
    world.send(0, pattern(1, 100));
    return;
  }
  std::string text;
  try {
    receive(world, 1, 10);
  } catch (const Error& error) {
    text = error.what();
  }
  EXPECT_TRUE(text.starts_with("MPI_Wait: ")) << text;
  EXPECT_NE(text.find("essage truncated"), std::string::npos) << text;  // all MPIs say so
}

// Group i of g begins at rank floor(i R / g).
TEST(GroupWorld, DividesTheRanksIntoConsecutiveGroupsOfAlmostTheSameSize) {
  World& world = mpi_test_world();
  for (int groups = 1; groups <= world.size(); ++groups) {
    int group = 0;
    while ((group + 1) * world.size() / groups <= world.rank()) {
      ++group;
    }
    const int first = group * world.size() / groups;

    const auto own = make_group_world(world, groups);

    EXPECT_EQ(own->rank(), world.rank() - first);
    EXPECT_EQ(own->size(), (group + 1) * world.size() / groups - first);
    EXPECT_GE(own->size(), world.size() / groups);
    EXPECT_LE(own->size(), world.size() / groups + 1);
  }
}

TEST(GroupWorld, EveryGroupSpeaksToItselfAlone) {
  World& world = mpi_test_world();
  const int groups = 2;
  const auto own = make_group_world(world, groups);
  const int first = world.rank() - own->rank();
  // The groups make different numbers of calls: neither waits for the other.
  for (int round = 0; round <= 3 * first; ++round) {
    EXPECT_EQ(own->minimum(world.rank() + round), first + round);
    Bytes bytes = own->is_root() ? pattern(first, 150'000) : Bytes(150'000);
    own->broadcast(0, bytes);
    EXPECT_EQ(bytes, pattern(first, 150'000));
    Gathered all;
    own->all_gather(pattern(world.rank(), 10), all);
    ASSERT_EQ(all.parts(), static_cast<std::size_t>(own->size()));
    std::vector<double> ones(3, 1);
    own->add_up(ones);
    EXPECT_EQ(ones, std::vector<double>(3, own->size()));
    if (own->size() > 1 && own->rank() == 1) {
      own->send(0, pattern(world.rank(), 250'000));
    } else if (own->size() > 1 && own->is_root()) {
      EXPECT_EQ(receive(*own, 1, 250'000), pattern(world.rank() + 1, 250'000));
    }
  }
  EXPECT_EQ(world.minimum(world.rank()), 0) << "the whole is there as before";
}

TEST(GroupWorld, AnErrorOfOneGroupIsNotTheOthers) {
  World& world = mpi_test_world();
  const auto own = make_group_world(world, 2);
  const bool in_first = world.rank() == own->rank();
  const auto act = [&] {
    together(*own, [&] {
      if (in_first && own->rank() == own->size() - 1) {
        resource_error("disk full");
      }
    });
  };

  if (in_first) {
    EXPECT_THROW(act(), SharedError);
  } else {
    EXPECT_NO_THROW(act());
  }
  EXPECT_EQ(world.minimum(1), 1) << "the processes are out of step";
}

TEST(GroupWorld, KeepsMpisErrorsFromEndingTheProgram) {
  World& world = mpi_test_world();
  const auto own = make_group_world(world, 1);
  if (own->rank() == 1) {
    own->send(0, pattern(1, 100));
  } else if (own->is_root()) {
    EXPECT_THROW(receive(*own, 1, 10), Error);
  }
}

TEST(GroupWorld, RefusesMoreGroupsThanProcesses) {
  World& world = mpi_test_world();
  EXPECT_THROW(make_group_world(world, 0), Error);
  try {
    make_group_world(world, world.size() + 1);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("on " + std::to_string(world.size()) + " processes"),
              std::string::npos)
        << error.what();
  }
}

TEST(Together, OverMpiThrowsTheErrorOfOneRankEverywhere) {
  World& world = mpi_test_world();
  const int last = world.size() - 1;
  try {
    together(world, [&] {
      if (world.rank() == last) {
        resource_error("disk full on rank {}", last);
      }
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "disk full on rank " + std::to_string(last));
    EXPECT_EQ(error.code(), ExitCode::resource);
  }
  EXPECT_NO_THROW(together(world, [] {})) << "the processes are out of step";
}

TEST(Cluster, OverMpiRefusesFewerWorkersThanProcesses) {
  World& world = mpi_test_world();

  EXPECT_THROW(Cluster(world, world.size() - 1), Error);
}

}  // namespace
}  // namespace residuum

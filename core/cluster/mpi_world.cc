#include "core/cluster/mpi_world.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <string_view>

#include "core/cluster/world.h"

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace residuum {
namespace {

constexpr int kGatherTag = 2;
constexpr std::size_t kLengthOfPart = sizeof(std::uint64_t);

/// MpiGather collects what every process has, of any length, by Bruck's algorithm (Bruck, Ho,
/// Kipnis, Upfal, Weathersby, IEEE TPDS 1997): in the round r = 0, 1, ... a process sends the first
/// 2^r parts that it holds to the process 2^r before it, so that ceil(log2 R) rounds suffice.
/// MPI_Allgatherv wants all lengths on every process, which takes as many rounds more; here a part
/// carries its length. With R = 5, and the parts that each process holds after a round:
///
///   process     0          1          2          3          4
///   start       0          1          2          3          4
///   r = 0       0 1        1 2        2 3        3 4        4 0
///   r = 1       0 1 2 3    1 2 3 4    2 3 4 0    3 4 0 1    4 0 1 2
///   r = 2       0 1 2 3 4  ...        (the last round sends only the parts that lack)
class MpiGather {
 public:
  /// all := what each process of the communicator gives as `mine`, in rank order. Collective.
  void take(MPI_Comm comm, std::span<const std::byte> mine, Gathered& all);

 private:
  void hold(std::span<const std::byte> mine);
  void exchange(MPI_Comm comm, int to, std::size_t sent, int from);
  void find_parts();
  void put_in_order(int rank, Gathered& all) const;

  Bytes held_;                     // the parts of this process and those behind it, in turn
  Bytes outgrown_;                 // what a message still goes out of
  std::size_t used_ = 0;           // bytes of held_
  std::vector<std::size_t> ends_;  // of the parts in held_
};

void MpiGather::take(MPI_Comm comm, std::span<const std::byte> mine, Gathered& all) {
  int rank = 0;
  int processes = 1;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &processes), "MPI_Comm_size");
  if (mine.size() + kLengthOfPart >
      std::numeric_limits<int>::max() / static_cast<std::size_t>(processes)) {
    resource_error("a message of {} bytes is too long to be gathered from {} processes",
                   mine.size(),
                   processes);
  }
  hold(mine);
  for (int distance = 1; distance < processes; distance *= 2) {
    const int parts = std::min(distance, processes - distance);
    exchange(comm,
             (rank + processes - distance) % processes,
             ends_[static_cast<std::size_t>(parts) - 1],
             (rank + distance) % processes);
    find_parts();
  }
  put_in_order(rank, all);
}

void MpiGather::hold(std::span<const std::byte> mine) {
  const std::uint64_t length = mine.size();
  used_ = kLengthOfPart + mine.size();
  held_.resize(std::max(held_.size(), used_));
  std::memcpy(held_.data(), &length, kLengthOfPart);
  std::copy(mine.begin(), mine.end(), held_.begin() + kLengthOfPart);
  ends_.assign(1, used_);
}

/// Sends the first `sent` bytes, and appends what the process `from` sends.
void MpiGather::exchange(MPI_Comm comm, int to, std::size_t sent, int from) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(
      MPI_Isend(held_.data(), static_cast<int>(sent), MPI_BYTE, to, kGatherTag, comm, &request),
      "MPI_Isend");
  MPI_Status status;
  check_mpi(MPI_Probe(from, kGatherTag, comm, &status), "MPI_Probe");
  int length = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
  const std::size_t needed = used_ + static_cast<std::size_t>(length);
  if (held_.size() < needed) {
    Bytes larger(2 * needed);
    std::copy_n(held_.begin(), used_, larger.begin());
    outgrown_ = std::move(held_);
    held_ = std::move(larger);
  }
  check_mpi(
      MPI_Recv(held_.data() + used_, length, MPI_BYTE, from, kGatherTag, comm, MPI_STATUS_IGNORE),
      "MPI_Recv");
  used_ = needed;
  check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  outgrown_ = Bytes();
}

/// Notes where the parts end that have come.
void MpiGather::find_parts() {
  while (ends_.back() < used_) {
    std::uint64_t length = 0;
    std::memcpy(&length, held_.data() + ends_.back(), kLengthOfPart);
    ends_.push_back(ends_.back() + kLengthOfPart + length);
  }
}

void MpiGather::put_in_order(int rank, Gathered& all) const {
  const std::size_t processes = ends_.size();
  const auto first = static_cast<std::size_t>(rank);
  all.bytes.resize(used_ - processes * kLengthOfPart);
  all.begins.assign(1, 0);
  for (std::size_t process = 0; process < processes; ++process) {
    const std::size_t part = (process + processes - first) % processes;
    const std::size_t begin = (part == 0 ? 0 : ends_[part - 1]) + kLengthOfPart;
    const std::size_t length = ends_[part] - begin;
    if (length > 0) {  // nobody may have sent anything: then there is no memory to copy to
      std::memcpy(all.bytes.data() + all.begins.back(), held_.data() + begin, length);
    }
    all.begins.push_back(all.begins.back() + length);
  }
}

/// A message is sent as full pieces and one shorter piece (which may be empty), so that its end is
/// known without a header.
class MpiWorld final : public World {
 public:
  explicit MpiWorld(std::size_t piece) : piece_(piece) {
    int provided = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
              "MPI_Comm_set_errhandler");
    look_around();
    find_local_rank();
  }
  /// Splits off the processes of `all` that name the same group.
  MpiWorld(const MpiWorld& all, int group) : piece_(all.piece_), local_rank_(all.local_rank_) {
    check_mpi(MPI_Comm_split(all.comm_, group, all.rank_, &comm_), "MPI_Comm_split");
    look_around();
  }
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;
  MpiWorld(MpiWorld&&) = delete;
  MpiWorld& operator=(MpiWorld&&) = delete;
  ~MpiWorld() override {
    if (comm_ == MPI_COMM_WORLD) {
      MPI_Finalize();
    } else if (std::uncaught_exceptions() == 0) {
      MPI_Comm_free(&comm_);  // collective, so not for a process that has failed alone
    }
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }

  MPI_Comm communicator() const { return comm_; }

  void send(int to, std::span<const std::byte> bytes) override {
    const bool is_long = bytes.size() >= piece_;
    for (;;) {
      const auto piece = bytes.first(std::min(piece_, bytes.size()));
      if (is_long) {
        send_and_receive(to, piece);
      } else {
        check_mpi(MPI_Send(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to, kTag, comm_),
                  "MPI_Send");
      }
      if (piece.size() < piece_) {
        return;
      }
      bytes = bytes.subspan(piece_);
    }
  }

  void post(int from, std::span<std::byte> room) override {
    // The pieces of a long message must not arrive in the room of the next one.
    const bool must_wait = std::any_of(posted_.begin(), posted_.end(), [&](const Posted& before) {
      return before.from == from && before.room.size() >= piece_ && !before.is_whole;
    });
    posted_.push_back({.from = from, .room = room});
    if (!must_wait) {
      start(posted_.back());
    }
  }

  std::size_t take(int from) override {
    const auto first = first_from(from);
    assert(first != posted_.end());
    if (!first->started) {
      start(*first);
    }
    while (!first->is_whole) {
      MPI_Status status;
      check_mpi(MPI_Wait(&first->request, &status), "MPI_Wait");
      note_piece(*first, status);
    }
    const std::size_t length = first->length;
    posted_.erase(first);
    return length;
  }

  void broadcast(int root, std::span<std::byte> bytes) override {
    for (std::size_t begin = 0; begin < bytes.size(); begin += piece_) {
      const auto piece = bytes.subspan(begin, std::min(piece_, bytes.size() - begin));
      check_mpi(MPI_Bcast(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, root, comm_),
                "MPI_Bcast");
    }
  }

  void all_gather(std::span<const std::byte> mine, Gathered& all) override {
    gather_.take(comm_, mine, all);
  }

  std::int64_t minimum(std::int64_t mine) override {
    std::int64_t smallest = 0;
    check_mpi(MPI_Allreduce(&mine, &smallest, 1, MPI_INT64_T, MPI_MIN, comm_), "MPI_Allreduce");
    return smallest;
  }

  void add_up(std::span<float> numbers) override { add_up_as(MPI_FLOAT, numbers); }
  void add_up(std::span<double> numbers) override { add_up_as(MPI_DOUBLE, numbers); }

  [[noreturn]] void abort(ExitCode code) override {
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
    std::_Exit(static_cast<int>(code));  // not reached: MPI_Abort does not return
  }

  bool sends_wait() const override {
#ifdef RESIDUUM_SENDS_WAIT
    return true;
#else
    return false;
#endif
  }

  std::string description() const override {
    return fmt::format("{} processes, {}", size_, mpi_library_version());
  }

 private:
  static constexpr int kTag = 1;

  struct Posted {
    int from = 0;
    std::span<std::byte> room = {};  // for what is still to come
    std::size_t length = 0;          // of what has come
    bool started = false;
    bool is_whole = false;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  /// True for the oldest message of its sender that has not come.
  bool is_next(const Posted& posted) const {
    const auto next = std::find_if(posted_.begin(), posted_.end(), [&](const Posted& other) {
      return other.from == posted.from && !other.is_whole;
    });
    return &*next == &posted;
  }

  std::vector<Posted>::iterator first_from(int from) {
    return std::find_if(posted_.begin(), posted_.end(), [from](const Posted& posted) {
      return posted.from == from;
    });
  }

  void look_around() {
    check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  }

  void find_local_rank() {
    MPI_Comm machine = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine),
              "MPI_Comm_split_type");
    check_mpi(MPI_Comm_rank(machine, &local_rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_free(&machine), "MPI_Comm_free");
  }

  void start(Posted& posted) const {
    posted.started = true;
    check_mpi(MPI_Irecv(posted.room.data(),
                        static_cast<int>(std::min(piece_, posted.room.size())),
                        MPI_BYTE,
                        posted.from,
                        kTag,
                        comm_,
                        &posted.request),
              "MPI_Irecv");
  }

  /// Adds a piece that has come, and starts to receive the next one of a long message.
  void note_piece(Posted& posted, const MPI_Status& status) const {
    int count = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    const auto length = static_cast<std::size_t>(count);
    posted.length += length;
    posted.room = posted.room.subspan(length);
    posted.is_whole = length < piece_;
    if (!posted.is_whole) {
      start(posted);
    }
  }

  /// Sends a piece of a long message, and meanwhile receives those of messages that have room: two
  /// processes that send to each other would wait for each other's next piece.
  void send_and_receive(int to, std::span<const std::byte> piece) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(
        MPI_Isend(
            piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to, kTag, comm_, &request),
        "MPI_Isend");
    for (int is_sent = 0; is_sent == 0;) {
      check_mpi(MPI_Test(&request, &is_sent, MPI_STATUS_IGNORE), "MPI_Test");
      for (Posted& posted : posted_) {
        receive_what_is_there(posted);
      }
    }
  }

  void receive_what_is_there(Posted& posted) {
    if (posted.is_whole || (!posted.started && !is_next(posted))) {
      return;
    }
    if (!posted.started) {
      start(posted);
    }
    int is_there = 0;
    MPI_Status status;
    check_mpi(MPI_Test(&posted.request, &is_there, &status), "MPI_Test");
    if (is_there != 0) {
      note_piece(posted, status);
    }
  }

  template <class T>
  void add_up_as(MPI_Datatype type, std::span<T> numbers) const {
    const std::size_t most = piece_ / sizeof(T);
    for (std::size_t begin = 0; begin < numbers.size(); begin += most) {
      const auto piece = numbers.subspan(begin, std::min(most, numbers.size() - begin));
      check_mpi(
          MPI_Allreduce(
              MPI_IN_PLACE, piece.data(), static_cast<int>(piece.size()), type, MPI_SUM, comm_),
          "MPI_Allreduce");
    }
  }

  std::size_t piece_;
  int local_rank_ = 0;
  MPI_Comm comm_ = MPI_COMM_WORLD;
  std::vector<Posted> posted_;  // in the order they were posted
  MpiGather gather_;
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace

void check_mpi(int code, std::string_view call) {
  if (code == MPI_SUCCESS) {
    return;
  }
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(
      ExitCode::internal,
      fmt::format("{}: {}", call, std::string_view(text.data(), static_cast<std::size_t>(length))));
}

std::optional<int> mpi_communicator(const World& world) {
  const auto* const mpi = dynamic_cast<const MpiWorld*>(&world);
  return mpi != nullptr ? std::optional(MPI_Comm_c2f(mpi->communicator())) : std::nullopt;
}

std::unique_ptr<World> make_mpi_world(std::size_t piece) {
  return std::make_unique<MpiWorld>(piece);
}

std::unique_ptr<World> make_group_world(World& all, int groups) {
  require(groups >= 1 && groups <= all.size(),
          "--groups {} on {} {}: every group needs one of its own, so use mpirun -n {} or more",
          groups,
          all.size(),
          all.size() == 1 ? "process" : "processes",
          groups);
  const auto* const mpi = dynamic_cast<const MpiWorld*>(&all);
  if (mpi == nullptr) {
    return make_single_process();
  }
  const std::int64_t next = all.rank() + 1;
  return std::make_unique<MpiWorld>(*mpi, static_cast<int>((next * groups - 1) / all.size()));
}

bool started_by_launcher() {
  constexpr std::array kSigns{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_STEP_ID"};
  return std::any_of(kSigns.begin(), kSigns.end(), [](const char* name) {
    return std::getenv(name) != nullptr;  // NOLINT(concurrency-mt-unsafe): read before any thread
  });
}

void check_launcher(const World& world) {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const said = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread yet
    const std::string_view text = said == nullptr ? "" : said;
    require(
        world.size() > 1 || text.empty() || text == "1",
        "{} processes were started, and each is alone: the launcher belongs to another MPI than "
        "the program; start it by {}",
        text,
        RESIDUUM_LAUNCHER);
  }
}

std::vector<std::string> launch_words(int processes) {
  std::vector<std::string> words{RESIDUUM_LAUNCHER, "-n", std::to_string(processes)};
#ifdef OPEN_MPI  // others start more processes than there are cores without being asked
  words.emplace_back("--oversubscribe");
#endif
  return words;
}

bool mpi_takes_device_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;  // this MPI cannot be asked
#endif
}

std::string mpi_library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string_view all(text.data(), static_cast<std::size_t>(length));
  return std::string(all.substr(0, all.find(',')));
}

}  // namespace residuum

#include "core/cluster/mpi_world.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string_view>

namespace residuum {
namespace {

void check(int code, std::string_view call) {
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

/// MPI counts are int: longer messages go in pieces of this many bytes.
constexpr std::size_t kPiece = std::size_t{1} << 30;

class MpiWorld final : public World {
 public:
  MpiWorld() {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
  }
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;
  MpiWorld(MpiWorld&&) = delete;
  MpiWorld& operator=(MpiWorld&&) = delete;
  ~MpiWorld() override { MPI_Finalize(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(int to, std::span<const std::byte> bytes) override {
    const std::uint64_t length = bytes.size();
    if (length <= kPiece) {
      check(MPI_Send(bytes.data(), static_cast<int>(length), MPI_BYTE, to, kWhole, MPI_COMM_WORLD),
            "MPI_Send");
      return;
    }
    check(MPI_Send(&length, 1, MPI_UINT64_T, to, kLength, MPI_COMM_WORLD), "MPI_Send");
    for (std::size_t begin = 0; begin < length; begin += kPiece) {
      const auto piece = bytes.subspan(begin, std::min(kPiece, bytes.size() - begin));
      check(MPI_Send(
                piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to, kWhole, MPI_COMM_WORLD),
            "MPI_Send");
    }
  }

  Bytes receive(int from) override {
    MPI_Status status;
    check(MPI_Probe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &status), "MPI_Probe");
    if (status.MPI_TAG == kLength) {
      return receive_long(from);
    }
    int count = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    Bytes bytes(static_cast<std::size_t>(count));
    receive_into(from, bytes);
    return bytes;
  }

  void broadcast(int root, Bytes& bytes) override {
    std::uint64_t length = bytes.size();
    check(MPI_Bcast(&length, 1, MPI_UINT64_T, root, MPI_COMM_WORLD), "MPI_Bcast");
    bytes.resize(length);
    for (std::size_t begin = 0; begin < length; begin += kPiece) {
      const auto count = static_cast<int>(std::min<std::size_t>(kPiece, length - begin));
      check(MPI_Bcast(bytes.data() + begin, count, MPI_BYTE, root, MPI_COMM_WORLD), "MPI_Bcast");
    }
  }

  std::vector<Bytes> all_gather(std::span<const std::byte> mine) override {
    const auto processes = static_cast<std::size_t>(size_);
    if (mine.size() > std::numeric_limits<int>::max() / processes) {
      resource_error(
          "a message of {} bytes is too long to be gathered from {} processes", mine.size(), size_);
    }
    const int length = static_cast<int>(mine.size());
    std::vector<int> lengths(processes);
    check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD),
          "MPI_Allgather");
    std::vector<int> offsets(processes);
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
    Bytes all(static_cast<std::size_t>(offsets.back() + lengths.back()));
    check(MPI_Allgatherv(mine.data(),
                         length,
                         MPI_BYTE,
                         all.data(),
                         lengths.data(),
                         offsets.data(),
                         MPI_BYTE,
                         MPI_COMM_WORLD),
          "MPI_Allgatherv");
    std::vector<Bytes> gathered;
    for (std::size_t r = 0; r < processes; ++r) {
      const auto begin = all.begin() + offsets[r];
      gathered.emplace_back(begin, begin + lengths[r]);
    }
    return gathered;
  }

  std::int64_t minimum(std::int64_t mine) override {
    std::int64_t smallest = 0;
    check(MPI_Allreduce(&mine, &smallest, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD),
          "MPI_Allreduce");
    return smallest;
  }

  [[noreturn]] void abort(ExitCode code) override {
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
    std::_Exit(static_cast<int>(code));  // not reached
  }

  std::string description() const override {
    return fmt::format("{} processes, {}", size_, mpi_library_version());
  }

 private:
  static constexpr int kWhole = 1;
  static constexpr int kLength = 2;

  static void receive_into(int from, std::span<std::byte> bytes) {
    check(MPI_Recv(bytes.data(),
                   static_cast<int>(bytes.size()),
                   MPI_BYTE,
                   from,
                   kWhole,
                   MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE),
          "MPI_Recv");
  }

  static Bytes receive_long(int from) {
    std::uint64_t length = 0;
    check(MPI_Recv(&length, 1, MPI_UINT64_T, from, kLength, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
          "MPI_Recv");
    Bytes bytes(length);
    const std::span<std::byte> all(bytes);
    for (std::size_t begin = 0; begin < length; begin += kPiece) {
      receive_into(from, all.subspan(begin, std::min(kPiece, all.size() - begin)));
    }
    return bytes;
  }

  int rank_ = 0;
  int size_ = 0;
};

}  // namespace

std::unique_ptr<World> make_mpi_world() { return std::make_unique<MpiWorld>(); }

bool started_by_launcher() {
  constexpr std::array kSigns{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_STEP_ID"};
  return std::any_of(kSigns.begin(), kSigns.end(), [](const char* name) {
    return std::getenv(name) != nullptr;  // NOLINT(concurrency-mt-unsafe): read before any thread
  });
}

std::string mpi_library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string_view all(text.data(), static_cast<std::size_t>(length));
  return std::string(all.substr(0, all.find(',')));
}

}  // namespace residuum

#include <mpi.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "core/cluster/mpi_world.h"

namespace residuum {
namespace {

/// The kind of a packet is its tag. A message is sent as full pieces and one shorter piece (which
/// may be empty), so that its end is known without a header. Other packets are one short piece.
class MpiTransport final : public PacketTransport {
 public:
  MpiTransport(int communicator, std::size_t piece) : piece_(piece) {
    check_mpi(MPI_Comm_dup(MPI_Comm_f2c(communicator), &comm_), "MPI_Comm_dup");
    check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    under_way_->peers.resize(static_cast<std::size_t>(size_));
  }
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;
  MpiTransport(MpiTransport&&) = delete;
  MpiTransport& operator=(MpiTransport&&) = delete;
  ~MpiTransport() override {
    if (under_way_->sendings == 0 && left_ == size_ - 1) {
      MPI_Comm_free(&comm_);
    } else {
      // A process is lost or has failed, and MPI may still read and write this memory.
      static_cast<void>(under_way_.release());
    }
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(Packet packet) override {
    Peer& peer = under_way_->peers[static_cast<std::size_t>(packet.peer)];
    peer.waiting.push_back(std::move(packet));
    ++under_way_->sendings;
    start_sending(peer);
  }

  /// A call of MPI that finds nothing may give away the CPU. So what has arrived is taken before
  /// MPI is asked again: else every packet of a busy sender would cost that time.
  std::optional<Packet> poll() override {
    if (auto packet = next_that_is_here()) {
      return packet;
    }
    drop_sent();
    while (start_piece()) {
    }
    return next_that_is_here();
  }

  std::size_t unsent() override {
    drop_sent();
    return under_way_->sendings;
  }

 private:
  std::optional<Packet> next_that_is_here() {
    for (int peer = 0; peer < size_; ++peer) {
      if (auto packet = next_of(peer)) {
        left_ += packet->kind == Packet::Kind::leaving ? 1 : 0;
        return packet;
      }
    }
    return std::nullopt;
  }

  struct Sending {
    Bytes bytes;
    std::vector<MPI_Request> requests;  // one for each piece
  };
  struct Piece {
    Packet::Kind kind = Packet::Kind::message;
    Bytes bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Peer {
    std::deque<Packet> waiting;   // to be sent to this process, in their order
    std::deque<Sending> sending;  // before those, by MPI
    std::deque<Piece> pieces;     // that are being received, in the order in which they were sent
    Bytes message;                // the pieces of one message that have arrived
  };

  struct UnderWay {
    std::size_t sendings = 0;  // to all processes
    std::vector<Peer> peers;   // by rank
  };

  /// Hands packets to MPI while it has few for this process. Open MPI looks at all of them whenever
  /// it is called, so that many would delay all messages where a process sends faster than another
  /// reads.
  void start_sending(Peer& peer) {
    constexpr std::size_t kMostByMpi = 64;
    while (!peer.waiting.empty() && peer.sending.size() < kMostByMpi) {
      send_pieces(peer.waiting.front(), peer.sending.emplace_back());
      peer.waiting.pop_front();
    }
  }

  void send_pieces(Packet& packet, Sending& sending) {
    sending.bytes = std::move(packet.bytes);
    std::size_t begin = 0;
    for (bool is_last = false; !is_last;) {
      const std::size_t length = std::min(piece_, sending.bytes.size() - begin);
      check_mpi(MPI_Isend(sending.bytes.data() + begin,
                          static_cast<int>(length),
                          MPI_BYTE,
                          packet.peer,
                          static_cast<int>(packet.kind),
                          comm_,
                          &sending.requests.emplace_back(MPI_REQUEST_NULL)),
                "MPI_Isend");
      begin += length;
      is_last = length < piece_;
    }
  }

  /// MPI sends to one process in order, so the first packet to each is looked at first.
  void drop_sent() {
    for (Peer& peer : under_way_->peers) {
      while (!peer.sending.empty() && is_sent(peer.sending.front())) {
        peer.sending.pop_front();
        --under_way_->sendings;
      }
      start_sending(peer);
    }
  }

  static bool is_sent(Sending& sending) {
    int is_done = 0;
    check_mpi(MPI_Testall(static_cast<int>(sending.requests.size()),
                          sending.requests.data(),
                          &is_done,
                          MPI_STATUSES_IGNORE),
              "MPI_Testall");
    return is_done != 0;
  }

  /// Begins to receive the next piece, if there is one. No piece is waited for: a process that
  /// stops in the middle of a long one must not hold up the others.
  bool start_piece() {
    int is_there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    // Open MPI looks into the network only after it has found nothing, so what it finds there is
    // seen by the second call.
    for (int look = 0; look < 2 && is_there == 0; ++look) {
      check_mpi(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &is_there, &message, &status),
                "MPI_Improbe");
    }
    if (is_there == 0) {
      return false;
    }
    int length = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
    Piece& piece =
        under_way_->peers[static_cast<std::size_t>(status.MPI_SOURCE)].pieces.emplace_back();
    piece.kind = static_cast<Packet::Kind>(status.MPI_TAG);
    piece.bytes.resize(static_cast<std::size_t>(length));
    check_mpi(MPI_Imrecv(piece.bytes.data(), length, MPI_BYTE, &message, &piece.request),
              "MPI_Imrecv");
    return true;
  }

  /// Returns the next whole packet of that process.
  std::optional<Packet> next_of(int peer) {
    Peer& sender = under_way_->peers[static_cast<std::size_t>(peer)];
    while (!sender.pieces.empty() && has_arrived(sender.pieces.front())) {
      Piece piece = std::move(sender.pieces.front());
      sender.pieces.pop_front();
      if (piece.kind != Packet::Kind::message) {
        return Packet{.peer = peer, .kind = piece.kind, .bytes = std::move(piece.bytes)};
      }
      const bool is_last = piece.bytes.size() < piece_;
      if (sender.message.empty()) {
        sender.message = std::move(piece.bytes);
      } else {
        sender.message.insert(sender.message.end(), piece.bytes.begin(), piece.bytes.end());
      }
      if (is_last) {
        return Packet{.peer = peer,
                      .kind = Packet::Kind::message,
                      .bytes = std::exchange(sender.message, {})};
      }
    }
    return std::nullopt;
  }

  static bool has_arrived(Piece& piece) {
    int is_done = 0;
    check_mpi(MPI_Test(&piece.request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    return is_done != 0;
  }

  std::size_t piece_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
  int left_ = 0;  // that have arrived
  std::unique_ptr<UnderWay> under_way_ = std::make_unique<UnderWay>();
};

}  // namespace

bool mpi_serves_threads() {
  int threads = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&threads), "MPI_Query_thread");
  return threads >= MPI_THREAD_MULTIPLE;
}

std::unique_ptr<MessageQueue> make_mpi_message_queue(const World& world,
                                                     MessageQueueOptions options,
                                                     std::size_t piece) {
  const auto communicator = mpi_communicator(world);
  if (!communicator || world.size() == 1) {
    return make_single_message_queue();
  }
  if (!mpi_serves_threads()) {
    resource_error(
        "this MPI lets only one thread call it (MPI_THREAD_MULTIPLE is missing), and a message "
        "queue "
        "needs two; use an MPI library that was built for threads");
  }
  return std::make_unique<MessageQueue>(std::make_unique<MpiTransport>(*communicator, piece),
                                        std::move(options));
}

}  // namespace residuum

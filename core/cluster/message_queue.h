#pragma once
// A message queue exchanges messages between processes that are out of step: nobody waits for a
// message to be received, and messages from all processes arrive in one queue. A thread of the
// message queue moves them and gives signs of life, also while its owner computes or speaks to the
// World; a process that gives none is reported as lost.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/cluster/world.h"

namespace residuum {

/// Liveness tells which other processes are lost, by the time of the last sign of each, and to
/// which of them this process must send a sign. It has no clock of its own, so that tests need not
/// wait.
class Liveness {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// A process is lost when it has given no sign for `patience`. Signs are owed kSigns times as
  /// often.
  Liveness(int rank, int size, std::chrono::milliseconds patience, Time now);
  static constexpr int kSigns = 8;

  /// Returns how often each process owes the others a sign.
  Clock::duration period() const { return period_; }

  /// Records that this process polls its queue now; the other members refer to this time. Between
  /// two polls at most one period counts as silence of the others: in what goes beyond it this
  /// process itself was stopped or had no CPU.
  void look(Time now);

  /// Notes a sign of life, any packet from that process.
  void hear(int from);
  /// Records that a packet goes to that process, which is a sign too.
  void write(int to);
  /// Records that this process leaves all: the others expect no more signs of it.
  void leave_all() { says_nothing_ = true; }
  /// Notes that another process leaves, of which no more signs are expected. It still waits for
  /// those of this one.
  void leave(int peer);

  bool owes_sign(int to) const;
  /// Returns the process that has been silent for the longest time, if that is `patience` or more.
  std::optional<int> lost() const;
  bool have_all_left() const;

 private:
  struct Peer {
    Time heard;
    Time written;
    bool has_left = false;
  };

  Clock::duration patience_;
  Clock::duration period_;
  Time now_;
  int rank_;
  bool says_nothing_ = false;
  std::vector<Peer> peers_;
};

/// A packet is a message of the message queue's owner, or a notice between two message queues.
struct Packet {
  enum class Kind : std::uint8_t {
    message,    // bytes of the owner
    heartbeat,  // the sender is there; no bytes
    leaving,    // the sender sends no more messages; no bytes
    loss,       // a process is lost: its rank, as std::int32_t
  };

  int peer = 0;  // to whom the packet goes, or from whom it came
  Kind kind = Kind::message;
  Bytes bytes;
};

/// A PacketTransport moves packets between processes for a MessageQueue and never waits. One
/// implementation goes over MPI (mpi_message_queue.cc), one between the threads of a test. A
/// message queue calls all members from one thread of its own, except rank() and size().
class PacketTransport {
 public:
  PacketTransport() = default;
  PacketTransport(const PacketTransport&) = delete;
  PacketTransport& operator=(const PacketTransport&) = delete;
  PacketTransport(PacketTransport&&) = delete;
  PacketTransport& operator=(PacketTransport&&) = delete;
  virtual ~PacketTransport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Begins to send. Packets from one process to another arrive in the order they were sent.
  virtual void send(Packet packet) = 0;
  /// Returns the next packet that has arrived, and advances the packets under way.
  virtual std::optional<Packet> poll() = 0;
  /// Returns how many packets that were sent still need memory here.
  virtual std::size_t unsent() = 0;
};

/// A LostPeer says that a process has given no sign of life. Its World must not be used any more:
/// a collective call, MPI_Finalize too, would wait for the lost process.
class LostPeer : public Error {
 public:
  LostPeer(int rank, std::string_view message) : Error(ExitCode::resource, message), rank_(rank) {}
  /// Returns the rank of the lost process.
  int rank() const { return rank_; }

 private:
  int rank_;
};

struct Incoming {
  int from = 0;
  Bytes bytes;
};

struct MessageQueueOptions {
  /// A process that gives no sign of life for so long is lost. A sign is sent at every eighth of
  /// it.
  std::chrono::milliseconds patience{10'000};
  /// The rank of process 0 in the job: messages name processes by their rank there.
  int first_rank = 0;
  /// Called by the message queue's thread if a process is lost and the owner has not called next()
  /// for another `patience`, because it waits for the lost one elsewhere. It should end the
  /// program.
  std::function<void(const LostPeer&)> last_resort = {};
  /// How often the transport is polled where only signs of life are exchanged; 0: as often as
  /// messages need it.
  std::chrono::milliseconds look_every{0};
};

class MessageQueue {
 public:
  explicit MessageQueue(std::unique_ptr<PacketTransport> transport,
                        MessageQueueOptions options = {});
  MessageQueue(const MessageQueue&) = delete;
  MessageQueue& operator=(const MessageQueue&) = delete;
  MessageQueue(MessageQueue&&) = delete;
  MessageQueue& operator=(MessageQueue&&) = delete;
  /// Closes the message queue, or tells the others that this process has failed if an exception is
  /// why it is destroyed.
  ~MessageQueue();

  int rank() const { return transport_->rank(); }
  int size() const { return transport_->size(); }

  /// Sends a message and returns at once. Messages from one process to another, also to itself,
  /// arrive in the order they were sent. Any thread may call this.
  void send(int to, Bytes message);

  /// Waits while many messages have not left this process: one that makes messages faster than they
  /// travel would fill its memory, and its last messages would arrive late. Returns also if a
  /// process is lost. Any thread may call this.
  void await_room();

  /// Returns the next message, waiting for it at most so long. Throws a LostPeer, on every process
  /// that is left, as soon as one is lost: after that many milliseconds of silence and an eighth
  /// more, plus the time in which this process itself had no CPU.
  std::optional<Incoming> next(std::chrono::milliseconds wait);

  /// Waits until every process has closed its message queue; messages that were not read are
  /// dropped. Throws a LostPeer if one is lost before that. The call is collective.
  void close();

 private:
  using Lock = std::unique_lock<std::mutex>;

  // Only the queue's own thread calls these functions.
  void serve();
  bool serve_once();
  bool send_all();
  bool take_arrived();
  void take(Packet packet);
  void give_signs();
  void judge();
  void lose(int rank, std::string_view message);
  void call_last_resort();
  void sleep(bool acted);

  void throw_if_failed();
  void send_to_others(Packet::Kind kind, const Bytes& bytes);
  void abandon();
  void join();

  std::unique_ptr<PacketTransport> transport_;
  MessageQueueOptions options_;
  int exceptions_ = std::uncaught_exceptions();

  std::mutex mutex_;
  std::condition_variable arrived_;  // for the owner
  std::condition_variable posted_;   // for the thread
  std::deque<Packet> outgoing_;
  std::deque<Incoming> inbox_;
  std::optional<LostPeer> lost_;
  std::exception_ptr failure_;  // of the transport
  bool is_told_ = false;        // the owner has been told what is lost
  bool is_closing_ = false;
  bool is_sent_ = false;    // everything posted has left this process
  std::size_t unsent_ = 0;  // packets that the transport still keeps
  bool is_closed_ = false;  // and every other process has left
  bool is_over_ = false;    // the thread must end

  Liveness liveness_;  // of the thread, as the next three
  Liveness::Time lost_at_;
  Liveness::Clock::duration pause_{};
  bool has_resorted_ = false;

  std::thread thread_;  // none in a message queue of one process
};

/// Makes the message queue of a process that is alone.
std::unique_ptr<MessageQueue> make_single_message_queue();

}  // namespace residuum

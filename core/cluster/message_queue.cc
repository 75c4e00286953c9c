#include "core/cluster/message_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace residuum {

namespace {

using Duration = Liveness::Clock::duration;

/// The thread polls this often while packets arrive, and less and less often while none does: it
/// must leave the CPU to the gradients. Pauses that grow by an eighth are an eighth of the time
/// since the last packet, so a message that ends a wait comes later by at most that part of it.
constexpr Duration kShortestPause = std::chrono::microseconds(20);
constexpr Duration kLongestPause = std::chrono::milliseconds(1);

/// Packets that are taken at once, before signs are given.
constexpr int kMostAtOnce = 64;

/// A process with more unsent packets delays work that makes more of them.
constexpr std::size_t kManyUnsent = 256;

/// A process that fails waits so long for its last packets to leave.
constexpr Duration kGrace = std::chrono::milliseconds(200);

class NoTransport final : public PacketTransport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void send(Packet /*packet*/) override { assert(false); }
  std::optional<Packet> poll() override { return std::nullopt; }
  std::size_t unsent() override { return 0; }
};

Bytes rank_to_bytes(int rank) {
  const auto number = static_cast<std::int32_t>(rank);
  Bytes bytes(sizeof(number));
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

/// Returns the rank that a notice of loss names; the sender's own if the notice is damaged.
int lost_rank(const Packet& notice, int size) {
  std::int32_t rank = -1;
  if (notice.bytes.size() == sizeof(rank)) {
    std::memcpy(&rank, notice.bytes.data(), sizeof(rank));
  }
  return rank >= 0 && rank < size ? rank : notice.peer;
}

}  // namespace

MessageQueue::MessageQueue(std::unique_ptr<PacketTransport> transport, MessageQueueOptions options)
    : transport_(std::move(transport)),
      options_(std::move(options)),
      liveness_(transport_->rank(), transport_->size(), options_.patience, Liveness::Clock::now()) {
  if (size() > 1) {
    thread_ = std::thread([this] { serve(); });
  }
}

MessageQueue::~MessageQueue() {
  if (!thread_.joinable()) {
    return;
  }
  if (std::uncaught_exceptions() > exceptions_) {
    abandon();
    return;
  }
  try {
    close();
  } catch (...) {  // NOLINT(bugprone-empty-catch): nobody is left to be told
  }
}

void MessageQueue::send(int to, Bytes message) {
  assert(to >= 0 && to < size());
  const Lock lock(mutex_);
  if (to == rank()) {
    inbox_.push_back({.from = to, .bytes = std::move(message)});
    arrived_.notify_all();
    return;
  }
  outgoing_.push_back({.peer = to, .kind = Packet::Kind::message, .bytes = std::move(message)});
  is_sent_ = false;
  posted_.notify_all();
}

std::optional<Incoming> MessageQueue::next(std::chrono::milliseconds wait) {
  Lock lock(mutex_);
  arrived_.wait_for(lock, wait, [this] { return !inbox_.empty() || lost_ || failure_; });
  throw_if_failed();
  if (inbox_.empty()) {
    return std::nullopt;
  }
  Incoming incoming = std::move(inbox_.front());
  inbox_.pop_front();
  return incoming;
}

void MessageQueue::await_room() {
  Lock lock(mutex_);
  arrived_.wait(lock, [this] {
    return outgoing_.size() + unsent_ < kManyUnsent || lost_ || failure_ || is_closing_ || is_over_;
  });
}

void MessageQueue::close() {
  if (!thread_.joinable()) {
    return;
  }
  {
    Lock lock(mutex_);
    is_closing_ = true;
    send_to_others(Packet::Kind::leaving, {});
    arrived_.wait(lock, [this] { return is_closed_ || lost_ || failure_; });
  }
  join();
  throw_if_failed();
}

/// Tells the others why this process will be silent.
void MessageQueue::abandon() {
  {
    Lock lock(mutex_);
    if (!lost_ && !failure_) {
      send_to_others(Packet::Kind::loss, rank_to_bytes(rank()));
    }
    arrived_.wait_for(lock, kGrace, [this] { return is_sent_ || failure_; });
  }
  join();
}

void MessageQueue::join() {
  {
    const Lock lock(mutex_);
    is_over_ = true;
    posted_.notify_all();
    arrived_.notify_all();
  }
  thread_.join();
}

/// The caller holds the lock, or has ended the thread.
void MessageQueue::throw_if_failed() {
  if (failure_) {
    std::rethrow_exception(failure_);
  }
  if (lost_) {
    is_told_ = true;
    throw LostPeer(*lost_);
  }
}

/// The caller holds the lock.
void MessageQueue::send_to_others(Packet::Kind kind, const Bytes& bytes) {
  for (int to = 0; to < size(); ++to) {
    if (to != rank()) {
      outgoing_.push_back({.peer = to, .kind = kind, .bytes = bytes});
    }
  }
  is_sent_ = false;
  posted_.notify_all();
}

void MessageQueue::serve() {
  try {
    for (;;) {
      const bool acted = serve_once();
      {
        const Lock lock(mutex_);
        if (is_over_) {
          return;
        }
      }
      sleep(acted);
    }
  } catch (...) {
    const Lock lock(mutex_);
    failure_ = std::current_exception();
    arrived_.notify_all();
  }
}

/// Returns true if a packet was sent or has arrived.
bool MessageQueue::serve_once() {
  liveness_.look(Liveness::Clock::now());
  const bool has_sent = send_all();
  const bool has_taken = take_arrived();
  give_signs();
  const std::size_t unsent = transport_->unsent();
  const Lock lock(mutex_);
  const bool had_many = std::exchange(unsent_, unsent) >= kManyUnsent;
  const bool was_sent = std::exchange(is_sent_, unsent == 0 && outgoing_.empty());
  is_closed_ = is_closing_ && is_sent_ && liveness_.have_all_left();
  if (is_closed_ || is_sent_ != was_sent || had_many) {
    arrived_.notify_all();
  }
  return has_sent || has_taken;
}

bool MessageQueue::send_all() {
  std::deque<Packet> packets;
  {
    const Lock lock(mutex_);
    packets.swap(outgoing_);
    unsent_ += packets.size();
  }
  for (Packet& packet : packets) {
    liveness_.write(packet.peer);
    if (packet.kind == Packet::Kind::leaving) {
      liveness_.leave_all();
    }
    transport_->send(std::move(packet));
  }
  return !packets.empty();
}

bool MessageQueue::take_arrived() {
  for (int taken = 0; taken < kMostAtOnce; ++taken) {
    auto packet = transport_->poll();
    if (!packet) {
      // All signs that have arrived are known, so a silent process may be judged.
      judge();
      return taken > 0;
    }
    take(*std::move(packet));
  }
  return true;
}

void MessageQueue::take(Packet packet) {
  liveness_.hear(packet.peer);
  switch (packet.kind) {
    case Packet::Kind::message: {
      const Lock lock(mutex_);
      inbox_.push_back({.from = packet.peer, .bytes = std::move(packet.bytes)});
      arrived_.notify_all();
      break;
    }
    case Packet::Kind::heartbeat:
      break;
    case Packet::Kind::leaving:
      liveness_.leave(packet.peer);
      break;
    case Packet::Kind::loss: {
      const int lost = lost_rank(packet, size());
      const Lock lock(mutex_);
      lose(lost,
           lost == packet.peer
               ? fmt::format("process {} has failed and left the run; its own message says why",
                             options_.first_rank + lost)
               : fmt::format("process {} is lost: process {} has not heard of it for too long; "
                             "find out whether it was killed, stopped or cut off, and run again",
                             options_.first_rank + lost,
                             options_.first_rank + packet.peer));
      break;
    }
  }
}

void MessageQueue::give_signs() {
  for (int to = 0; to < size(); ++to) {
    if (liveness_.owes_sign(to)) {
      liveness_.write(to);
      transport_->send({.peer = to, .kind = Packet::Kind::heartbeat, .bytes = {}});
    }
  }
}

void MessageQueue::judge() {
  if (lost_) {
    call_last_resort();
    return;
  }
  if (const auto rank = liveness_.lost()) {
    // The owner leaves as soon as it is told and nothing waits to be sent, so it must not hear of
    // the loss before the notices to the others are posted.
    const Lock lock(mutex_);
    lose(*rank,
         fmt::format("process {} is lost: it gave no sign of life for {} ms; find out whether it "
                     "was killed, stopped or cut off, and run again",
                     options_.first_rank + *rank,
                     options_.patience.count()));
    send_to_others(Packet::Kind::loss, rank_to_bytes(*rank));
  }
}

/// The caller holds the lock.
void MessageQueue::lose(int rank, std::string_view message) {
  if (lost_) {
    return;
  }
  lost_at_ = Liveness::Clock::now();
  lost_ = LostPeer(rank, message);
  arrived_.notify_all();
}

void MessageQueue::call_last_resort() {
  if (has_resorted_ || !options_.last_resort ||
      Liveness::Clock::now() - lost_at_ < options_.patience) {
    return;
  }
  has_resorted_ = true;
  {
    const Lock lock(mutex_);
    if (is_told_) {
      return;
    }
  }
  options_.last_resort(*lost_);
}

void MessageQueue::sleep(bool acted) {
  const Duration longest = std::min(kLongestPause, liveness_.period());
  pause_ = acted ? kShortestPause : std::clamp(pause_ + pause_ / 8, kShortestPause, longest);
  Lock lock(mutex_);
  if (options_.look_every.count() > 0 && !is_closing_) {
    pause_ = options_.look_every;
  }
  posted_.wait_for(lock, pause_, [this] { return !outgoing_.empty() || is_over_; });
}

std::unique_ptr<MessageQueue> make_single_message_queue() {
  return std::make_unique<MessageQueue>(std::make_unique<NoTransport>());
}

Liveness::Liveness(int rank, int size, std::chrono::milliseconds patience, Time now)
    : patience_(patience),
      period_(Clock::duration(patience) / kSigns),
      now_(now),
      rank_(rank),
      peers_(static_cast<std::size_t>(size), Peer{.heard = now, .written = now}) {
  leave(rank);
}

void Liveness::look(Time now) {
  const Clock::duration pause = now - now_;
  now_ = now;
  if (pause > period_) {
    for (Peer& peer : peers_) {
      peer.heard += pause - period_;
    }
  }
}

void Liveness::hear(int from) { peers_[static_cast<std::size_t>(from)].heard = now_; }

void Liveness::write(int to) { peers_[static_cast<std::size_t>(to)].written = now_; }

void Liveness::leave(int peer) { peers_[static_cast<std::size_t>(peer)].has_left = true; }

bool Liveness::owes_sign(int to) const {
  const Time written = peers_[static_cast<std::size_t>(to)].written;
  return to != rank_ && !says_nothing_ && now_ - written >= period_;
}

std::optional<int> Liveness::lost() const {
  std::optional<int> longest;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    const Peer& peer = peers_[rank];
    const bool is_silent = !peer.has_left && now_ - peer.heard >= patience_;
    if (is_silent && (!longest || peer.heard < peers_[static_cast<std::size_t>(*longest)].heard)) {
      longest = static_cast<int>(rank);
    }
  }
  return longest;
}

bool Liveness::have_all_left() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.has_left; });
}

}  // namespace residuum

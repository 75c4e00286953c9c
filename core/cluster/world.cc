#include "core/cluster/world.h"

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

namespace residuum {
namespace {

class SingleProcess final : public World {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }

  void send(int /*to*/, std::span<const std::byte> /*bytes*/) override { assert(false); }
  void post(int /*from*/, std::span<std::byte> /*room*/) override { assert(false); }
  std::size_t take(int /*from*/) override {
    assert(false);
    return 0;
  }
  void broadcast(int /*root*/, std::span<std::byte> /*bytes*/) override {}
  void all_gather(std::span<const std::byte> mine, Gathered& all) override {
    all.bytes.assign(mine.begin(), mine.end());
    all.begins = {0, mine.size()};
  }
  std::int64_t minimum(std::int64_t mine) override { return mine; }
  void add_up(std::span<float> /*numbers*/) override {}
  void add_up(std::span<double> /*numbers*/) override {}
  [[noreturn]] void abort(ExitCode code) override { std::_Exit(static_cast<int>(code)); }
  std::string description() const override { return "one process"; }
};

Bytes serialised(const std::optional<Error>& error) {
  Bytes bytes;
  if (!error) {
    return bytes;
  }
  const std::string text = error->what();
  bytes.resize(1 + text.size());
  bytes[0] = static_cast<std::byte>(error->code());
  std::memcpy(bytes.data() + 1, text.data(), text.size());
  return bytes;
}

}  // namespace

std::unique_ptr<World> make_single_process() { return std::make_unique<SingleProcess>(); }

void World::receive(int from, std::span<std::byte> bytes) {
  post(from, bytes);
  [[maybe_unused]] const std::size_t length = take(from);
  assert(length == bytes.size());
}

void broadcast(World& world, int root, Bytes& bytes) {
  std::uint64_t length = bytes.size();
  world.broadcast(root, std::as_writable_bytes(std::span(&length, 1)));
  bytes.resize(length);
  world.broadcast(root, bytes);
}

void together(World& world, const std::function<void()>& action) {
  std::optional<Error> mine;
  try {
    action();
  } catch (const Error& error) {
    mine = error;
  } catch (const std::bad_alloc&) {
    mine = Error(ExitCode::resource, "out of memory");
  }
  Gathered all;
  world.all_gather(serialised(mine), all);
  for (std::size_t rank = 0; rank < all.parts(); ++rank) {
    const auto bytes = all.part(rank);
    if (!bytes.empty()) {
      std::string text(bytes.size() - 1, '\0');
      std::memcpy(text.data(), bytes.data() + 1, text.size());
      throw SharedError(static_cast<ExitCode>(bytes[0]), text);
    }
  }
}

}  // namespace residuum

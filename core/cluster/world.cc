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
  Bytes receive(int /*from*/) override {
    assert(false);
    return {};
  }
  void broadcast(int /*root*/, Bytes& /*bytes*/) override {}
  std::vector<Bytes> all_gather(std::span<const std::byte> mine) override {
    return {Bytes(mine.begin(), mine.end())};
  }
  std::int64_t minimum(std::int64_t mine) override { return mine; }
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

void together(World& world, const std::function<void()>& action) {
  std::optional<Error> mine;
  try {
    action();
  } catch (const Error& error) {
    mine = error;
  } catch (const std::bad_alloc&) {
    mine = Error(ExitCode::resource, "out of memory");
  }
  for (const Bytes& bytes : world.all_gather(serialised(mine))) {
    if (!bytes.empty()) {
      std::string text(bytes.size() - 1, '\0');
      std::memcpy(text.data(), bytes.data() + 1, text.size());
      throw SharedError(static_cast<ExitCode>(bytes[0]), text);
    }
  }
}

}  // namespace residuum

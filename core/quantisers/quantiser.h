#pragma once
// A quantiser writes values with few bits each. It acts on the values that a sparsifier kept, or on
// all of them; what it writes is what travels, and what is read from that is what counts: updates,
// residuals and measurements see decoded values. Each quantiser has its own file and a line in
// registry.cc.

#include <cassert>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "core/config/registry.h"
#include "core/messages/laws.h"
#include "core/random/random.h"

namespace residuum {

/// Returns the law of an unbiased random quantiser with this omega. With `shrinks` it sends
/// Q(x)/(1 + omega), a contraction with alpha = 1/(1 + omega) (Beznosikov et al. 2020, lemma 1).
QuantiserLaw unbiased_law(double omega, bool shrinks, int bits);

class Quantiser {
 public:
  Quantiser() = default;
  Quantiser(const Quantiser&) = delete;
  Quantiser& operator=(const Quantiser&) = delete;
  Quantiser(Quantiser&&) = delete;
  Quantiser& operator=(Quantiser&&) = delete;
  virtual ~Quantiser() = default;

  /// Writes the packed form of finite values to `coded`, which has packed_bytes() of them. The
  /// stream belongs to this message alone.
  virtual void encode(std::span<const float> values,
                      RandomStream& random,
                      std::span<std::byte> coded) const = 0;
  virtual void encode(std::span<const double> values,
                      RandomStream& random,
                      std::span<std::byte> coded) const = 0;

  /// Reads as many values as `values` has room for from bytes that may come from anywhere. Throws
  /// an Error if they are not such a packed form.
  virtual void decode(std::span<const std::byte> coded, std::span<float> values) const = 0;
  virtual void decode(std::span<const std::byte> coded, std::span<double> values) const = 0;

  /// Returns the bytes of the packed form of n values that take `value_bytes` (4 or 8) in memory.
  /// No values take none.
  virtual std::size_t packed_bytes(std::size_t n, std::size_t value_bytes) const = 0;

  virtual QuantiserLaw law(std::size_t n) const = 0;
};

/// Throws an Error which says that a quantised message is damaged, unless it is sound.
void check_coded(bool is_sound);

/// Implements the overloads by member templates encode_values<Real>(values, random, coded),
/// decode_values<Real>(coded, values) and the member bytes(n, value_bytes) of Derived, which are
/// called with at least one value and with exactly the bytes that these take.
template <class Derived>
class QuantiserFor : public Quantiser {
 public:
  void encode(std::span<const float> values,
              RandomStream& random,
              std::span<std::byte> coded) const final {
    write(values, random, coded);
  }
  void encode(std::span<const double> values,
              RandomStream& random,
              std::span<std::byte> coded) const final {
    write(values, random, coded);
  }
  void decode(std::span<const std::byte> coded, std::span<float> values) const final {
    read(coded, values);
  }
  void decode(std::span<const std::byte> coded, std::span<double> values) const final {
    read(coded, values);
  }
  std::size_t packed_bytes(std::size_t n, std::size_t value_bytes) const final {
    return n == 0 ? 0 : self().bytes(n, value_bytes);
  }

 private:
  template <class Real>
  void write(std::span<const Real> values, RandomStream& random, std::span<std::byte> coded) const {
    assert(coded.size() == packed_bytes(values.size(), sizeof(Real)));
    if (!values.empty()) {
      self().template encode_values<Real>(values, random, coded);
    }
  }

  template <class Real>
  void read(std::span<const std::byte> coded, std::span<Real> values) const {
    check_coded(coded.size() == packed_bytes(values.size(), sizeof(Real)));
    if (!values.empty()) {
      self().template decode_values<Real>(coded, values);
    }
  }

  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

std::span<const Entry<Quantiser>> quantisers();

/// Builds what the section's `kind` names; null for "none", which is the default. The caller
/// finishes the section.
std::unique_ptr<Quantiser> make_quantiser(const Section& section);

/// Reads `bits`, the bits of one value, from `least` to 16; 4 if it is not given.
int quantiser_bits_from(const Section& section, int least);

/// Reads `shrink`: whether sent values are divided by 1 + omega. Error feedback needs this where
/// omega is not below one.
bool shrinks_from(const Section& section);

}  // namespace residuum

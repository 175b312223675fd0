// Random changes of an input.
#include "mutation.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace warpalign::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;

class Mutator {
 public:
  Mutator(Bytes bytes, std::uint64_t seed) : bytes_(std::move(bytes)), engine_(seed) {}

  void change() {
    switch (below(7)) {
      case 0:
        return flip_bit();
      case 1:
        return replace_byte();
      case 2:
        return put_extreme_number();
      case 3:
        return remove_part();
      case 4:
        return repeat_part();
      case 5:
        return copy_part();
      default:
        return cut();
    }
  }

  Bytes take() && { return std::move(bytes_); }

 private:
  /// A random number below `count`, which must not be 0. The same with every standard library.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }

  void flip_bit() {
    if (bytes_.empty()) return;
    bytes_[below(bytes_.size())] ^= static_cast<std::uint8_t>(1U << below(8));
  }

  void replace_byte() {
    if (bytes_.empty()) return;
    bytes_[below(bytes_.size())] = static_cast<std::uint8_t>(below(256));
  }

  /// Writes a number of 1, 2, 4 or 8 bytes, in either byte order.
  void put_extreme_number() {
    constexpr std::array<std::uint64_t, 8> extremes{
        0, 1, 0x7f, 0x80, 0x7fffffffffffffffU, 0x8000000000000000U, 0xffffffffffffffffU, 0x10000};
    const std::size_t width = std::size_t{1} << below(4);
    if (bytes_.size() < width) return;
    const std::uint64_t value = extremes[below(extremes.size())];
    const std::size_t at = below(bytes_.size() - width + 1);
    const bool reversed = below(2) == 1;
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t place = reversed ? width - 1 - i : i;
      bytes_[at + i] = static_cast<std::uint8_t>(value >> 8 * place);
    }
  }

  struct Part {
    std::size_t at;
    std::size_t size;
  };
  Part part() {
    const std::size_t at = below(bytes_.size());
    const std::size_t most = std::min<std::size_t>(bytes_.size() - at, 64);
    return {at, 1 + below(most)};
  }

  void remove_part() {
    if (bytes_.empty()) return;
    const auto [at, size] = part();
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(at);
    bytes_.erase(begin, begin + static_cast<std::ptrdiff_t>(size));
  }

  void repeat_part() {
    if (bytes_.empty()) return;
    const auto [at, size] = part();
    const Bytes copy(bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes_.begin() + static_cast<std::ptrdiff_t>(at + size));
    bytes_.insert(bytes_.begin() + static_cast<std::ptrdiff_t>(at), copy.begin(), copy.end());
  }

  void copy_part() {
    if (bytes_.empty()) return;
    const auto [at, size] = part();
    const std::size_t to = below(bytes_.size() - size + 1);
    const Bytes copy(bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes_.begin() + static_cast<std::ptrdiff_t>(at + size));
    std::copy(copy.begin(), copy.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(to));
  }

  void cut() {
    if (!bytes_.empty()) bytes_.resize(below(bytes_.size()));
  }

  Bytes bytes_;
  std::mt19937_64 engine_;
};

}  // namespace

std::vector<std::uint8_t> mutated(const std::vector<std::uint8_t>& original, std::uint64_t seed,
                                  std::uint64_t number) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;  // spreads neighbouring numbers
  Mutator mutator(original, seed * odd ^ number);
  for (std::uint64_t changes = 1 + number % 4; changes > 0; --changes) mutator.change();
  return std::move(mutator).take();
}

}  // namespace warpalign::fuzz

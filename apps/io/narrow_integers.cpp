// Integers of 64 bits in 32 bits.
#include "io/narrow_integers.hpp"

#include "io/image_file.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <limits>

namespace warpalign::program {
namespace {

template <typename Wide, typename Narrow>
std::vector<std::byte> narrowed(std::span<const std::byte> wide) {
  std::vector<std::byte> narrow(wide.size() / sizeof(Wide) * sizeof(Narrow));
  for (std::size_t i = 0; i < wide.size() / sizeof(Wide); ++i) {
    Wide value{};
    std::memcpy(&value, wide.data() + i * sizeof value, sizeof value);
    if (value < static_cast<Wide>(std::numeric_limits<Narrow>::min()) ||
        value > static_cast<Wide>(std::numeric_limits<Narrow>::max())) {
      throw FileError(fmt::format(
          "has 64-bit integers, of which {} does not fit into 32 bits; convert it to float64",
          value));
    }
    const auto small = static_cast<Narrow>(value);
    std::memcpy(narrow.data() + i * sizeof small, &small, sizeof small);
  }
  return narrow;
}

}  // namespace

std::vector<std::byte> narrow_integers(std::span<const std::byte> wide, PixelType type) {
  return type == PixelType::i32 ? narrowed<std::int64_t, std::int32_t>(wide)
                                : narrowed<std::uint64_t, std::uint32_t>(wide);
}

}  // namespace warpalign::program

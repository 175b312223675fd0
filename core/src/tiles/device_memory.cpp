// How much of a device's memory resampling may take.
#include <warpalign/error.hpp>
#include <warpalign/tiles.hpp>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace warpalign {

namespace {

constexpr const char* variable = "WARPALIGN_MAX_DEVICE_MEMORY";

[[noreturn]] void refuse(std::string_view text) {
  throw Error(ErrorKind::configuration,
              std::string(variable) + "=" + std::string(text) +
                  " is not a number of bytes above 0, such as 1500000000, 800M or 4G");
}

/// The binary exponent of a suffix: 10 for K, 20 for M, 30 for G.
int bits_of(std::string_view letter, std::string_view text) {
  if (letter.empty()) return 0;
  if (letter == "K") return 10;
  if (letter == "M") return 20;
  if (letter == "G") return 30;
  refuse(text);
}

std::size_t bytes_in(std::string_view text) {
  std::size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || number == 0) refuse(text);
  const int bits = bits_of({rest, static_cast<std::size_t>(end - rest)}, text);
  if (number > std::numeric_limits<std::size_t>::max() >> bits) refuse(text);
  return number << bits;
}

}  // namespace

std::size_t max_device_memory(const Device& device) {
  if (const char* set = std::getenv(variable); set != nullptr && *set != '\0') return bytes_in(set);
  return device.info().memory_bytes / 4 * 3;
}

}  // namespace warpalign

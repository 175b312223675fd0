// The rows of an image in the caller's memory.
#include "device/host_rows.hpp"

#include "device/check.hpp"

#include <cstddef>
#include <cstring>
#include <string>

namespace warpalign::detail {

namespace {

std::size_t row_of(const HostImage& image) {
  return static_cast<std::size_t>(image.width) * size_of(image.type);
}

}  // namespace

bool has_valid_rows(const HostImage& image) noexcept {
  return image.row_bytes == 0 ||
         (image.row_bytes > 0 && static_cast<std::size_t>(image.row_bytes) >= row_of(image));
}

void check_rows(const char* stage, const char* what, const HostImage& image) {
  if (has_valid_rows(image)) return;
  refuse(stage, std::string(what) + " has row_bytes of " + std::to_string(image.row_bytes) +
                    ", smaller than a row of pixels, which has " + std::to_string(row_of(image)));
}

std::size_t pitch_of(const HostImage& image) noexcept {
  return image.row_bytes == 0 ? row_of(image) : static_cast<std::size_t>(image.row_bytes);
}

bool is_dense(const HostImage& image) noexcept { return pitch_of(image) == row_of(image); }

void copy_rows(const HostImage& image, void* target) noexcept {
  const std::size_t row = row_of(image);
  const auto* from = static_cast<const std::byte*>(image.data);
  auto* to = static_cast<std::byte*>(target);
  for (std::int64_t y = 0; y < image.height; ++y) {
    std::memcpy(to, from, row);
    from += pitch_of(image);
    to += row;
  }
}

}  // namespace warpalign::detail

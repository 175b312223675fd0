// Checks and tables of packed planes: images of several sizes in one buffer.
#include "stages/features/packed_planes.hpp"

#include "device/check.hpp"

#include <limits>
#include <string>

namespace warpalign::detail {

void check_planes(const char* stage, std::span<const Shape> planes, std::int64_t images) {
  if (planes.empty()) refuse(stage, "there must be at least one plane");
  if (images < 1) refuse(stage, "there must be at least one image");
  for (const Shape& plane : planes) check_shape(stage, "a plane", plane);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (backend::packed_pixels(planes) > most / images) {
    refuse(stage, std::to_string(images) + " times planes of " +
                      std::to_string(backend::packed_pixels(planes)) +
                      " pixels exceed the limit of 2^31 - 1 pixels");
  }
}

std::vector<std::int32_t> words_of(std::span<const Shape> planes) {
  std::vector<std::int32_t> words;
  std::int64_t first = 0;
  for (const Shape& plane : planes) {
    for (const std::int64_t word : {first, plane.width, plane.height}) {
      words.push_back(static_cast<std::int32_t>(word));
    }
    first += plane.plane();
  }
  return words;
}

std::size_t packed_bytes(std::span<const Shape> planes, std::int64_t images) {
  return static_cast<std::size_t>(images * backend::packed_pixels(planes)) * sizeof(float);
}

}  // namespace warpalign::detail

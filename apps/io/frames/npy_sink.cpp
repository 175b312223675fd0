// Writes aligned frames to one array in a .npy file. The number of frames is written at the end.
#include "io/frames/npy_sink.hpp"

#include "io/npy.hpp"

#include <fmt/format.h>

#include <vector>

namespace warpalign::program {

NpySink::NpySink(const std::filesystem::path& path, const LoadedImage& plane,
                 std::optional<std::size_t> kept, const RecordingFormat& format)
    : zeros_(make_image(plane.width, plane.height, plane.channels, plane.type)),
      slices_(format.slices),
      channels_(format.channels),
      file_(path, header(0), format.planes() * zeros_.pixels.size(), kept) {}

/// Its size does not depend on the number of frames.
std::vector<std::byte> NpySink::header(std::size_t frames) const {
  constexpr std::size_t header_bytes = 128;
  std::vector<std::int64_t> extents{static_cast<std::int64_t>(frames)};
  if (slices_ > 1) extents.push_back(static_cast<std::int64_t>(slices_));
  if (channels_ > 1) extents.push_back(static_cast<std::int64_t>(channels_));
  extents.insert(extents.end(), {zeros_.height, zeros_.width});
  if (zeros_.channels == 3) extents.push_back(3);
  return npy_header(extents, zeros_.type, header_bytes);
}

bool NpySink::lacks(std::size_t index, const std::string& /*stem*/) const {
  return index >= file_.records();
}

void NpySink::write(std::size_t /*index*/, const std::string& /*stem*/,
                    std::span<const LoadedImage> aligned) {
  std::vector<std::span<const std::byte>> planes(slices_ * channels_, zeros_.pixels);
  for (std::size_t i = 0; i < aligned.size(); ++i) planes[i] = aligned[i].pixels;
  file_.append(planes);
}

std::string NpySink::name_of(std::size_t index, const std::string& /*stem*/) const {
  return fmt::format("{}[{}]", name(), index);
}

void NpySink::commit() {
  file_.write_at(0, header(file_.records()));
  file_.commit();
}

}  // namespace warpalign::program

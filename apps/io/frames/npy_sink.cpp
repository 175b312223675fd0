// Writes aligned frames to one array in a .npy file. The number of frames is written at the end.
#include "io/frames/npy_sink.hpp"

#include "io/npy.hpp"

#include <fmt/format.h>

namespace warpalign::program {
namespace {

/// The size of the header, which does not depend on the number of frames.
std::vector<std::byte> header_of(const LoadedImage& frame, std::size_t frames) {
  constexpr std::size_t header_bytes = 128;
  std::vector<std::int64_t> extents{static_cast<std::int64_t>(frames), frame.height, frame.width};
  if (frame.channels == 3) extents.push_back(3);
  return npy_header(extents, frame.type, header_bytes);
}

}  // namespace

NpySink::NpySink(const std::filesystem::path& path, const LoadedImage& frame,
                 std::optional<std::size_t> kept)
    : zeros_(make_image(frame.width, frame.height, frame.channels, frame.type)),
      file_(path, header_of(frame, 0), zeros_.pixels.size(), kept) {}

bool NpySink::lacks(std::size_t index, const std::string& /*stem*/) const {
  return index >= file_.records();
}

void NpySink::write(std::size_t /*index*/, const std::string& /*stem*/,
                    const LoadedImage* aligned) {
  file_.append({}, aligned == nullptr ? zeros_.pixels : aligned->pixels);
}

std::string NpySink::name_of(std::size_t index, const std::string& /*stem*/) const {
  return fmt::format("{}[{}]", name(), index);
}

void NpySink::commit() {
  file_.write_at(0, header_of(zeros_, file_.records()));
  file_.commit();
}

}  // namespace warpalign::program

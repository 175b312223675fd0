// Reads WebP: lossy and lossless, as RGB; alpha is dropped.
#include "io/codecs/codecs.hpp"
#include "io/codecs/orientation.hpp"

#include <webp/decode.h>
#include <webp/demux.h>

#include <memory>

namespace warpalign::program {
namespace {

const std::uint8_t* bytes_of(Bytes file) {
  return reinterpret_cast<const std::uint8_t*>(file.data());
}

/// The contents of a chunk of the container, if it has one.
std::optional<Bytes> chunk(const WebPDemuxer* container, const char* name) {
  WebPChunkIterator found{};
  if (WebPDemuxGetChunk(container, name, 1, &found) == 0) return {};
  const Bytes bytes{reinterpret_cast<const std::byte*>(found.chunk.bytes), found.chunk.size};
  WebPDemuxReleaseChunkIterator(&found);
  return bytes;
}

void note_metadata(Bytes file, LoadedImage& image) {
  const WebPData data{bytes_of(file), file.size()};
  const std::unique_ptr<WebPDemuxer, void (*)(WebPDemuxer*)> container(WebPDemux(&data),
                                                                       WebPDemuxDelete);
  if (!container) throw damaged("its container is incomplete");
  std::optional<int> exif;
  std::optional<int> xmp;
  if (const auto bytes = chunk(container.get(), "EXIF")) exif = exif_orientation(*bytes);
  if (const auto bytes = chunk(container.get(), "XMP ")) {
    xmp = xmp_orientation({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  }
  note_orientation({{"the EXIF data", exif}, {"the XMP data", xmp}}, image);
}

}  // namespace

LoadedImage read_webp(Bytes file) {
  WebPBitstreamFeatures features{};
  if (WebPGetFeatures(bytes_of(file), file.size(), &features) != VP8_STATUS_OK) {
    throw damaged("its header is incomplete");
  }
  check_sides(features.width, features.height);
  if (features.has_animation != 0) {
    throw FileError("is an animated WebP; export one of its frames");
  }
  const std::uint64_t bytes =
      3 * static_cast<std::uint64_t>(features.width) * static_cast<std::uint64_t>(features.height);
  // Only uniform areas, which cannot be registered, take fewer bytes than this allows.
  refuse_bomb({features.width, features.height, bytes, bytes, file.size()});
  LoadedImage image = make_image(features.width, features.height, 3, PixelType::u8);
  auto* pixels = reinterpret_cast<std::uint8_t*>(image.pixels.data());
  if (WebPDecodeRGBInto(bytes_of(file), file.size(), pixels, bytes,
                        static_cast<int>(image.row_bytes())) == nullptr) {
    throw damaged("its pixels cannot be decoded");
  }
  note_metadata(file, image);
  return image;
}

}  // namespace warpalign::program

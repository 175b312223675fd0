// Converts the samples of a TIFF page to an image.
#include "io/codecs/tiff_samples.hpp"

#include "io/codecs/cmyk.hpp"
#include "io/codecs/codecs.hpp"
#include "io/narrow_integers.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace warpalign::program {
namespace {

template <typename Sample>
std::span<const Sample> as(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const Sample*>(bytes.data()), bytes.size() / sizeof(Sample)};
}

bool is_packed(const TiffPage& page) { return page.bits < 16 && page.bits != 8; }

template <typename Sample>
void complement(LoadedImage& image, unsigned bits) {
  const auto full =
      static_cast<Sample>(std::numeric_limits<Sample>::max() >> (8 * sizeof(Sample) - bits));
  for (Sample& sample : image.samples<Sample>()) sample = static_cast<Sample>(full - sample);
}

/// Samples of fewer than 8 bits cover the whole range of 8 bits, as in PNG.
void scale_few_bits(const TiffPage& page, LoadedImage& image) {
  const unsigned full = (1U << page.bits) - 1;
  for (std::uint8_t& sample : image.samples<std::uint8_t>()) {
    sample = static_cast<std::uint8_t>(sample * 255U / full);
  }
}

/// Colours of 8 bits. Old files have 8 bits in the palette, too, instead of 16.
template <typename Index>
void look_up(TIFF* tiff, const TiffPage& page, const std::vector<std::byte>& indices,
             LoadedImage& image) {
  std::uint16_t* red = nullptr;
  std::uint16_t* green = nullptr;
  std::uint16_t* blue = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_COLORMAP, &red, &green, &blue) != 1) {
    throw damaged("its palette is missing");
  }
  const std::size_t colours = std::size_t{1} << page.bits;
  const auto is_short = [&](const std::uint16_t* map) {
    return std::all_of(map, map + colours, [](std::uint16_t value) { return value < 256; });
  };
  const unsigned shift = is_short(red) && is_short(green) && is_short(blue) ? 0 : 8;
  std::uint8_t* to = image.samples<std::uint8_t>().data();
  for (const Index index : as<Index>(indices)) {
    for (const std::uint16_t* map : {red, green, blue}) {
      *to++ = static_cast<std::uint8_t>(map[index] >> shift);
    }
  }
}

template <typename Sample>
void mix_inks(const std::vector<std::byte>& inks, LoadedImage& image) {
  const auto from = as<Sample>(inks);
  const auto to = image.samples<Sample>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::size_t pixel = i / 3 * 4;
    to[i] =
        colour_of_inks(from[pixel + i % 3], from[pixel + 3], std::numeric_limits<Sample>::max());
  }
}

}  // namespace

std::size_t unpacked_bytes(const TiffPage& page) {
  return page.bits <= 8 ? 1 : page.bits <= 16 ? 2 : page.bits / 8U;
}

void unpack_bits(std::span<const std::byte> packed, const TiffPage& page, std::size_t samples,
                 std::byte* unpacked) {
  const unsigned bits = page.bits;
  const unsigned mask = (1U << bits) - 1;
  std::uint32_t held = 0;
  unsigned count = 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    for (; count < bits; count += 8) {
      held = held << 8U | std::to_integer<std::uint32_t>(packed[next++]);
    }
    count -= bits;
    const auto value = static_cast<std::uint16_t>(held >> count & mask);
    if (bits < 8) {
      unpacked[i] = static_cast<std::byte>(value);
    } else {
      std::memcpy(unpacked + 2 * i, &value, sizeof value);
    }
  }
}

LoadedImage image_of_samples(TIFF* tiff, const TiffPage& page, std::vector<std::byte> samples) {
  LoadedImage image{page.width, page.height, page.channels, page.type, {}};
  if (page.bits == 64 && page.type != PixelType::f64) {
    image.pixels = narrow_integers(samples, page.type);
    return image;
  }
  if (page.colour == TiffColour::palette || page.colour == TiffColour::inks) {
    image = make_image(page.width, page.height, page.channels, page.type);
    const bool one_byte = unpacked_bytes(page) == 1;
    if (page.colour == TiffColour::inks) {
      one_byte ? mix_inks<std::uint8_t>(samples, image) : mix_inks<std::uint16_t>(samples, image);
    } else {
      one_byte ? look_up<std::uint8_t>(tiff, page, samples, image)
               : look_up<std::uint16_t>(tiff, page, samples, image);
    }
    return image;
  }
  image.pixels = std::move(samples);
  if (page.colour == TiffColour::white_is_zero) {
    if (page.type == PixelType::u8) complement<std::uint8_t>(image, page.bits);
    if (page.type == PixelType::u16) complement<std::uint16_t>(image, page.bits);
    if (page.type == PixelType::u32) complement<std::uint32_t>(image, page.bits);
  }
  if (is_packed(page) && page.bits < 8) scale_few_bits(page, image);
  return image;
}

}  // namespace warpalign::program

// Parses the first line of a YUV4MPEG2 video: words whose first letter tells what they describe.
#include "io/frames/y4m_header.hpp"

#include "io/codecs/codecs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <string_view>

namespace warpalign::program {
namespace {

std::int64_t side(const std::string& word) {
  std::int64_t value = 0;
  const char* end = word.data() + word.size();
  const auto [stop, failed] = std::from_chars(word.data() + 1, end, value);
  if (failed != std::errc{} || stop != end) {
    throw damaged(fmt::format("'{}' in its first line is no number of pixels", word));
  }
  return value;
}

/// The bits a sample, from the number that ends "420p10" and "mono16"; 8 if there is none.
int bits_of(std::string_view sampling, std::size_t name_length) {
  if (sampling.size() == name_length) return 8;
  constexpr std::array depths{9, 10, 12, 14, 16};
  for (const int bits : depths) {
    if (sampling.substr(name_length) == std::to_string(bits)) return bits;
  }
  return 0;
}

/// A chroma subsampling: the ratio of chroma samples to luminance samples along each axis.
struct Sampling {
  std::string_view name;
  std::int64_t across = 1;
  std::int64_t down = 1;
  std::int64_t planes = 2;
  bool deep = false;  ///< whether the number of bits follows the name
};

constexpr std::array samplings{Sampling{"420jpeg", 2, 2},       Sampling{"420mpeg2", 2, 2},
                               Sampling{"420paldv", 2, 2},      Sampling{"420", 2, 2},
                               Sampling{"422", 2, 1},           Sampling{"444", 1, 1},
                               Sampling{"411", 4, 1},           Sampling{"444alpha", 1, 1, 3},
                               Sampling{"mono", 1, 1, 0},       Sampling{"420p", 2, 2, 2, true},
                               Sampling{"422p", 2, 1, 2, true}, Sampling{"444p", 1, 1, 2, true},
                               Sampling{"mono", 1, 1, 0, true}};

void take_sampling(std::string_view word, Y4mHeader& header) {
  for (const Sampling& sampling : samplings) {
    if (!word.starts_with(sampling.name)) continue;
    if (!sampling.deep && word != sampling.name) continue;
    const int bits = bits_of(word, sampling.name.size());
    if (bits == 0) continue;
    header.format.bits = bits;
    const std::int64_t width = (header.width + sampling.across - 1) / sampling.across;
    const std::int64_t height = (header.height + sampling.down - 1) / sampling.down;
    header.chroma_samples = static_cast<std::size_t>(sampling.planes * width * height);
    return;
  }
  throw FileError(fmt::format(
      "has the colour sampling '{}' (supported: 420, 422, 444, 411 and mono, of 8 to 16 "
      "bits); convert it with ffmpeg -pix_fmt yuv420p",
      word));
}

void take_word(const std::string& word, Y4mHeader& header, std::string& sampling) {
  const std::string value = word.substr(1);
  constexpr std::string_view range = "XCOLORRANGE=";
  if (word[0] == 'W') header.width = side(word);
  if (word[0] == 'H') header.height = side(word);
  if (word[0] == 'C') sampling = value;
  if (word[0] == 'F') header.format.rate = value;
  if (word[0] == 'I') header.format.interlacing = value;
  if (word[0] == 'A') header.format.aspect = value;
  if (word.starts_with(range)) header.format.range = word.substr(range.size());
}

}  // namespace

Y4mHeader read_y4m_header(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word != "YUV4MPEG2") throw FileError("is not a YUV4MPEG2 video");
  Y4mHeader header;
  std::string sampling = "420";
  while (words >> word) take_word(word, header, sampling);
  check_sides(header.width, header.height);
  take_sampling(sampling, header);
  return header;
}

std::string gray_y4m_header(std::int64_t width, std::int64_t height, const VideoFormat& format) {
  std::string line = fmt::format("YUV4MPEG2 W{} H{} F{}", width, height, format.rate);
  if (!format.interlacing.empty()) line += " I" + format.interlacing;
  if (!format.aspect.empty()) line += " A" + format.aspect;
  line += format.bits > 8 ? fmt::format(" Cmono{}", format.bits) : " Cmono";
  if (!format.range.empty()) line += " XCOLORRANGE=" + format.range;
  return line + "\n";
}

}  // namespace warpalign::program

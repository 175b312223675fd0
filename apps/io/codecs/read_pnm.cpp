// Reads the formats of Netpbm: PBM, PGM and PPM, plain (P1 to P3) and raw (P4 to P6), and PAM (P7),
// with up to 16 bits.
//
// Samples are fractions of the header's maximum. If the maximum is neither 255 nor 65535, samples
// are scaled to the nearest of 0 ... 255 or 0 ... 65535.
#include "io/codecs/codecs.hpp"
#include "io/codecs/first_channels.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>

namespace warpalign::program {
namespace {

constexpr std::int64_t max_number = 1'000'000'000;

class PnmReader {
 public:
  explicit PnmReader(Bytes file) : file_(file) {}

  LoadedImage read() {
    const char kind = read_kind();
    if (kind == '1' || kind == '4') return read_bits(kind == '1');
    if (kind == '7') return read_pam();
    const bool plain = kind == '2' || kind == '3';
    const int channels = kind == '2' || kind == '5' ? 1 : 3;
    const std::int64_t width = read_number("width");
    const std::int64_t height = read_number("height");
    check_sides(width, height);
    read_maximum();
    if (!plain) skip_one_space();
    return read_samples(width, height, channels, plain);
  }

 private:
  LoadedImage read_samples(std::int64_t width, std::int64_t height, int channels, bool plain) {
    const bool wide = maximum_ > 255;
    check_length(width * height * channels, plain ? 2 : wide ? 2 : 1, plain ? 1 : 0);
    LoadedImage image = make_image(width, height, channels, wide ? PixelType::u16 : PixelType::u8);
    if (wide) {
      fill<std::uint16_t>(image, plain);
    } else {
      fill<std::uint8_t>(image, plain);
    }
    return image;
  }

  void read_maximum() {
    maximum_ = read_number("maximum");
    if (maximum_ < 1 || maximum_ > 65535) {
      throw FileError(fmt::format(
          "its header gives {} as the largest sample; 1 to 65535 is allowed: export it again",
          maximum_));
    }
  }

  /// PBM, where 1 is black.
  LoadedImage read_bits(bool plain) {
    const std::int64_t width = read_number("width");
    const std::int64_t height = read_number("height");
    check_sides(width, height);
    if (!plain) skip_one_space();
    const std::int64_t row_bytes = (width + 7) / 8;
    check_length(plain ? width * height : row_bytes * height, 1, 0);
    LoadedImage image = make_image(width, height, 1, PixelType::u8);
    std::uint8_t* to = image.samples<std::uint8_t>().data();
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        *to++ = (plain ? read_plain_bit() : is_bit_set(x)) ? 0 : 255;
      }
      if (!plain) position_ += static_cast<std::size_t>(row_bytes);
    }
    return image;
  }

  /// The digits of plain PBM need no space between them.
  bool read_plain_bit() {
    skip_spaces_and_comments();
    const char bit = peek();
    if (bit != '0' && bit != '1') throw damaged("a sample is neither 0 nor 1");
    ++position_;
    return bit == '1';
  }

  [[nodiscard]] bool is_bit_set(std::int64_t x) const {
    const auto byte = std::to_integer<unsigned>(file_[position_ + static_cast<std::size_t>(x / 8)]);
    return (byte >> (7 - x % 8) & 1U) != 0;
  }

  /// PAM has lines of a word and a value. The last of an even number of samples is alpha.
  LoadedImage read_pam() {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::int64_t depth = 0;
    while (true) {
      const std::string word = read_word();
      if (word == "ENDHDR") break;
      if (word == "WIDTH") {
        width = read_number("width");
      } else if (word == "HEIGHT") {
        height = read_number("height");
      } else if (word == "DEPTH") {
        depth = read_number("depth");
      } else if (word == "MAXVAL") {
        read_maximum();
      } else if (word == "TUPLTYPE") {
        (void)read_word();
      } else {
        throw damaged(fmt::format("its header has the word '{}'", word));
      }
    }
    skip_one_space();
    check_sides(width, height);
    if (depth < 1 || depth > 4 || maximum_ < 1) {
      throw FileError(fmt::format(
          "is a PAM with {} samples a pixel and {} as the largest; 1 to 4 samples are allowed",
          depth, maximum_));
    }
    const auto channels = static_cast<int>(depth);
    return first_channels(read_samples(width, height, channels, false),
                          channels % 2 == 0 ? channels - 1 : channels);
  }

  std::string read_word() {
    skip_spaces_and_comments();
    std::string word;
    while (!is_space(peek()) && word.size() < 32) {
      word += peek();
      ++position_;
    }
    return word;
  }

  char read_kind() {
    position_ = 2;
    return static_cast<char>(file_[1]);
  }

  [[nodiscard]] char peek() const {
    if (position_ >= file_.size()) throw damaged("the file ends too early");
    return static_cast<char>(file_[position_]);
  }

  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  void skip_spaces_and_comments() {
    for (bool comment = false; comment || is_space(peek()) || peek() == '#'; ++position_) {
      if (peek() == '#') comment = true;
      if (peek() == '\n' || peek() == '\r') comment = false;
    }
  }

  void skip_one_space() {
    if (!is_space(peek())) throw damaged("the header does not end in white space");
    ++position_;
  }

  std::int64_t read_number(const char* what) {
    skip_spaces_and_comments();
    if (!is_digit(peek())) throw damaged(fmt::format("the {} is not a number", what));
    std::int64_t value = 0;
    for (; position_ < file_.size() && is_digit(peek()); ++position_) {
      value = value * 10 + (peek() - '0');
      if (value > max_number) throw damaged(fmt::format("the {} is too large", what));
    }
    return value;
  }

  /// Checks, before allocating memory, that the file has enough bytes for the samples.
  void check_length(std::int64_t samples, std::int64_t bytes_each, std::int64_t spare) const {
    const auto left = static_cast<std::int64_t>(file_.size() - position_);
    if (samples * bytes_each - spare > left) {
      throw damaged(
          fmt::format("{} bytes of pixels are missing", samples * bytes_each - spare - left));
    }
  }

  std::int64_t read_raw(std::size_t size) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value * 256 + std::to_integer<std::int64_t>(file_[position_++]);
    }
    return value;
  }

  template <typename Sample>
  void fill(LoadedImage& image, bool plain) {
    constexpr std::int64_t full = std::numeric_limits<Sample>::max();
    for (Sample& sample : image.samples<Sample>()) {
      const std::int64_t value = plain ? read_number("sample") : read_raw(sizeof(Sample));
      if (value > maximum_) throw damaged("a sample is above the header's maximum");
      sample = static_cast<Sample>((value * full + maximum_ / 2) / maximum_);
    }
  }

  Bytes file_;
  std::size_t position_ = 0;
  std::int64_t maximum_ = 0;
};

}  // namespace

LoadedImage read_pnm(Bytes file) { return PnmReader(file).read(); }

}  // namespace warpalign::program

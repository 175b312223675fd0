// Several pictures on one sheet, labelled in a font of 5 x 7 dots.
#include "reports/contact_sheet.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace warpalign::program {
namespace {

constexpr std::int64_t gap = 6;
constexpr std::int64_t glyph_width = 5;
constexpr std::int64_t glyph_height = 7;
constexpr std::uint8_t paper = 255;

/// The columns of a letter from left to right; the lowest bit is the topmost dot.
struct Glyph {
  char letter;
  std::array<std::uint8_t, glyph_width> columns;
};

constexpr std::array font{
    Glyph{'A', {0x7C, 0x12, 0x11, 0x12, 0x7C}}, Glyph{'B', {0x7F, 0x49, 0x49, 0x49, 0x36}},
    Glyph{'C', {0x3E, 0x41, 0x41, 0x41, 0x22}}, Glyph{'D', {0x7F, 0x41, 0x41, 0x41, 0x3E}},
    Glyph{'E', {0x7F, 0x49, 0x49, 0x49, 0x41}}, Glyph{'F', {0x7F, 0x09, 0x09, 0x09, 0x01}},
    Glyph{'G', {0x3E, 0x41, 0x41, 0x51, 0x72}}, Glyph{'H', {0x7F, 0x08, 0x08, 0x08, 0x7F}},
    Glyph{'I', {0x00, 0x41, 0x7F, 0x41, 0x00}}, Glyph{'J', {0x20, 0x40, 0x41, 0x3F, 0x01}},
    Glyph{'K', {0x7F, 0x08, 0x14, 0x22, 0x41}}, Glyph{'L', {0x7F, 0x40, 0x40, 0x40, 0x40}},
    Glyph{'M', {0x7F, 0x02, 0x0C, 0x02, 0x7F}}, Glyph{'N', {0x7F, 0x04, 0x08, 0x10, 0x7F}},
    Glyph{'O', {0x3E, 0x41, 0x41, 0x41, 0x3E}}, Glyph{'P', {0x7F, 0x09, 0x09, 0x09, 0x06}},
    Glyph{'Q', {0x3E, 0x41, 0x51, 0x21, 0x5E}}, Glyph{'R', {0x7F, 0x09, 0x19, 0x29, 0x46}},
    Glyph{'S', {0x26, 0x49, 0x49, 0x49, 0x32}}, Glyph{'T', {0x01, 0x01, 0x7F, 0x01, 0x01}},
    Glyph{'U', {0x3F, 0x40, 0x40, 0x40, 0x3F}}, Glyph{'V', {0x1F, 0x20, 0x40, 0x20, 0x1F}},
    Glyph{'W', {0x3F, 0x40, 0x38, 0x40, 0x3F}}, Glyph{'X', {0x63, 0x14, 0x08, 0x14, 0x63}},
    Glyph{'Y', {0x03, 0x04, 0x78, 0x04, 0x03}}, Glyph{'Z', {0x61, 0x51, 0x49, 0x45, 0x43}},
    Glyph{'0', {0x3E, 0x51, 0x49, 0x45, 0x3E}}, Glyph{'1', {0x00, 0x42, 0x7F, 0x40, 0x00}},
    Glyph{'2', {0x42, 0x61, 0x51, 0x49, 0x46}}, Glyph{'3', {0x21, 0x41, 0x45, 0x4B, 0x31}},
    Glyph{'4', {0x18, 0x14, 0x12, 0x7F, 0x10}}, Glyph{'5', {0x27, 0x45, 0x45, 0x45, 0x39}},
    Glyph{'6', {0x3C, 0x4A, 0x49, 0x49, 0x30}}, Glyph{'7', {0x01, 0x71, 0x09, 0x05, 0x03}},
    Glyph{'8', {0x36, 0x49, 0x49, 0x49, 0x36}}, Glyph{'9', {0x06, 0x49, 0x49, 0x29, 0x1E}},
    Glyph{':', {0x00, 0x36, 0x36, 0x00, 0x00}}, Glyph{'.', {0x00, 0x60, 0x60, 0x00, 0x00}},
    Glyph{'-', {0x08, 0x08, 0x08, 0x08, 0x08}}, Glyph{'+', {0x08, 0x08, 0x3E, 0x08, 0x08}},
    Glyph{'(', {0x00, 0x1C, 0x22, 0x41, 0x00}}, Glyph{')', {0x00, 0x41, 0x22, 0x1C, 0x00}}};

/// Averages `factor` x `factor` fields; incomplete fields at the ends are dropped.
LoadedImage shrunk(const LoadedImage& image, std::int64_t factor) {
  if (factor == 1) return image;
  const std::int64_t channels = image.channels;
  LoadedImage small =
      make_image(image.width / factor, image.height / factor, image.channels, PixelType::u8);
  const auto from = image.samples<std::uint8_t>();
  const auto to = small.samples<std::uint8_t>();
  for (std::int64_t i = 0; i < small.height * small.width * channels; ++i) {
    const std::int64_t channel = i % channels;
    const std::int64_t x = i / channels % small.width * factor;
    const std::int64_t y = i / channels / small.width * factor;
    std::int64_t sum = 0;
    for (std::int64_t v = y; v < y + factor; ++v) {
      for (std::int64_t u = x; u < x + factor; ++u) {
        sum += from[static_cast<std::size_t>((v * image.width + u) * channels + channel)];
      }
    }
    const std::int64_t fields = factor * factor;
    to[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>((sum + fields / 2) / fields);
  }
  return small;
}

void paste(const LoadedImage& picture, std::int64_t left, std::int64_t top, LoadedImage& sheet) {
  const std::size_t row = picture.row_bytes();
  for (std::int64_t y = 0; y < picture.height; ++y) {
    const auto from = picture.pixels.begin() + static_cast<std::ptrdiff_t>(row) * y;
    const auto to = sheet.pixels.begin() +
                    static_cast<std::ptrdiff_t>(sheet.row_bytes()) * (top + y) +
                    left * sheet.channels;
    std::copy_n(from, row, to);
  }
}

/// Draws the text centred and truncated to `width`.
void write(std::string_view text, std::int64_t left, std::int64_t top, std::int64_t width,
           std::int64_t dot, LoadedImage& sheet) {
  const std::int64_t advance = (glyph_width + 1) * dot;
  const auto length = std::min(static_cast<std::int64_t>(text.size()), width / advance);
  std::int64_t x = left + (width - length * advance + dot) / 2;
  const LoadedImage ink = make_image(dot, dot, sheet.channels, PixelType::u8);  // black
  for (const char c : text.substr(0, static_cast<std::size_t>(length))) {
    const auto letter = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const auto* glyph = std::find_if(font.begin(), font.end(),
                                     [&](const Glyph& known) { return known.letter == letter; });
    for (std::int64_t i = 0; glyph != font.end() && i < glyph_width * glyph_height; ++i) {
      const std::int64_t column = i / glyph_height;
      const std::int64_t row = i % glyph_height;
      if ((glyph->columns[static_cast<std::size_t>(column)] >> row & 1) != 0) {
        paste(ink, x + column * dot, top + row * dot, sheet);
      }
    }
    x += advance;
  }
}

}  // namespace

LoadedImage draw_contact_sheet(const std::vector<SheetCell>& cells, std::size_t columns,
                               std::int64_t max_shown_side) {
  const LoadedImage& first = cells.front().picture;
  const std::int64_t factor =
      (std::max(first.width, first.height) + max_shown_side - 1) / max_shown_side;
  const auto width = std::max<std::int64_t>(first.width / factor, 1);
  const auto height = std::max<std::int64_t>(first.height / factor, 1);
  const std::int64_t dot = std::clamp<std::int64_t>(width / 160, 1, 4);
  const std::int64_t label_height = (glyph_height + 4) * dot;
  const auto across = static_cast<std::int64_t>(std::min(columns, cells.size()));
  const auto down = (static_cast<std::int64_t>(cells.size()) + across - 1) / across;
  LoadedImage sheet =
      make_image(across * (width + gap) + gap, down * (height + label_height + gap) + gap,
                 first.channels, PixelType::u8);
  std::fill(sheet.pixels.begin(), sheet.pixels.end(), std::byte{paper});
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::int64_t left = gap + static_cast<std::int64_t>(i) % across * (width + gap);
    const std::int64_t top =
        gap + static_cast<std::int64_t>(i) / across * (height + label_height + gap);
    paste(shrunk(cells[i].picture, factor), left, top, sheet);
    write(cells[i].label, left, top + height + 2 * dot, width, dot, sheet);
  }
  return sheet;
}

}  // namespace warpalign::program

// Reads the header of NumPy's .npy files, versions 1 to 3.
//
// The file starts with the magic and the version. The length of the header follows (2 bytes in
// version 1, else 4), then the header, a Python dictionary: {'descr': '<f4', 'fortran_order':
// False, 'shape': (3, 4), }, then the numbers. See numpy/lib/format.py.
#include "io/codecs/npy_layout.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <string_view>

namespace warpalign::program {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr const char* readable_types =
    "bool, integers of 8 to 64 bits, float16, float32, float64 and complex64";

struct Header {
  std::optional<std::string> type;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> extents;
};

/// Parses the form of Python dictionary that NumPy writes.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Header parse() {
    Header header;
    expect('{');
    while (!accept('}')) {
      const std::string key = parse_string();
      expect(':');
      parse_value(key, header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (position_ != text_.size()) throw damaged("its header goes on after its end");
    return header;
  }

 private:
  void parse_value(const std::string& key, Header& header) {
    if (key == "descr" && !header.type) {
      header.type = parse_type();
    } else if (key == "fortran_order" && !header.fortran_order) {
      header.fortran_order = parse_bool();
    } else if (key == "shape" && !header.extents) {
      header.extents = parse_tuple();
    } else {
      throw damaged(fmt::format("its header has an unexpected key '{}'", key));
    }
  }

  void skip_spaces() {
    while (position_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos) {
      ++position_;
    }
  }

  bool accept(char wanted) {
    skip_spaces();
    if (position_ >= text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) throw damaged(fmt::format("its header lacks a '{}'", wanted));
  }

  bool accept_word(std::string_view word) {
    skip_spaces();
    if (!text_.substr(position_).starts_with(word)) return false;
    position_ += word.size();
    return true;
  }

  std::string parse_string() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect(quote);
    const std::size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) throw damaged("its header lacks a quote");
    std::string value(text_.substr(position_, end - position_));
    position_ = end + 1;
    return value;
  }

  std::string parse_type() {
    skip_spaces();
    if (position_ < text_.size() && text_[position_] == '[') {
      throw FileError(fmt::format(
          "holds records of named fields (supported: {}); save one of its fields", readable_types));
    }
    return parse_string();
  }

  bool parse_bool() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    throw damaged("its header's 'fortran_order' is neither True nor False");
  }

  std::vector<std::int64_t> parse_tuple() {
    std::vector<std::int64_t> numbers;
    expect('(');
    while (!accept(')')) {
      numbers.push_back(parse_number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return numbers;
  }

  std::int64_t parse_number() {
    constexpr std::int64_t largest = std::int64_t{1} << 56;
    skip_spaces();
    std::int64_t value = 0;
    const std::size_t start = position_;
    for (; position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9';
         ++position_) {
      if (value > largest) throw damaged("its header's shape has a number that is too large");
      value = value * 10 + (text_[position_] - '0');
    }
    if (position_ == start) throw damaged("its header's shape is not made of numbers");
    accept_word("L");  // suffix of long integers in Python 2
    return value;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

struct Layout {
  PixelType type;
  std::size_t word;
  bool big_endian;
  bool wide = false;
};

Layout layout_of(const std::string& descr) {
  constexpr std::array types{PixelType::u8,  PixelType::i8,  PixelType::u16,
                             PixelType::i16, PixelType::u32, PixelType::i32,
                             PixelType::f16, PixelType::f32, PixelType::f64};
  const std::string_view kind = std::string_view(descr).substr(descr.empty() ? 0 : 1);
  const bool ordered = descr.starts_with('<') || descr.starts_with('>') || descr.starts_with('|');
  const bool big_endian = descr.starts_with('>');
  if (ordered && kind == "b1") return {PixelType::u8, 1, false};
  if (ordered && kind == "i8") return {PixelType::i32, 8, big_endian, true};
  if (ordered && kind == "u8") return {PixelType::u32, 8, big_endian, true};
  if (ordered && kind == "c8") return {PixelType::c32, 4, big_endian};
  for (const PixelType type : types) {
    if (ordered && kind == fmt::format("{}{}", *name_of(type), size_of(type))) {
      return {type, size_of(type), big_endian};
    }
  }
  throw FileError(
      fmt::format("is of type '{}' (supported: {}); convert it with array.astype('float32')", descr,
                  readable_types));
}

/// Unsigned, little-endian.
std::size_t number_at(Bytes file, std::size_t position, std::size_t bytes) {
  if (file.size() < position + bytes) throw damaged("the file ends too early");
  std::size_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= std::to_integer<std::size_t>(file[position + i]) << 8 * i;
  }
  return value;
}

struct Parts {
  std::string_view header;
  std::size_t start;  ///< offset of the numbers
};

Parts parts_of(Bytes file) {
  if (file.size() < magic.size() + 2 || std::memcmp(file.data(), magic.data(), magic.size()) != 0) {
    throw FileError("is not a .npy file; save it with numpy.save");
  }
  const auto version = std::to_integer<int>(file[magic.size()]);
  if (version < 1 || version > 3) {
    throw FileError(
        fmt::format("is a .npy file of version {}; versions 1 to 3 are supported", version));
  }
  const std::size_t width = version == 1 ? 2 : 4;
  const std::size_t start = magic.size() + 2 + width;
  const std::size_t length = number_at(file, magic.size() + 2, width);
  if (length > file.size() - start) throw damaged("the file ends within its header");
  return {{reinterpret_cast<const char*>(file.data()) + start, length}, start + length};
}

}  // namespace

NpyLayout read_npy_layout(Bytes file) {
  const Parts parts = parts_of(file);
  const Header header = HeaderParser(parts.header).parse();
  if (!header.type || !header.fortran_order || !header.extents) {
    throw damaged("its header lacks one of 'descr', 'fortran_order' and 'shape'");
  }
  const Layout stored = layout_of(*header.type);
  return {*header.extents,       stored.type, stored.word, stored.big_endian,
          *header.fortran_order, parts.start, stored.wide};
}

}  // namespace warpalign::program

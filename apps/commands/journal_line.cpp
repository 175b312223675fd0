// Writes and parses the journal line of a frame.
#include "commands/journal_line.hpp"

#include "io/checksum.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace warpalign::program {
namespace {

constexpr const char* nothing = "-";

/// Encodes a text as one word: % and two hexadecimal digits replace characters that are not
/// visible.
std::string word_of(const std::string& text) {
  if (text.empty()) return nothing;
  std::string word;
  for (const char c : text) {
    const bool plain = c > ' ' && c < 127 && c != '%' && c != '-';
    word += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return word;
}

std::optional<std::string> text_of(const std::string& word) {
  if (word == nothing) return "";
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      text += word[i];
      continue;
    }
    int value = 0;
    if (i + 2 >= word.size()) return {};
    const char* end = word.data() + i + 3;
    const auto [stop, failed] = std::from_chars(word.data() + i + 1, end, value, 16);
    if (failed != std::errc{} || stop != end) return {};
    text += static_cast<char>(value);
    i += 2;
  }
  return text;
}

/// The numbers of a frame's transform and scores, in the order of the journal line.
std::array<double*, 14> numbers_of(FrameAlignment& place) {
  Affine& m = place.matrix;
  Similarity& found = place.similarity;
  return {&m.a,
          &m.b,
          &m.c,
          &m.d,
          &m.e,
          &m.f,
          &found.rotation_deg,
          &found.scale,
          &found.translation.x,
          &found.translation.y,
          &place.confidence,
          &place.correlation,
          &place.significance,
          &place.overlap};
}

/// A flag; if it is set, the number of the period's vectors, their coordinates, and those of the
/// undetermined direction or a nothing.
std::string ambiguity_words(const FrameAlignment& place) {
  if (!place.ambiguous) return " 0";
  const auto words = [](Point vector) { return fmt::format(" {:a} {:a}", vector.x, vector.y); };
  std::string line = fmt::format(" 1 {}", place.period.size());
  for (const Point& vector : place.period) line += words(vector);
  const auto& direction = place.undetermined_direction;
  return line + (direction ? words(*direction) : fmt::format(" {}", nothing));
}

/// Parses the words of a line, and records whether one was missing or invalid.
class WordParser {
 public:
  explicit WordParser(std::string_view line) : stream_(std::string(line)) {}

  std::string next() {
    std::string word;
    stream_ >> word;
    if (word.empty()) good_ = false;
    return word;
  }
  std::string text() {
    const std::optional<std::string> text = text_of(next());
    if (!text) good_ = false;
    return text.value_or("");
  }
  std::size_t index() { return index_of(next()); }
  std::size_t index_of(const std::string& word) {
    std::size_t value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, failed] = std::from_chars(word.data(), end, value);
    if (failed != std::errc{} || stop != end) good_ = false;
    return value;
  }
  double number() { return number_of(next()); }
  double number_of(const std::string& word) {
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (word.empty() || *end != '\0') good_ = false;
    return value;
  }
  bool flag() { return index() != 0; }
  void refuse() { good_ = false; }
  [[nodiscard]] bool good() const { return good_; }

 private:
  std::istringstream stream_;
  bool good_ = true;
};

/// The inverse of ambiguity_words().
void parse_ambiguity(WordParser& words, FrameAlignment& place) {
  place.ambiguous = words.flag();
  if (!place.ambiguous) return;
  const std::size_t vectors = words.index();
  if (vectors > 2) return words.refuse();
  for (std::size_t i = 0; i < vectors; ++i) {
    const double x = words.number();
    place.period.push_back({x, words.number()});
  }
  const std::string x = words.next();
  if (x == nothing) return;
  place.undetermined_direction = {words.number_of(x), words.number()};
}

}  // namespace

std::string journal_line(const StackFrame& frame) {
  FrameAlignment place = frame.place;
  std::string line =
      fmt::format("frame {} {} {} {} {} {} {} {}", frame.index, word_of(frame.file),
                  word_of(frame.stem), word_of(frame.trouble), word_of(frame.aligned),
                  place.reference ? std::to_string(*place.reference) : nothing,
                  place.reliable ? 1 : 0, place.refined ? 1 : 0);
  for (const double* number : numbers_of(place)) line += fmt::format(" {:a}", *number);
  line += place.spread ? fmt::format(" {:a}", *place.spread) : fmt::format(" {}", nothing);
  return line + ambiguity_words(place);
}

std::optional<StackFrame> parse_journal_line(std::string_view line) {
  WordParser words(line);
  if (words.next() != "frame") return {};
  StackFrame frame;
  frame.index = words.index();
  frame.file = words.text();
  frame.stem = words.text();
  frame.trouble = words.text();
  frame.aligned = words.text();
  const std::string reference = words.next();
  if (reference != nothing) frame.place.reference = words.index_of(reference);
  frame.place.reliable = words.flag();
  frame.place.refined = words.flag();
  for (double* number : numbers_of(frame.place)) *number = words.number();
  const std::string spread = words.next();
  if (spread != nothing) frame.place.spread = words.number_of(spread);
  parse_ambiguity(words, frame.place);
  if (!words.good()) return {};
  return frame;
}

std::string origin_line(const DriftOrigin& origin) {
  return fmt::format("origin {} {} {}", origin.frame ? std::to_string(*origin.frame) : nothing,
                     static_cast<int>(origin.reason), word_of(origin.file));
}

std::optional<DriftOrigin> parse_origin_line(std::string_view line) {
  WordParser words(line);
  if (words.next() != "origin") return {};
  DriftOrigin origin;
  const std::string frame = words.next();
  origin.frame.reset();
  if (frame != nothing) origin.frame = words.index_of(frame);
  const std::size_t reason = words.index();
  if (reason > static_cast<std::size_t>(DriftOrigin::Reason::applied)) return {};
  origin.reason = static_cast<DriftOrigin::Reason>(reason);
  origin.file = words.text();
  if (!words.good()) return {};
  return origin;
}

std::string sealed(const std::string& line) {
  Checksum checksum;
  checksum.add(std::string_view(line));
  return fmt::format("{} {:016x}\n", line, checksum.value());
}

std::optional<std::string> unsealed(std::string_view line) {
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos) return {};
  const std::string content(line.substr(0, blank));
  if (sealed(content) != std::string(line) + "\n") return {};
  return content;
}

}  // namespace warpalign::program

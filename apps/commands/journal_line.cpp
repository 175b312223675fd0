// Writes and parses the journal line of a frame.
#include "commands/journal_line.hpp"

#include "commands/journal_words.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace warpalign::program {
namespace {

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
  return line + (direction ? words(*direction) : fmt::format(" {}", no_value));
}

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
  if (x == no_value) return;
  place.undetermined_direction = {words.number_of(x), words.number()};
}

}  // namespace

std::string journal_line(const StackFrame& frame) {
  FrameAlignment place = frame.place;
  std::string line =
      fmt::format("frame {} {} {} {} {} {} {} {}", frame.index, word_of(frame.file),
                  word_of(frame.stem), word_of(frame.trouble), word_of(frame.aligned),
                  place.reference ? std::to_string(*place.reference) : no_value,
                  place.reliable ? 1 : 0, place.refined ? 1 : 0);
  for (const double* number : numbers_of(place)) line += fmt::format(" {:a}", *number);
  line += place.spread ? fmt::format(" {:a}", *place.spread) : fmt::format(" {}", no_value);
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
  if (reference != no_value) frame.place.reference = words.index_of(reference);
  frame.place.reliable = words.flag();
  frame.place.refined = words.flag();
  for (double* number : numbers_of(frame.place)) *number = words.number();
  const std::string spread = words.next();
  if (spread != no_value) frame.place.spread = words.number_of(spread);
  parse_ambiguity(words, frame.place);
  if (!words.good()) return {};
  return frame;
}

std::string origin_line(const DriftOrigin& origin) {
  return fmt::format("origin {} {} {}", origin.frame ? std::to_string(*origin.frame) : no_value,
                     static_cast<int>(origin.reason), word_of(origin.file));
}

std::optional<DriftOrigin> parse_origin_line(std::string_view line) {
  WordParser words(line);
  if (words.next() != "origin") return {};
  DriftOrigin origin;
  const std::string frame = words.next();
  origin.frame.reset();
  if (frame != no_value) origin.frame = words.index_of(frame);
  const std::size_t reason = words.index();
  if (reason > static_cast<std::size_t>(DriftOrigin::Reason::applied)) return {};
  origin.reason = static_cast<DriftOrigin::Reason>(reason);
  origin.file = words.text();
  if (!words.good()) return {};
  return origin;
}

}  // namespace warpalign::program

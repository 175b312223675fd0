// How reports tell that images match at several shifts.
#include "reports/ambiguity.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace warpalign::program {

namespace {

Json json_of(Point vector) { return {vector.x, vector.y}; }

}  // namespace

std::string ambiguity_text(const std::vector<Point>& period,
                           const std::optional<Point>& undetermined_direction) {
  if (period.empty() && !undetermined_direction) return {};
  if (period.empty()) {
    return fmt::format("; structure along ({:.2f}, {:.2f}) leaves the shift in that direction open",
                       undetermined_direction->x, undetermined_direction->y);
  }
  std::string text = "; the texture repeats every";
  const char* separator = " ";
  for (const Point& vector : period) {
    text += fmt::format("{}({:.1f}, {:.1f})", separator, vector.x, vector.y);
    separator = " and ";
  }
  return text + " pixels";
}

void add_ambiguity(Json& object, const std::vector<Point>& period,
                   const std::optional<Point>& undetermined_direction) {
  object["period"] = Json::array();
  for (const Point& vector : period) object["period"].push_back(json_of(vector));
  object["undetermined_direction"] =
      undetermined_direction ? json_of(*undetermined_direction) : Json();
}

std::string csv_ambiguity(const std::vector<Point>& period,
                          const std::optional<Point>& undetermined_direction) {
  constexpr std::size_t vectors = 2;
  std::string fields;
  const auto add = [&](const Point* vector) {
    fields += vector == nullptr ? ",," : fmt::format(",{},{}", vector->x, vector->y);
  };
  for (std::size_t i = 0; i < vectors; ++i) add(i < period.size() ? &period[i] : nullptr);
  add(undetermined_direction ? &*undetermined_direction : nullptr);
  return fields;
}

}  // namespace warpalign::program

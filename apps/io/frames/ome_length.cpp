// Lengths in OME descriptions.
#include "io/frames/ome_length.hpp"

#include "io/image_file.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace warpalign::program {

std::optional<OmeLength> length_of(const XmlTag& tag, const std::string& name,
                                   const std::string& unit_name) {
  const std::optional<std::string> text = tag.attribute(name);
  if (!text) return {};
  OmeLength length{0, tag.attribute(unit_name).value_or("")};
  const char* end = text->data() + text->size();
  const auto [stop, failed] = std::from_chars(text->data(), end, length.value);
  if (failed != std::errc{} || stop != end || !std::isfinite(length.value)) {
    throw FileError(fmt::format("the OME metadata has {} = '{}', not a number", name, *text));
  }
  return length;
}

double micrometres_of(const OmeLength& length) {
  constexpr std::array<std::pair<std::string_view, double>, 9> units{{{"", 1},
                                                                      {"reference frame", 1},
                                                                      {"\xc2\xb5m", 1},
                                                                      {"\xce\xbcm", 1},
                                                                      {"um", 1},
                                                                      {"nm", 1e-3},
                                                                      {"mm", 1e3},
                                                                      {"cm", 1e4},
                                                                      {"m", 1e6}}};
  for (const auto& [unit, factor] : units) {
    if (length.unit == unit) return length.value * factor;
  }
  throw FileError(
      fmt::format("the OME metadata has a length in the unit '{}'; use um, nm, mm or "
                  "pixel",
                  length.unit));
}

}  // namespace warpalign::program

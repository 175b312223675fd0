// Lengths in OME descriptions.
#pragma once

#include "io/frames/xml_tags.hpp"

#include <optional>
#include <string>

namespace warpalign::program {

/// A length with its unit, as OME writes it.
struct OmeLength {
  double value = 0;
  std::string unit;
};

/// The length in an attribute, or nothing if it is missing. Throws FileError, without the file's
/// name, if it is not a finite number.
[[nodiscard]] std::optional<OmeLength> length_of(const XmlTag& tag, const std::string& name,
                                                 const std::string& unit_name);

/// A length without a unit, or in a "reference frame", counts as micrometres. Throws FileError,
/// without the file's name, for another unit than nm, um, mm, cm and m.
[[nodiscard]] double micrometres_of(const OmeLength& length);

}  // namespace warpalign::program

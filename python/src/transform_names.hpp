// Names of the enumerations of transforms, as Python passes them.
#pragma once

#include <warpalign/transform.hpp>

#include <string>

namespace warpalign::python {

[[nodiscard]] inline OutsideField outside_named(const std::string& name) {
  if (name == "nan") return OutsideField::nan;
  return name == "zero" ? OutsideField::zero : OutsideField::edge;
}

}  // namespace warpalign::python

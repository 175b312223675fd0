// The message about a transform that folds.
#include "transforms/fold_message.hpp"

#include <array>
#include <cstdio>

namespace warpalign::detail {
namespace {

std::string text_of_number(double value) {
  std::array<char, 32> text{};
  static_cast<void>(std::snprintf(text.data(), text.size(), "%.6g", value));
  return text.data();
}

}  // namespace

std::string fold_message(const std::string& what, double jacobian_determinant, const Vector3& p,
                         int dimensions) {
  std::string where = "x = " + text_of_number(p[0]) + ", y = " + text_of_number(p[1]);
  if (dimensions == 3) where += ", z = " + text_of_number(p[2]);
  return what + " folds, so that it has no inverse: its Jacobian determinant is " +
         text_of_number(jacobian_determinant) + " at " + where;
}

}  // namespace warpalign::detail

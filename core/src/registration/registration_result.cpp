// Builds the reported result of a registration from its matrix.
#include "registration/registration_result.hpp"

namespace warpalign::detail {

Registered registered(const Affine& matrix, const Shape& reference, const Shape& moving) {
  Registered result;
  result.matrix = matrix;
  result.similarity = Similarity::of(matrix, reference, moving);
  return result;
}

}  // namespace warpalign::detail

// From a matrix to what a registration reports of it.
#include "registration/registration_result.hpp"

namespace warpalign::detail {

Registered registered(const Affine& matrix, const Shape& reference, const Shape& moving) {
  Registered result;
  result.matrix = matrix;
  result.similarity = Similarity::of(matrix, reference, moving);
  return result;
}

}  // namespace warpalign::detail

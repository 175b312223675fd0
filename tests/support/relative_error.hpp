// How far values are from what they should be, all together.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>

namespace test {

/// |found - expected| / |expected|, in the Euclidean norm.
template <class Values>
double relative_error(const Values& found, const Values& expected) {
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    difference += std::norm(found[i] - expected[i]);
    size += std::norm(expected[i]);
  }
  return std::sqrt(difference / size);
}

}  // namespace test

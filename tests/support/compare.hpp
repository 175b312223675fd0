// Differences between found and expected values. If any value is NaN, the result is NaN, which
// fails every comparison with a tolerance.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>

namespace test {

/// The maximum of several errors. Once a NaN was added, the result is NaN.
class WorstError {
 public:
  void add(double error) {
    if (!(error <= value_) && !std::isnan(value_)) value_ = error;
  }
  [[nodiscard]] double value() const { return value_; }

 private:
  double value_ = 0;
};

/// The largest absolute value.
template <class Image>
double largest(const Image& image) {
  WorstError result;
  for (const auto& value : image.values) result.add(std::abs(value));
  return result.value();
}

/// The largest measure(found[i], expected[i]); infinity for different numbers of values.
template <class Values, class Measure>
double max_of(const Values& found, const Values& expected, const Measure& measure) {
  if (found.size() != expected.size()) return std::numeric_limits<double>::infinity();
  WorstError result;
  for (std::size_t i = 0; i < found.size(); ++i) result.add(measure(found[i], expected[i]));
  return result.value();
}

/// The largest absolute difference; infinity for different shapes.
template <class Image>
double max_difference(const Image& found, const Image& expected) {
  if (found.width != expected.width || found.height != expected.height) {
    return std::numeric_limits<double>::infinity();
  }
  return max_of(found.values, expected.values,
                [](const auto& f, const auto& e) { return std::abs(f - e); });
}

/// The largest absolute difference where neither is NaN; infinity where only one is.
template <class Image>
double max_marked_difference(const Image& found, const Image& expected) {
  return max_of(found.values, expected.values, [](double f, double e) {
    if (std::isnan(f) && std::isnan(e)) return 0.0;
    return std::isnan(f) || std::isnan(e) ? std::numeric_limits<double>::infinity()
                                          : std::abs(f - e);
  });
}

/// The largest difference relative to the expected value itself.
template <class Image>
double max_relative_difference(const Image& found, const Image& expected) {
  return max_of(found.values, expected.values, [](const auto& f, const auto& e) {
    return std::abs(f - e) / (std::abs(e) + 1e-30);
  });
}

/// |found - expected| / |expected| of all values together, in the Euclidean norm.
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

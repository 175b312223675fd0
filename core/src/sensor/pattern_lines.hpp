// Offsets of a sensor's columns and rows.
#pragma once

#include "sensor/pattern_samples.hpp"

#include <vector>

namespace warpalign::detail {

/// The correlation between two halves of the frames from which they agree.
inline constexpr double min_agreement = 0.3;

/// The offsets of the columns and rows of an image, and the image without them.
struct Lines {
  std::vector<float> columns, rows;
  Plane rest;
};

[[nodiscard]] Lines lines_of(const PatternSamples& samples, const Plane& image);

/// limit_to_white() for the offsets of columns or rows.
void limit_line(std::vector<float>& line);

/// The part of the variance of the mean of two halves that is no noise, by their correlation
/// (Spearman and Brown).
[[nodiscard]] double signal_part(double correlation);
/// The same for offsets of columns or rows; 0 if the halves do not agree.
[[nodiscard]] double line_factor(const std::vector<float>& first, const std::vector<float>& second);

/// The mean product of two lines, and that at neighbouring places.
[[nodiscard]] double mean_product(const std::vector<float>& a, const std::vector<float>& b);
[[nodiscard]] double neighbour_product(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace warpalign::detail

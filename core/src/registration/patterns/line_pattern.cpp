// Finds columns and rows of a sensor that are brighter or darker than their neighbours.
#include "registration/patterns/line_pattern.hpp"

#include "registration/numerics/upper_median.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// A line's offset is that from the median of this many lines on either side.
constexpr std::int64_t neighbours = 8;
// The offsets of both images are those of one sensor if they differ by less than this fraction.
constexpr float same_offset = 0.5F;
// The correlation of the mean steps of both images from which it is worth while to find offsets.
constexpr double min_mean_correlation = 0.3;
// The correlation of both images' offsets from which these are notable, and their standard
// deviation as a fraction of the median step from one line to the next.
constexpr double min_correlation = 0.6;
constexpr double min_strength = 0.25;

double sum_of_products(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

double correlation_of(std::span<const float> a, std::span<const float> b) {
  const double squares = sum_of_products(a, a) * sum_of_products(b, b);
  return squares > 0 ? sum_of_products(a, b) / std::sqrt(squares) : 0;
}

// The mean step from each line to the next. `across`, `along`: as in find_offsets().
void find_mean_steps(std::span<const float> image, std::int64_t lines, std::int64_t length,
                     std::int64_t across, std::int64_t along, std::vector<float>& steps) {
  steps.assign(static_cast<std::size_t>(lines), 0);
  if (across < along) {
    // The lines are columns: all of them together, row by row.
    for (std::int64_t i = 0; i < length; ++i) {
      const float* row = image.data() + i * along;
      for (std::int64_t line = 1; line < lines; ++line) {
        steps[static_cast<std::size_t>(line)] += row[line] - row[line - 1];
      }
    }
    return;
  }
  for (std::int64_t line = 1; line < lines; ++line) {
    const float* row = image.data() + line * across;
    float sum = 0;
    for (std::int64_t i = 0; i < length; ++i) sum += row[i] - row[i - across];
    steps[static_cast<std::size_t>(line)] = sum;
  }
}

}  // namespace

// The offset of each line from the lines about it. A scene's edges along the line reach only over a
// part of it, so the median of the steps from one line to the next is that of the sensor.
// `across`, `along`: the steps in memory from one line to the next, and from one pixel of a line to
// the next.
void LinePattern::find_offsets(std::span<const float> image, std::int64_t lines,
                               std::int64_t length, std::int64_t across, std::int64_t along,
                               std::vector<float>& offsets) {
  offsets.assign(static_cast<std::size_t>(lines), 0);
  steps_.resize(static_cast<std::size_t>(length));
  float level = 0;
  for (std::int64_t line = 1; line < lines; ++line) {
    for (std::int64_t i = 0; i < length; ++i) {
      const float* at = image.data() + line * across + i * along;
      steps_[static_cast<std::size_t>(i)] = at[0] - at[-across];
    }
    level += upper_median(std::span(steps_));
    offsets[static_cast<std::size_t>(line)] = level;
  }
  steps_ = offsets;
  for (std::int64_t line = 0; line < lines; ++line) {
    const auto first = steps_.begin() + std::max<std::int64_t>(line - neighbours, 0);
    const auto last = steps_.begin() + std::min<std::int64_t>(line + neighbours + 1, lines);
    window_.assign(first, last);
    offsets[static_cast<std::size_t>(line)] -= upper_median(std::span(window_));
  }
}

// Leaves in `reference` the offsets that both have. Returns whether they are those of a sensor.
bool LinePattern::find_common(std::vector<float>& reference, std::span<const float> moving) {
  const double product = sum_of_products(reference, moving);
  const double squares =
      std::sqrt(sum_of_products(reference, reference) * sum_of_products(moving, moving));
  const bool is_sensor = product > min_correlation * squares;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const float largest = std::max(std::abs(reference[i]), std::abs(moving[i]));
    const bool is_same = is_sensor && std::abs(reference[i] - moving[i]) < same_offset * largest;
    reference[i] = is_same ? 0.5F * (reference[i] + moving[i]) : 0;
  }
  return is_sensor;
}

bool LinePattern::find(std::span<const float> reference, std::span<const float> moving,
                       std::int64_t width, std::int64_t height, float gain) {
  width_ = width;
  height_ = height;
  gain_ = gain;
  const auto find_along = [&](std::int64_t lines, std::int64_t length, std::int64_t across,
                              std::int64_t along, std::vector<float>& offsets) {
    find_mean_steps(reference, lines, length, across, along, offsets);
    find_mean_steps(moving, lines, length, across, along, of_moving_);
    if (correlation_of(offsets, of_moving_) < min_mean_correlation) return false;
    find_offsets(reference, lines, length, across, along, offsets);
    find_offsets(moving, lines, length, across, along, of_moving_);
    for (float& offset : of_moving_) offset /= gain;
    if (!find_common(offsets, of_moving_)) return false;
    // What the scene changes by from one pixel to the next, across the lines.
    steps_.clear();
    const auto count = static_cast<std::int64_t>(reference.size());
    for (std::int64_t i = across; i < count; i += 7) {
      steps_.push_back(std::abs(reference[static_cast<std::size_t>(i)] -
                                reference[static_cast<std::size_t>(i - across)]));
    }
    const auto step = static_cast<double>(upper_median(std::span(steps_)));
    const double strength =
        std::sqrt(sum_of_products(offsets, offsets) / static_cast<double>(offsets.size()));
    return strength > min_strength * step;
  };
  const bool of_columns = find_along(width, height, 1, width, columns_);
  const bool of_rows = find_along(height, width, width, 1, rows_);
  if (!of_columns) std::fill(columns_.begin(), columns_.end(), 0.0F);
  if (!of_rows) std::fill(rows_.begin(), rows_.end(), 0.0F);
  return of_columns || of_rows;
}

void LinePattern::subtract(std::span<float> reference, std::span<float> moving) const {
  std::size_t i = 0;
  for (std::int64_t y = 0; y < height_; ++y) {
    for (std::int64_t x = 0; x < width_; ++x, ++i) {
      const float offset =
          columns_[static_cast<std::size_t>(x)] + rows_[static_cast<std::size_t>(y)];
      reference[i] -= offset;
      moving[i] -= gain_ * offset;
    }
  }
}

}  // namespace warpalign::detail

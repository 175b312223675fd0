// The result of local registration between two frames.
#include "reports/frame_motion.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::program {
namespace {

/// The median of a member over the windows that are used.
double median_of(const FrameMotion& motion, double WindowShift::*number) {
  std::vector<double> values;
  for (std::size_t i = 0; i < motion.shifts.size(); ++i) {
    if (motion.used(i)) values.push_back(motion.shifts[i].*number);
  }
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double residual_rms(const FrameMotion& motion) {
  double squares = 0;
  double count = 0;
  for (std::size_t i = 0; i < motion.shifts.size(); ++i) {
    if (!motion.used(i)) continue;
    const WindowShift& window = motion.shifts[i];
    const Point at = motion.field->at(window.centre);
    squares += std::pow(window.shift.x - at.x, 2) + std::pow(window.shift.y - at.y, 2);
    count += 1;
  }
  return count > 0 ? std::sqrt(squares / count) : 0;
}

/// A point of the frame and its displacement.
struct Sample {
  Point at, displacement;
};

std::vector<Sample> sampled(const DisplacementField& field) {
  constexpr int across = 64;
  const auto width = static_cast<double>(field.frame().width - 1);
  const auto height = static_cast<double>(field.frame().height - 1);
  std::vector<Sample> samples;
  samples.reserve(across * across);
  for (int row = 0; row < across; ++row) {
    for (int column = 0; column < across; ++column) {
      const Point at{width * column / (across - 1), height * row / (across - 1)};
      samples.push_back({at, field.at(at)});
    }
  }
  return samples;
}

Point mean_of(const std::vector<Sample>& samples) {
  const auto count = static_cast<double>(samples.size());
  Point mean;
  for (const Sample& sample : samples) {
    mean.x += sample.displacement.x / count;
    mean.y += sample.displacement.y / count;
  }
  return mean;
}

}  // namespace

std::size_t FrameMotion::count_used() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < shifts.size(); ++i) count += used(i) ? 1 : 0;
  return count;
}

std::size_t FrameMotion::count_outliers() const {
  return static_cast<std::size_t>(std::count(outliers.begin(), outliers.end(), true));
}

bool FrameMotion::reliable() const { return field && 20 * count_used() >= shifts.size(); }

FieldSummary summary_of(const FrameMotion& motion) {
  const std::vector<Sample> samples = sampled(*motion.field);
  const auto count = static_cast<double>(samples.size());
  const auto right = static_cast<double>(motion.field->frame().width - 1);
  const auto bottom = static_cast<double>(motion.field->frame().height - 1);
  FieldSummary summary;
  summary.mean = mean_of(samples);
  double squares = 0;
  for (const auto& [at, u] : samples) {
    const double distance = std::hypot(u.x - summary.mean.x, u.y - summary.mean.y);
    squares += distance * distance / count;
    summary.largest = std::max(summary.largest, distance);
    const Point read{at.x + u.x, at.y + u.y};
    const bool inside = read.x >= 0 && read.y >= 0 && read.x <= right && read.y <= bottom;
    summary.inside += inside ? 1 / count : 0;
  }
  summary.spread = std::sqrt(squares);
  summary.rms = residual_rms(motion);
  summary.correlation = median_of(motion, &WindowShift::correlation);
  summary.significance = median_of(motion, &WindowShift::significance);
  summary.uncertainty = median_of(motion, &WindowShift::uncertainty);
  return summary;
}

}  // namespace warpalign::program

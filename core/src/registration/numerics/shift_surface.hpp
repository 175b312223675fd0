// The correlation of two pyramid levels at every shift, after a transform has brought the moving
// one to the reference's frame.
#pragma once

#include <warpalign/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace warpalign::detail {

/// The frame in which two levels are correlated.
struct CorrelationFrame {
  std::int64_t side = 0;   ///< in samples of the reference's level
  Shape reference;         ///< that level
  Point spacing{1, 1};     ///< reference pixels per sample
  double min_overlap = 0;  ///< shifts that leave fewer samples in common score 0

  /// The sample of the reference's level that the first sample of the frame shows. The middle of
  /// the frame shows the level's centre.
  [[nodiscard]] Point origin() const;
  /// How far shifts reach in every direction before the frame wraps.
  [[nodiscard]] std::int64_t reach_x() const { return reach(reference.width); }
  [[nodiscard]] std::int64_t reach_y() const { return reach(reference.height); }

 private:
  [[nodiscard]] std::int64_t reach(std::int64_t size) const {
    return size < side ? (side - size) / 2 : 0;
  }
};

/// Shifts move the content of the moving image on the reference's level. They are periodic.
class ShiftSurface {
 public:
  struct Shift {
    std::int64_t x = 0, y = 0;
  };
  /// `correlations` and `overlaps`: as inverse transforms leave them.
  ShiftSurface(const CorrelationFrame& frame, std::span<const float> correlations,
               std::span<const float> overlaps);

  [[nodiscard]] const CorrelationFrame& frame() const { return frame_; }

  /// The correlation over the overlap times the square root of the overlap, proportional to the
  /// significance.
  [[nodiscard]] float score(Shift shift) const;
  /// A local maximum of the score, located between the samples by a parabola along each axis.
  struct Peak {
    Point shift;
    double score = 0;
  };
  [[nodiscard]] Peak peak_at(Shift shift) const;
  /// The highest correlation over the overlap within three quarters of a sample, between the
  /// samples by interpolation with a windowed sinc. Along the crest of a ridge it stays the same,
  /// wherever the crest passes between the samples; the score falls with the overlap.
  [[nodiscard]] double crest_at(Shift shift) const;
  [[nodiscard]] bool is_local_maximum(Shift shift) const;

 private:
  [[nodiscard]] std::size_t index(Shift shift) const;
  /// The correlation over the overlap; 0 if that is too small.
  [[nodiscard]] double correlation(Shift shift) const;
  [[nodiscard]] double interpolated(Shift shift, double dx, double dy) const;

  CorrelationFrame frame_;
  std::span<const float> correlations_, overlaps_;
  std::int64_t origin_x_, origin_y_;
  float min_overlap_;  // as overlaps are stored
};

}  // namespace warpalign::detail

// Suite: an image zoomed and rotated, by a matrix and at given points, in tiles and at once, all
// from host memory to host memory.
#include "bench/stage_work.hpp"
#include "bench/suites.hpp"

#include <warpalign/tiles.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program::bench {
namespace {

constexpr double degrees = 17;
constexpr double factor = 0.97;  // samples a pixel
/// The tolerance of both results: 4e-7 of the largest coefficient, at most 4 for noise of 0 to 1.
constexpr double tolerance = 2 * 4e-7 * 4;
/// An image, its coefficients and its result take 12 bytes a pixel; a tile gets a twelfth of the
/// image.
constexpr std::size_t bytes_per_pixel = 1;

ResampleSpec spec_of(std::int64_t side) {
  ResampleSpec spec;
  spec.images.shape = spec.output = {side, side, 1};
  spec.spline.boundary = Boundary::reflect;
  return spec;
}

Affine turn_of(std::int64_t side) {
  const double angle = degrees * std::numbers::pi / 180;
  const double c = std::cos(angle), s = std::sin(angle);
  const double middle = (static_cast<double>(side) - 1) / 2;
  return {c, -s, middle * (1 - c + s), s, c, middle * (1 - c - s)};
}

/// The points at which the transform reads: all x, then all y.
std::vector<float> points_of(std::int64_t side, const Affine& transform) {
  const HomogeneousMatrix t = transform;
  std::vector<float> points;
  points.reserve(static_cast<std::size_t>(2 * side * side));
  for (const std::size_t axis : {0U, 1U}) {
    const double* row = t.m.data() + 4 * axis;
    for (std::int64_t i = 0; i < side * side; ++i) {
      const auto x = static_cast<double>(i % side), y = static_cast<double>(i / side);
      points.push_back(static_cast<float>(row[0] * x + row[1] * y + row[3]));
    }
  }
  return points;
}

Affine zoom_of() { return {factor, 0, 3.5, 0, factor, 7.25}; }

class TilesWork final : public StageWork {
 public:
  /// `max_bytes`: limit of device memory; 0 for no limit.
  TilesWork(const Device& device, std::int64_t side, const Affine& transform, bool at_points,
            std::size_t max_bytes)
      : StageWork(device,
                  {{PixelType::f32, {side, side, 1}, noise(PixelType::f32, {side, side, 1})}}, {}),
        side_(side),
        transform_(transform),
        max_bytes_(max_bytes),
        points_(at_points ? points_of(side, transform) : std::vector<float>()),
        output_(static_cast<std::size_t>(side * side)) {}

  void make_plans() override {
    resampler_.reset();  // frees its memory before the new one allocates
    resampler_.emplace(device(), spec_of(side_), max_bytes_);
  }

  [[nodiscard]] bool waits() const override { return true; }

  Verdict verify(Stream& stream) override {
    Image image = device().make_image(PixelType::f32, {side_, side_, 1});
    Image result = device().make_image(PixelType::f32, {side_, side_, 1});
    stream.upload(input(0).pixels->data(), image.size_bytes(), image.buffer());
    ResamplePlan plan(device(), spec_of(side_));
    if (points_.empty()) {
      plan.execute(stream, image, transform_, result);
    } else {
      Image points = device().make_image(PixelType::f32, {side_, side_, 2});
      stream.upload(points_.data(), points.size_bytes(), points.buffer());
      plan.execute(stream, image, points, result);
    }
    std::vector<float> whole(output_.size());
    stream.download(result, whole.data(), result.size_bytes());
    execute();
    double worst = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const double error =
          std::abs(static_cast<double>(output_[i]) - static_cast<double>(whole[i]));
      if (!(error <= worst)) worst = error;
    }
    return {worst, tolerance, "the image resampled at once by a plan"};
  }

 private:
  void run_on(Stream& /*stream*/, Set& /*set*/) override { execute(); }

  void execute() {
    const void* image = input(0).pixels->data();
    if (points_.empty()) {
      resampler_->execute(image, transform_, output_.data());
    } else {
      resampler_->execute(image, points_, output_.data());
    }
  }

  std::int64_t side_;
  Affine transform_;
  std::size_t max_bytes_;
  std::vector<float> points_;  ///< empty: use the transform
  std::vector<float> output_;
  std::optional<TiledResampler> resampler_;
};

/// `max_bytes`: 0 to process the image at once.
Case case_of(std::int64_t side, const std::string& what, const Affine& transform, bool at_points,
             std::size_t max_bytes) {
  const std::string at_once = what + ", at once";
  Case made;
  made.suite = "tiles";
  made.name = max_bytes == 0 ? at_once : what + ", by tiles";
  made.size = {side, side, 1};
  made.yardstick = max_bytes == 0 ? "" : at_once;
  made.unit = "pixels";
  const auto pixels = static_cast<std::size_t>(made.size.pixels());
  made.operations = static_cast<double>(pixels);
  made.bytes = 2.0 * sizeof(float) * static_cast<double>(pixels);
  made.max_allocation = 2 * pixels * sizeof(float);
  made.memory_bytes = 9 * pixels * sizeof(float);
  made.on_device = [=](const Device& device) {
    return std::make_unique<TilesWork>(device, side, transform, at_points, max_bytes);
  };
  return made;
}

}  // namespace

std::vector<Case> tile_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({4096})) {
    const auto pixels = static_cast<std::size_t>(side * side);
    // Use the smallest possible tiles for the smallest sizes, which are for tests.
    const std::size_t tile = std::max<std::size_t>(pixels * bytes_per_pixel, 120000);
    for (const std::size_t max_bytes : {std::size_t{0}, tile}) {
      cases.push_back(case_of(side, "zoom", zoom_of(), false, max_bytes));
    }
    for (const std::size_t max_bytes : {std::size_t{0}, tile}) {
      cases.push_back(case_of(side, "rotation", turn_of(side), false, max_bytes));
    }
    for (const std::size_t max_bytes : {std::size_t{0}, tile}) {
      cases.push_back(case_of(side, "rotation at points", turn_of(side), true, max_bytes));
    }
  }
  return cases;
}

}  // namespace warpalign::program::bench

// The offset of bidirectional scans: drawn offsets are found and undone.
#include <warpalign/error.hpp>
#include <warpalign/line_offset.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using warpalign::HostImage;
using warpalign::LineOffset;
using warpalign::LineOffsetEstimator;
using warpalign::PixelType;
using warpalign::Shape;
using warpalign::undo_line_offset;

namespace {

constexpr std::int64_t line_pixels = 200;
constexpr std::int64_t lines_of_scan = 90;

/// Gaussian spots, evaluated at any point: the exact content of a scan.
class Spots {
 public:
  explicit Spots(unsigned seed, double size = 2) : size_(size) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (int i = 0; i < 160; ++i) {
      spots_.push_back({uniform(random) * line_pixels, uniform(random) * lines_of_scan,
                        20 + 60 * uniform(random)});
    }
  }
  [[nodiscard]] double at(double x, double y) const {
    double sum = 10;
    for (const Spot& spot : spots_) {
      const double distance = (x - spot.x) * (x - spot.x) + (y - spot.y) * (y - spot.y);
      sum += spot.brightness * std::exp(-distance / (2 * size_ * size_));
    }
    return sum;
  }

 private:
  struct Spot {
    double x, y, brightness;
  };
  double size_;
  std::vector<Spot> spots_;
};

/// A scan whose odd lines show the content farther right.
std::vector<double> scanned(const Spots& spots, double offset, double drift = 0) {
  std::vector<double> frame;
  for (std::int64_t y = 0; y < lines_of_scan; ++y) {
    for (std::int64_t x = 0; x < line_pixels; ++x) {
      frame.push_back(spots.at(static_cast<double>(x) - drift - (y % 2 == 1 ? offset : 0),
                               static_cast<double>(y)));
    }
  }
  return frame;
}

template <typename Sample>
HostImage scan_view(const std::vector<Sample>& frame, PixelType type) {
  return {frame.data(), type, line_pixels, lines_of_scan, 0};
}

}  // namespace

TEST_CASE("line offset: drawn offsets are found to a hundredth of a pixel") {
  for (const double size : {1.2, 2.0, 5.0}) {
    const Spots spots(1, size);
    for (const double offset : {0.0, 0.3, -0.5, 1.0, 2.37, -4.81, 7.6}) {
      CAPTURE(size);
      CAPTURE(offset);
      LineOffsetEstimator estimator({line_pixels, lines_of_scan, 1});
      estimator.add(scan_view(scanned(spots, offset), PixelType::f64));
      const LineOffset found = estimator.estimate();
      CHECK(found.reliable);
      CHECK(found.frames == 1);
      // One frame without noise. The largest error is 0.01: the smallest spots are undersampled.
      CHECK(std::abs(found.pixels - offset) < 0.02);
      CHECK(std::abs(found.pixels - offset) < 5 * found.standard_error + 0.001);
    }
  }
}

TEST_CASE("line offset: photon noise averages out over frames, and the error is known") {
  const Spots spots(2);
  std::mt19937 random(3);
  LineOffsetEstimator estimator({line_pixels, lines_of_scan, 1});
  for (int frame = 0; frame < 60; ++frame) {
    std::vector<std::uint16_t> counts;
    for (const double value : scanned(spots, 1.37, 0.2 * frame)) {
      std::poisson_distribution<int> photons(value / 10);  // 1 to some 10 photons a pixel
      counts.push_back(static_cast<std::uint16_t>(photons(random)));
    }
    estimator.add(scan_view(counts, PixelType::u16));
  }
  const LineOffset found = estimator.estimate();
  CHECK(found.reliable);
  CHECK(found.frames == 60);
  CHECK(std::abs(found.pixels - 1.37) < 0.03);
  CHECK(std::abs(found.pixels - 1.37) < 4 * found.standard_error);
  CHECK(found.standard_error < 0.02);
}

TEST_CASE("line offset: nothing is found without content, in noise and in stripes") {
  constexpr auto pixels = static_cast<std::size_t>(line_pixels * lines_of_scan);
  LineOffsetEstimator constant({line_pixels, lines_of_scan, 1});
  CHECK(constant.estimate().confidence == 0);
  constant.add(scan_view(std::vector<float>(pixels, 7.F), PixelType::f32));
  CHECK(constant.estimate().confidence == 0);
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  for (int trial = 0; trial < 20; ++trial) {
    LineOffsetEstimator noise({line_pixels, lines_of_scan, 1});
    for (int frame = 0; frame < 3; ++frame) {
      std::vector<float> values(pixels);
      for (float& value : values) value = normal(random);
      noise.add(scan_view(values, PixelType::f32));
    }
    CHECK_FALSE(noise.estimate().reliable);
  }
  // A period of 6 pixels fits at several offsets.
  std::vector<float> stripes(pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::size_t line = i / line_pixels;
    const double x = static_cast<double>(i % line_pixels) - (line % 2 == 1 ? 1.2 : 0.0);
    stripes[i] = static_cast<float>(std::sin(x * 2 * 3.14159265 / 6));
  }
  LineOffsetEstimator periodic({line_pixels, lines_of_scan, 1});
  periodic.add(scan_view(stripes, PixelType::f32));
  CHECK_FALSE(periodic.estimate().reliable);
}

TEST_CASE("line offset: undoing it restores the scan") {
  const Spots spots(5);
  const std::vector<double> straight = scanned(spots, 0);
  for (const double offset : {0.25, -0.5, 3.0, -2.6}) {
    CAPTURE(offset);
    std::vector<double> frame = scanned(spots, offset);
    undo_line_offset({frame.data(), PixelType::f64, line_pixels, lines_of_scan, 0}, offset);
    double largest = 0;
    for (std::int64_t y = 0; y < lines_of_scan; ++y) {
      for (std::int64_t x = 5; x < line_pixels - 5; ++x) {
        const auto i = static_cast<std::size_t>(y * line_pixels + x);
        if (y % 2 == 0) CHECK(frame[i] == straight[i]);
        largest = std::max(largest, std::abs(frame[i] - straight[i]));
      }
    }
    // Cubic splines of spots with a standard deviation of 2 pixels are exact to 1/400 of their
    // height of up to some 200.
    CHECK(largest < (offset == 3.0 ? 1e-9 : 0.5));
  }
}

TEST_CASE("line offset: types, padded rows and the ends of lines") {
  // Rows of 10 bytes with 8 pixels.
  std::vector<std::uint8_t> bytes(30, 99);
  for (std::size_t x = 0; x < 8; ++x) bytes[10 + x] = static_cast<std::uint8_t>(10 * x);
  undo_line_offset({bytes.data(), PixelType::u8, 8, 3, 10}, 2);
  CHECK(std::vector<std::uint8_t>(bytes.begin() + 10, bytes.begin() + 20) ==
        std::vector<std::uint8_t>{20, 30, 40, 50, 60, 70, 70, 70, 99, 99});
  undo_line_offset({bytes.data(), PixelType::u8, 8, 3, 10}, -1);
  CHECK(bytes[10] == 20);
  CHECK(bytes[11] == 20);
  CHECK(bytes[12] == 30);
  // A step overshoots, which saturates instead of wrapping around.
  std::vector<std::uint8_t> step(32, 255);
  std::fill(step.begin() + 16, step.begin() + 24, std::uint8_t{0});
  undo_line_offset({step.data(), PixelType::u8, 16, 2, 0}, 0.5);
  CHECK(step[16] == 0);
  CHECK(step[30] == 255);
  CHECK(std::count(step.begin() + 16, step.end(), std::uint8_t{0}) >= 4);
  // Halves: 1, 2, 4, 8 at half a pixel are between their neighbours.
  std::vector<std::uint16_t> halves{0, 0, 0, 0, 0x3C00, 0x4000, 0x4400, 0x4800};
  undo_line_offset({halves.data(), PixelType::f16, 4, 2, 0}, 0.5);
  CHECK(halves[4] > 0x3C00);
  CHECK(halves[4] < 0x4000);
  // NaN reaches only its neighbours.
  std::vector<float> holes(16, 1.F);
  holes[10] = std::nanf("");
  undo_line_offset({holes.data(), PixelType::f32, 8, 2, 0}, 0.5);
  CHECK(std::count_if(holes.begin(), holes.end(), [](float f) { return std::isnan(f); }) == 2);
}

TEST_CASE("line offset: wrong arguments") {
  CHECK_THROWS_AS(LineOffsetEstimator({64, 2, 1}), warpalign::Error);
  CHECK_THROWS_AS(LineOffsetEstimator({40, 40, 1}), warpalign::Error);
  CHECK_THROWS_AS(LineOffsetEstimator({64, 32, 1}, 16), warpalign::Error);
  CHECK_THROWS_AS(LineOffsetEstimator({64, 32, 1}, 0), warpalign::Error);
  LineOffsetEstimator estimator({64, 32, 1});
  std::vector<float> pixels(4096);
  CHECK_THROWS_AS(estimator.add({pixels.data(), PixelType::f32, 32, 64, 0}), warpalign::Error);
  CHECK_THROWS_AS(estimator.add({pixels.data(), PixelType::c32, 64, 32, 0}), warpalign::Error);
  CHECK_THROWS_AS(estimator.add({pixels.data(), PixelType::f32, 64, 32, 8}), warpalign::Error);
  CHECK_THROWS_AS(undo_line_offset({pixels.data(), PixelType::f32, 64, 64, 0}, 64),
                  warpalign::Error);
  CHECK_THROWS_AS(undo_line_offset({pixels.data(), PixelType::f32, 64, 64, 0}, NAN),
                  warpalign::Error);
}

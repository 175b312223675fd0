// Measures how fast and how exactly many pairs are registered in one call, each with a reference of
// its own. The pairs are drawn from a random texture into host memory. Not a test;
// docs/performance.md shows what it printed.
//
//   measure_pairs device[,device...] [pairs 1024] [side 512] [streams 2] [noise 1] [single 0] [seed
//   1] e.g. measure_pairs cuda:0 pairs 4096 streams 4
//
// noise: in gray levels, of a texture with a deviation of 40. single 1: one by one, by a Registrar.
#include "measurement.hpp"

#include <warpalign/batch.hpp>
#include <warpalign/geometry.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

using warpalign::Affine;
using warpalign::BatchResult;
using warpalign::Device;
using warpalign::HostPair;
using warpalign::PixelType;
using warpalign::Point;
using warpalign::Shape;

constexpr std::size_t max_drawn = 64;  // different pairs; more are copies of these
constexpr double deviation = 40;       // of the texture, in gray levels
constexpr double max_rotation = 8;     // degrees
constexpr double max_scale = 1.05;
constexpr double max_shift = 12;  // pixels

/// A random texture with structure of several sizes that repeats itself after two images.
class Texture {
 public:
  Texture(std::int64_t side, std::mt19937& random)
      : side_(2 * side), values_(static_cast<std::size_t>(side_ * side_)) {
    std::normal_distribution<float> normal;
    std::vector<double> sum(values_.size());
    for (const std::int64_t radius : {1, 3, 8, 20, 60}) {
      for (float& value : values_) value = normal(random);
      blur(radius);
      const double gain = std::pow(static_cast<double>(radius), 0.8) / root_mean_square(values_);
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += gain * static_cast<double>(values_[i]);
      }
    }
    const double gain = deviation / root_mean_square(sum);
    for (std::size_t i = 0; i < sum.size(); ++i)
      values_[i] = static_cast<float>(128 + gain * sum[i]);
  }

  [[nodiscard]] double at(Point p) const {
    const auto left = static_cast<std::int64_t>(std::floor(p.x));
    const auto top = static_cast<std::int64_t>(std::floor(p.y));
    const double u = p.x - std::floor(p.x), v = p.y - std::floor(p.y);
    return (1 - v) * ((1 - u) * sample(left, top) + u * sample(left + 1, top)) +
           v * ((1 - u) * sample(left, top + 1) + u * sample(left + 1, top + 1));
  }

 private:
  template <class Number>
  static double root_mean_square(const std::vector<Number>& values) {
    double squares = 0;
    for (const Number value : values)
      squares += static_cast<double>(value) * static_cast<double>(value);
    return std::sqrt(squares / static_cast<double>(values.size()));
  }
  [[nodiscard]] std::size_t index(std::int64_t x, std::int64_t y) const {
    const auto wrap = [&](std::int64_t i) { return (i % side_ + side_) % side_; };
    return static_cast<std::size_t>(wrap(y) * side_ + wrap(x));
  }
  [[nodiscard]] double sample(std::int64_t x, std::int64_t y) const {
    return static_cast<double>(values_[index(x, y)]);
  }
  /// Two means over 2 radius + 1 pixels along each axis.
  void blur(std::int64_t radius) {
    for (int pass = 0; pass < 4; ++pass) {
      const std::vector<float> before = values_;
      const auto place = [&](std::int64_t along, std::int64_t line) {
        return pass % 2 == 0 ? index(along, line) : index(line, along);
      };
      for (std::int64_t line = 0; line < side_; ++line) {
        double sum = 0;
        for (std::int64_t i = -radius; i <= radius; ++i) {
          sum += static_cast<double>(before[place(i, line)]);
        }
        for (std::int64_t i = 0; i < side_; ++i) {
          values_[place(i, line)] = static_cast<float>(sum / static_cast<double>(2 * radius + 1));
          sum += static_cast<double>(before[place(i + radius + 1, line)]) -
                 static_cast<double>(before[place(i - radius, line)]);
        }
      }
    }
  }

  std::int64_t side_;
  std::vector<float> values_;
};

struct DrawnPair {
  std::vector<std::uint8_t> reference, moving;
  Affine truth;
};

/// Draws one cut of the texture, and another one that has moved.
DrawnPair draw(const Texture& texture, std::int64_t side, double noise, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(-1, 1);
  std::normal_distribution<double> normal;
  const Shape shape{side, side, 1};
  DrawnPair pair;
  pair.truth = warpalign::Similarity{max_rotation * unit(random),
                                     std::pow(max_scale, unit(random)),
                                     {max_shift * unit(random), max_shift * unit(random)}}
                   .matrix(shape, shape);
  const auto full = static_cast<double>(side);
  const Point corner{full * (1 + unit(random)), full * (1 + unit(random))};
  const auto pixels = [&](const Affine& to_reference) {
    std::vector<std::uint8_t> image;
    for (std::int64_t y = 0; y < side; ++y) {
      for (std::int64_t x = 0; x < side; ++x) {
        const Point p = to_reference(Point{static_cast<double>(x), static_cast<double>(y)});
        const double value = texture.at({p.x + corner.x, p.y + corner.y}) + noise * normal(random);
        image.push_back(static_cast<std::uint8_t>(std::clamp(std::round(value), 0.0, 255.0)));
      }
    }
    return image;
  };
  pair.reference = pixels({});
  pair.moving = pixels(pair.truth.inverse());
  return pair;
}

double corner_error(const Affine& found, const Affine& truth, std::int64_t side) {
  const auto last = static_cast<double>(side - 1);
  double error = 0;
  for (const Point corner : std::array<Point, 4>{{{0, 0}, {last, 0}, {0, last}, {last, last}}}) {
    const Point a = found(corner), b = truth(corner);
    error = std::max(error, std::hypot(a.x - b.x, a.y - b.y));
  }
  return error;
}

std::vector<BatchResult> register_singly(const Device& device, const std::vector<HostPair>& pairs) {
  warpalign::Registrar registrar(device);
  std::vector<BatchResult> results;
  for (const HostPair& pair : pairs) {
    registrar.set_reference(pair.reference);
    results.emplace_back().result = registrar.align(pair.moving);
  }
  return results;
}

int run(int argc, char** argv) {
  const auto given = tools::read_arguments(argc, argv,
                                           {{"pairs", {1024, 1}},
                                            {"side", {512, 1}},
                                            {"streams", {2, 0}},
                                            {"noise", {1, 0}},
                                            {"single", {0, 0}},
                                            {"seed", {1, 0}}});
  if (!given) {
    std::fprintf(stderr,
                 "usage: measure_pairs DEVICE[,DEVICE...] [pairs N] [side N] [streams N] "
                 "[noise LEVELS] [single 0|1] [seed N]\n");
    return 2;
  }
  const auto& [devices, number] = *given;
  const auto count = static_cast<std::size_t>(number.at("pairs"));
  const auto side = static_cast<std::int64_t>(number.at("side"));
  std::mt19937 random(static_cast<unsigned>(number.at("seed")));
  const Texture texture(side, random);
  std::vector<DrawnPair> drawn;
  for (std::size_t i = 0; i < count; ++i) {
    drawn.push_back(i < max_drawn ? draw(texture, side, number.at("noise"), random)
                                  : drawn[i % max_drawn]);
  }
  std::vector<HostPair> pairs;
  for (const DrawnPair& pair : drawn) {
    pairs.push_back({{pair.reference.data(), PixelType::u8, side, side, 0},
                     {pair.moving.data(), PixelType::u8, side, side, 0}});
  }
  for (const char* which : {"first", "second", "third"}) {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<BatchResult> found =
        number.at("single") > 0
            ? register_singly(devices.front(), pairs)
            : warpalign::align_batch(devices, pairs, {}, {static_cast<int>(number.at("streams"))});
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    double squares = 0, worst = 0;
    std::size_t reliable = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!found[i].result || !found[i].result->reliable) continue;
      ++reliable;
      const double error = corner_error(found[i].result->matrix, drawn[i].truth, side);
      squares += error * error;
      worst = std::max(worst, error);
    }
    std::printf(
        "%s run: %zu pairs of %lld x %lld u8, noise %g: %.3f s, %.0f pairs a second; %zu reliable; "
        "corners: rms error %.4f px, largest %.4f px\n",
        which, count, static_cast<long long>(side), static_cast<long long>(side),
        number.at("noise"), taken.count(), static_cast<double>(count) / taken.count(), reliable,
        std::sqrt(squares / static_cast<double>(std::max<std::size_t>(reliable, 1))), worst);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return tools::measurement_main(argc, argv, "measure_pairs", run);
}

// Pairs of images drawn from a formula, as pyramids on a device, for tests of parts of the search.
#pragma once

#include "registration/pair/context.hpp"
#include "registration/pair/level_pair.hpp"
#include "registration/resources/unit_weights.hpp"

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace test {

/// Round spots of random size and brightness, spread over -20 ... 140 along both axes.
class Spots {
 public:
  explicit Spots(std::uint32_t seed, int count = 500) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> place(-20, 140);
    std::uniform_real_distribution<double> sigma(1.2, 3.5);
    std::uniform_real_distribution<double> height(-1, 1);
    for (int i = 0; i < count; ++i) {
      spots_.push_back({{place(random), place(random)}, sigma(random), height(random)});
    }
  }

  [[nodiscard]] double operator()(warpalign::Point p) const {
    double sum = 0;
    for (const Spot& spot : spots_) {
      const double x = (p.x - spot.centre.x) / spot.sigma;
      const double y = (p.y - spot.centre.y) / spot.sigma;
      const double squares = x * x + y * y;
      if (squares < 20) sum += spot.height * std::exp(-squares / 2);
    }
    return sum;
  }

  /// An image whose pixel p shows the position to_scene(p) of the scene.
  [[nodiscard]] std::vector<float> drawn(const warpalign::Shape& shape,
                                         const warpalign::Homography& to_scene) const {
    std::vector<float> pixels;
    pixels.reserve(static_cast<std::size_t>(shape.plane()));
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t x = 0; x < shape.width; ++x) {
        const warpalign::Point at{static_cast<double>(x), static_cast<double>(y)};
        pixels.push_back(static_cast<float>((*this)(to_scene(at))));
      }
    }
    return pixels;
  }

 private:
  struct Spot {
    warpalign::Point centre;
    double sigma, height;
  };
  std::vector<Spot> spots_;
};

/// Two images on a device, and the context that every step of a search needs.
class DrawnPair {
 public:
  DrawnPair(const warpalign::Device& device, const warpalign::Shape& reference_shape,
            const warpalign::Shape& moving_shape)
      : stream(device.make_stream()),
        clock(stream),
        unit_weights(device, 64),
        reference(device, warpalign::PixelType::f32, reference_shape),
        moving(device, warpalign::PixelType::f32, moving_shape),
        fields(device, unit_weights) {}

  /// Draws one scene into both images. `truth` maps reference pixels to moving pixels. The
  /// reference shows the scene from `corner` on.
  void draw(const Spots& scene, const warpalign::Homography& truth,
            warpalign::Point corner = {20, 20}) {
    const warpalign::Homography to_scene(warpalign::Affine::translation(corner.x, corner.y));
    take(reference, scene.drawn(reference.shape(), to_scene));
    take(moving, scene.drawn(moving.shape(), to_scene * truth.inverse()));
  }
  void take(warpalign::detail::ImagePyramid& pyramid, const std::vector<float>& pixels,
            const std::vector<std::uint8_t>* mask = nullptr) {
    const warpalign::Shape& shape = pyramid.shape();
    const warpalign::HostImage image{pixels.data(), warpalign::PixelType::f32, shape.width,
                                     shape.height};
    const warpalign::HostImage counts{mask != nullptr ? mask->data() : nullptr,
                                      warpalign::PixelType::u8, shape.width, shape.height};
    pyramid.take(stream, clock, image, mask != nullptr ? &counts : nullptr, "an image");
    fields.begin_pair();
  }
  /// The context for intensities, or for gradient orientations.
  [[nodiscard]] warpalign::detail::PairContext work(bool by_directions = false) {
    return {stream,
            clock,
            reference,
            moving,
            unit_weights,
            fields,
            by_directions ? warpalign::detail::SignalKind::orientation
                          : warpalign::detail::SignalKind::intensity};
  }

  /// The same for several threads.
  [[nodiscard]] warpalign::detail::PairContext shared_work(
      warpalign::detail::ThreadBudget& threads, const std::atomic<bool>* cancelled = nullptr,
      bool by_directions = false) {
    warpalign::detail::PairContext context = work(by_directions);
    context.threads = &threads;
    context.cancelled = cancelled;
    return context;
  }

  warpalign::Stream stream;
  warpalign::detail::StageClock clock;
  warpalign::detail::UnitWeights unit_weights;
  warpalign::detail::ImagePyramid reference, moving;
  warpalign::detail::GradientFields fields;
};

}  // namespace test

// Steps of fits that stay on the device against the oracle's.
#include "properties/matrices.hpp"
#include "properties/trial.hpp"
#include "reference/refinement/similarity_sums.hpp"
#include "stages/results.hpp"
#include "support/compare.hpp"
#include "support/fit_step.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/refinement/fit_step.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include <cmath>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;

struct FitCase {
  Shape reference, moving;
  Motion motion = Motion::similarity;
  test::FittedImages images;
  std::vector<FitRecord> fits;

  [[nodiscard]] bool projective() const {
    return motion == Motion::affine || motion == Motion::homography;
  }
};

/// 1, except for a rectangle of 0.
reference::Plane some_weight(Random& random, const Shape& shape) {
  reference::Plane weight(shape.width, shape.height);
  const auto left = random.integer(0, shape.width - 1), top = random.integer(0, shape.height - 1);
  const auto right = left + shape.width / 4, bottom = top + shape.height / 4;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      weight.at(x, y) = x >= left && x < right && y >= top && y < bottom ? 0 : 1;
    }
  }
  return weight;
}

/// A fit whose transform maps points relative to the centres, with 1 as its last entry.
FitRecord some_fit(Random& random, const FitCase& c) {
  const auto half = [](std::int64_t n) { return 0.5F * static_cast<float>(n - 1); };
  const Point r = centre_of(c.reference), m = centre_of(c.moving);
  const Homography matrix =
      Homography(Affine::translation(-m.x, -m.y)) *
      some_matrix(random, c.reference, c.moving, c.motion == Motion::homography) *
      Homography(Affine::translation(r.x, r.y));
  FitRecord fit;
  for (std::size_t i = 0; i < 9; ++i) fit.start[i] = static_cast<float>(matrix.h[i] / matrix.h[8]);
  fit.matrix = fit.start;
  fit.channels = static_cast<std::int32_t>(c.images.reference.size());
  fit.reference_x = half(c.reference.width), fit.reference_y = half(c.reference.height);
  fit.moving_x = half(c.moving.width), fit.moving_y = half(c.moving.height);
  fit.min_pixels = random.one_of<float>({200, 200, 800, 1200});
  fit.max_drift = 1e6F;
  fit.min_pivot = 1e-6F;
  fit.scale_of_mean = 4.685F * 1.2533F;
  for (const std::size_t i : test::free_parameters(c.motion)) fit.free_parameters |= 1 << i;
  fit.iterations = 9;
  fit.fixed_illumination = random.chance(0.2) ? 1 : 0;
  fit.in_progress = 1;
  return fit;
}

FitCase some_case(Random& random) {
  FitCase c;
  const std::vector<Shape> shapes{{48, 40, 1}, {41, 37, 1}, {56, 33, 1}};
  c.reference = random.one_of(shapes), c.moving = random.one_of(shapes);
  c.motion = random.one_of<Motion>({Motion::translation, Motion::rotation, Motion::rigid,
                                    Motion::similarity, Motion::affine, Motion::homography});
  const auto plane = [&](const Shape& shape, double low, double high) {
    return test::random_plane(shape.width, shape.height, low, high, random.seed());
  };
  for (auto left = random.integer(1, 2); left > 0; --left) {
    c.images.reference.push_back(plane(c.reference, 0, 1));
    c.images.coefficients.push_back(plane(c.moving, -1, 2));
  }
  c.images.masked = random.chance(0.5);
  c.images.reference_weight = some_weight(random, c.reference);
  c.images.moving_weight = some_weight(random, c.moving);
  for (auto left = random.integer(1, 3); left > 0; --left) c.fits.push_back(some_fit(random, c));
  return c;
}

/// The images, the sums and the fits of a case on a device.
class FitsOnDevice {
 public:
  FitsOnDevice(const Device& device, const FitCase& c)
      : channels_(c.images.reference.size()),
        count_(c.fits.size()),
        stream_(device.make_stream()),
        sums_(device, sums_spec(c)),
        steps_(device, {c.projective(), count_}),
        partials_(device, channels_ * count_ * sums_.partial_count()) {
    const auto upload = [&](const reference::Plane& plane) {
      images_.push_back(test::to_device(device, stream_, plane));
    };
    for (const auto& plane : c.images.reference) upload(plane);
    for (const auto& plane : c.images.coefficients) upload(plane);
    if (c.images.masked) upload(c.images.reference_weight), upload(c.images.moving_weight);
    std::vector<FitRecord> fits = c.fits;
    for (std::size_t i = 0; i < count_; ++i) {
      fits[i].groups = static_cast<std::int32_t>(sums_.groups());
      for (std::size_t channel = 0; channel < channels_; ++channel) {
        const std::size_t state = channel * count_ + i;
        fits[i].states[channel] = static_cast<std::int32_t>(state);
        fits[i].partials[channel] = static_cast<std::int32_t>(state * sums_.partial_count());
      }
    }
    partials_.clear(stream_);
    steps_.begin(stream_, fits);
  }

  /// Runs the next step and returns all fits.
  std::vector<FitRecord> step() {
    for (std::size_t channel = 0; channel < channels_; ++channel) {
      SimilarityImages images{images_[channel], images_[channels_ + channel]};
      if (images_.size() > 2 * channels_) {
        images.reference_weight = &images_[2 * channels_];
        images.moving_weight = &images_[2 * channels_ + 1];
      }
      sums_.enqueue_resident(stream_, images, steps_.states(), channel * count_, count_, partials_,
                             channel * count_ * sums_.partial_count());
    }
    steps_.enqueue(stream_, partials_);
    steps_.look(stream_);
    const auto seen = steps_.seen();
    return {seen.begin(), seen.end()};
  }

 private:
  static SimilaritySumsSpec sums_spec(const FitCase& c) {
    SimilaritySumsSpec spec{c.reference, c.moving};
    spec.masked = c.images.masked;
    spec.projective = c.projective();
    spec.batch = 3;
    spec.resident = true;
    return spec;
  }

  std::size_t channels_, count_;
  Stream stream_;
  SimilaritySumsPlan sums_;
  FitStepPlan steps_;
  detail::Results<float> partials_;
  std::vector<Image> images_;
};

/// How many pixels count at a fit's current state.
double pixels_at(const FitCase& c, const FitRecord& fit) {
  reference::ComparedPair pair = c.images.pair(0);
  const auto& h = test::matrix_of(fit, c.reference, c.moving).h;
  pair.m = {h[0], h[1], h[2], h[3], h[4], h[5]};
  pair.w = {h[6], h[7], h[8]};
  double pixels = 0;
  for (std::int64_t y = 0; y < c.reference.height; ++y) {
    for (std::int64_t x = 0; x < c.reference.width; ++x) {
      if (reference::counted(pair, x, y)) ++pixels;
    }
  }
  return pixels;
}

/// The error of the next step of a fit. With too few pixels the fit fails and keeps its transform;
/// if one or two pixels lie at an edge, rounding decides whether there are too few.
double next_error(const FitCase& c, const FitRecord& before, const FitRecord& after,
                  bool is_first) {
  const double more = pixels_at(c, before) - static_cast<double>(before.min_pixels);
  if (std::abs(more) <= 2) return 0;
  if ((after.found != 0) != (more > 0)) return 1e9;
  if (after.found == 0) return after.in_progress == 0 && after.matrix == before.matrix ? 0 : 1e9;
  return is_first ? 0 : test::fit_step_error(c.images, c.motion, before, after);
}

/// Checks the step that gives all fits their gain and offsets, and two more steps.
void check_fit_step(Trial& trial) {
  const FitCase c = some_case(trial.random);
  trial.describe(c.reference, " and ", c.moving, ", motion ", static_cast<int>(c.motion), ", ",
                 c.images.reference.size(), " channels, ", c.fits.size(), " fits",
                 c.images.masked ? ", masked" : "");
  trial.on_every_device([&](const Device& device) {
    FitsOnDevice fits(device, c);
    std::vector<FitRecord> before = c.fits;
    test::WorstError worst;
    for (int step = 0; step < 3; ++step) {
      const std::vector<FitRecord> after = fits.step();
      for (std::size_t i = 0; i < after.size(); ++i) {
        if (before[i].in_progress != 0) worst.add(next_error(c, before[i], after[i], step == 0));
      }
      before = after;
    }
    return worst.value();
  });
}

}  // namespace

std::vector<Property> fit_step_properties() {
  return {{"fit_step", "as the oracle has it", &check_fit_step}};
}

}  // namespace properties

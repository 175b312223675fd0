// Compares a step of a fit on the device with the oracle's.
#include "support/fit_step.hpp"

#include "reference/refinement/fit_step.hpp"
#include "support/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace test {

namespace {

using warpalign::FitRecord;
using warpalign::Homography;
using warpalign::Motion;
using warpalign::Point;
using warpalign::Shape;

/// Tukey's constant times the ratio of the standard deviation of normal residuals to their mean
/// absolute value.
constexpr double scale_of_mean = 4.685 * 1.2533;

Shape shape_of(const reference::Plane& plane) { return {plane.width, plane.height, 1}; }

/// The centre of a homography's parameters, in pixels of the moving image.
reference::Position centre_of_parameters(const FitRecord& fit, const Shape& moving) {
  const Point middle = warpalign::centre_of(moving);
  return {static_cast<double>(fit.centre_x) + middle.x,
          static_cast<double>(fit.centre_y) + middle.y};
}

/// The sums at a fit's current state, of each channel.
std::vector<reference::SimilaritySums> sums_of(const FittedImages& images, const FitRecord& fit,
                                               bool projective) {
  const Shape moving = shape_of(images.coefficients[0]);
  const auto& h = matrix_of(fit, shape_of(images.reference[0]), moving).h;
  const auto scale = static_cast<double>(fit.scale);
  std::vector<reference::SimilaritySums> sums;
  for (std::size_t channel = 0; channel < images.reference.size(); ++channel) {
    reference::ComparedPair pair = images.pair(channel);
    pair.m = {h[0], h[1], h[2], h[3], h[4], h[5]};
    pair.w = {h[6], h[7], h[8]};
    reference::Illumination light;
    light.gain = static_cast<double>(fit.gain);
    light.offset = static_cast<double>(channel == 1 ? fit.second_offset : fit.offset);
    sums.push_back(projective ? reference::homography_sums(pair, light, scale,
                                                           centre_of_parameters(fit, moving),
                                                           static_cast<double>(fit.unit))
                              : reference::similarity_sums(pair, light, scale));
  }
  return sums;
}

/// The error of the positions to which the step moves the reference's corners and a point between
/// them.
double places_error(const FittedImages& images, const std::vector<double>& step,
                    const FitRecord& before, const FitRecord& after) {
  const Shape r = shape_of(images.reference[0]), m = shape_of(images.coefficients[0]);
  const auto x = static_cast<double>(r.width - 1), y = static_cast<double>(r.height - 1);
  const Homography from = matrix_of(before, r, m), to = matrix_of(after, r, m);
  WorstError worst;
  for (const Point p : {Point{0, 0}, {x, 0}, {0, y}, {x, y}, {0.4 * x, 0.65 * y}}) {
    const Point q = from(p);
    const auto expected = reference::stepped({q.x, q.y}, step, centre_of_parameters(before, m),
                                             static_cast<double>(before.unit));
    const Point found = to(p);
    // Single precision places a corner, some 60 pixels from the centre, to within 4e-6 pixels in
    // each of a dozen operations. The step has a relative error of 1e-6 from the sums' rounding,
    // and of a hundred times that or more if the normal equations are as badly conditioned as a
    // homography's.
    const double moved = std::hypot(expected.x - q.x, expected.y - q.y);
    worst.add(std::hypot(found.x - expected.x, found.y - expected.y) / (1e-4 + 1e-3 * moved));
  }
  return worst.value();
}

/// The error of gain and offsets, which a fit may keep.
double illumination_error(const std::vector<reference::SimilaritySums>& sums,
                          const FitRecord& before, const FitRecord& after) {
  if (after.fixed_illumination != 0) {
    const bool kept = after.gain == before.gain && after.offset == before.offset &&
                      after.second_offset == before.second_offset;
    return kept ? 0 : 1e9;
  }
  const double gain = reference::contrast(sums);
  const std::array<float, 2> offsets{after.offset, after.second_offset};
  WorstError worst;
  worst.add(std::abs(static_cast<double>(after.gain) - gain) / (1e-5 * (1 + gain)));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double offset = (sums[i].moving - gain * sums[i].reference) / sums[i].pixels;
    worst.add(std::abs(static_cast<double>(offsets[i]) - offset) / 1e-4);
  }
  return worst.value();
}

}  // namespace

reference::ComparedPair FittedImages::pair(std::size_t channel) const {
  reference::ComparedPair pair{reference[channel], coefficients[channel]};
  if (masked) pair.reference_weight = &reference_weight;
  if (masked) pair.moving_weight = &moving_weight;
  return pair;
}

std::vector<std::size_t> free_parameters(Motion motion) {
  switch (motion) {
    case Motion::translation:
      return {0, 1};
    case Motion::rotation:
      return {3};
    case Motion::rigid:
      return {0, 1, 3};
    case Motion::affine:
      return {0, 1, 2, 3, 4, 5};
    case Motion::homography:
      return {0, 1, 2, 3, 4, 5, 6, 7};
    default:
      return {0, 1, 2, 3};
  }
}

Homography matrix_of(const FitRecord& fit, const Shape& reference, const Shape& moving) {
  const Point r = warpalign::centre_of(reference);
  const Point m = warpalign::centre_of(moving);
  std::array<double, 9> about_centres{};
  std::copy(fit.matrix.begin(), fit.matrix.end(), about_centres.begin());
  return Homography(warpalign::Affine::translation(m.x, m.y)) * Homography(about_centres) *
         Homography(warpalign::Affine::translation(-r.x, -r.y));
}

double fit_step_error(const FittedImages& images, Motion motion, const FitRecord& before,
                      const FitRecord& after) {
  const bool projective = motion == Motion::affine || motion == Motion::homography;
  const auto sums = sums_of(images, before, projective);
  if (sums[0].ambiguous > 0) return 0;
  const auto equations = sums.size() == 2 ? reference::added_equations(sums[0], sums[1]) : sums[0];
  const auto step = reference::step_of(equations, free_parameters(motion));
  WorstError worst;
  worst.add(places_error(images, step, before, after));
  worst.add(illumination_error(sums, before, after));
  if (static_cast<double>(after.pixels) != sums[0].pixels) worst.add(1e9);
  double absolute = 0;
  for (const auto& s : sums) absolute += s.absolute / s.pixels / static_cast<double>(sums.size());
  const double scale = scale_of_mean * absolute;
  worst.add(std::abs(static_cast<double>(after.scale) - scale) / (1e-4 * (1 + scale)));
  return worst.value();
}

}  // namespace test

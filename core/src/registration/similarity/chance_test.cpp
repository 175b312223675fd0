// How far the correlation of two images is above what chance gives.
#include "registration/similarity/chance_test.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/similarity/richer_models.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warpalign::detail {

namespace {

// The sides of what is compared: levels have about 256 samples of content in common, and a frame of
// twice that leaves room for any rotation, and for the zeros that keep the spectra from wrapping.
constexpr Shape frame{512, 512, 1};
// Half the side of the square over which the energy of texture is averaged.
constexpr std::int64_t energy_radius = 8;
constexpr double min_pixels = 64;

// The part of the coarser level, at most a frame large, in which the finer one lies.
struct Part {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
};

Part common_part(const Shape& coarse, const Shape& fine, const Homography& to_fine) {
  const Homography back = to_fine.inverse();
  if (!is_regular(back, fine)) {
    return {0, 0, std::min(coarse.width, frame.width), std::min(coarse.height, frame.height)};
  }
  Point low{INFINITY, INFINITY};
  Point high{-INFINITY, -INFINITY};
  for (const double x : {0.0, static_cast<double>(fine.width - 1)}) {
    for (const double y : {0.0, static_cast<double>(fine.height - 1)}) {
      const Point p = back({x, y});
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
  }
  const auto within = [](double value, std::int64_t last) {
    return static_cast<std::int64_t>(std::clamp(value, 0.0, static_cast<double>(last)));
  };
  const std::int64_t x = within(std::floor(low.x), coarse.width - 1);
  const std::int64_t y = within(std::floor(low.y), coarse.height - 1);
  return {x, y, std::min(within(std::ceil(high.x), coarse.width - 1) - x + 1, frame.width),
          std::min(within(std::ceil(high.y), coarse.height - 1) - y + 1, frame.height)};
}

// Sums over squares of 2 energy_radius + 1 pixels about each pixel, by running sums along the rows
// and then along the columns.
void sum_locally(std::vector<double>& values, std::int64_t width, std::int64_t height,
                 std::vector<double>& line) {
  const auto along = [&](std::int64_t first, std::int64_t step, std::int64_t count) {
    line.resize(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      line[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>(first + i * step)];
    }
    double sum = 0;
    for (std::int64_t i = 0; i < std::min(energy_radius, count); ++i) {
      sum += line[static_cast<std::size_t>(i)];
    }
    for (std::int64_t i = 0; i < count; ++i) {
      if (i + energy_radius < count) sum += line[static_cast<std::size_t>(i + energy_radius)];
      if (i > energy_radius) sum -= line[static_cast<std::size_t>(i - energy_radius - 1)];
      values[static_cast<std::size_t>(first + i * step)] = sum;
    }
  };
  for (std::int64_t y = 0; y < height; ++y) along(y * width, 1, width);
  for (std::int64_t x = 0; x < width; ++x) along(x, width, height);
}

void subtract_mean(std::span<float> values, std::span<const float> weights, double sum_of_weights) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += weights[i] * values[i];
  const auto mean = static_cast<float>(sum / sum_of_weights);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = weights[i] * (values[i] - mean);
}

}  // namespace

double evenness_of(CommonParts& common) {
  if (!(common.pixels > 0)) return 0;
  const auto sum_energies = [&](const std::vector<float>& image, std::vector<double>& energies) {
    energies.resize(image.size());
    std::transform(image.begin(), image.end(), energies.begin(),
                   [](float value) { return static_cast<double>(value) * value; });
    sum_locally(energies, common.width, common.height, common.line);
  };
  sum_energies(common.reference, common.reference_energy);
  sum_energies(common.moving, common.moving_energy);
  double of_reference = 0, of_moving = 0, of_both = 0;
  for (std::size_t i = 0; i < common.reference_energy.size(); ++i) {
    of_reference += common.reference_energy[i];
    of_moving += common.moving_energy[i];
    of_both += common.reference_energy[i] * common.moving_energy[i];
  }
  return of_both > 0 ? std::min(1.0, of_reference * of_moving / (common.pixels * of_both)) : 0;
}

ChanceTest::Frame::Frame(const Device& device)
    : image(device.make_image(PixelType::f32, frame)),
      values(device, static_cast<std::size_t>(frame.plane())) {}

ChanceTest::ChanceTest(const Device& device, Ones& ones)
    : device_(device),
      ones_(ones),
      coarse_(device),
      fine_(device),
      coarse_weight_(device),
      fine_weight_(device),
      padded_image_(device.make_image(PixelType::f32, frame)),
      fft_(device, {frame, 2, FftDirections::forward}),
      reference_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame))),
      moving_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame))),
      spectrum_sums_(device, {frame}) {}

void ChanceTest::warp(const PairWork& work, const Image& input, const Affine& output_to_input,
                      Frame& output) {
  const WarpPlan& plan = warps_.get(input.shape(), [&] {
    return WarpPlan(device_, {input.shape(), frame});
  });
  plan.execute(work.stream, input, output_to_input, output.image);
  output.values.enqueue(work.stream, output.image.buffer());
}

void ChanceTest::warp(const PairWork& work, const Image& input, const Homography& output_to_input,
                      Frame& output) {
  if (output_to_input.is_affine()) return warp(work, input, output_to_input.affine(), output);
  const InterpolatePlan& plan = projective_warps_.get(input.shape(), [&] {
    return InterpolatePlan(device_, {.image = input.shape(),
                                     .output = frame,
                                     .degree = 1,
                                     .boundary = Boundary::grid_constant,
                                     .prefiltered = false});
  });
  plan.execute(work.stream, input, output_to_input, output.image);
  output.values.enqueue(work.stream, output.image.buffer());
}

// Fetches both levels, the finer one warped to the coarser one, where both have pixels that count.
void ChanceTest::fetch_common(const PairWork& work, const FitRoles::Levels& levels,
                              const Image& fine_values, const Homography& to_fine) {
  const Shape& coarse = levels.coarse.shape();
  const Shape& fine = levels.fine.shape();
  const Part part = common_part(coarse, fine, to_fine);
  const Affine of_coarse =
      Affine::translation(static_cast<double>(part.x), static_cast<double>(part.y));
  const Homography of_fine = to_fine * of_coarse;
  const SimilarityImages& images = levels.pair.images;
  const auto weight = [&](const Image* given, const Shape& shape) -> const Image& {
    return given != nullptr ? *given : ones_.of(work.stream, shape);
  };
  work.clock.run("chance_test", [&] {
    warp(work, images.reference, of_coarse, coarse_);
    warp(work, fine_values, of_fine, fine_);
    warp(work, weight(images.reference_weight, coarse), of_coarse, coarse_weight_);
    warp(work, weight(images.moving_weight, fine), of_fine, fine_weight_);
  });
  const std::span<const float> coarse_values = coarse_.values.wait();
  const std::span<const float> warped_values = fine_.values.wait();
  const std::span<const float> coarse_weights = coarse_weight_.values.wait();
  const std::span<const float> fine_weights = fine_weight_.values.wait();
  const auto count = static_cast<std::size_t>(part.width * part.height);
  common_.width = part.width;
  common_.height = part.height;
  common_.pixels = 0;
  common_.reference.resize(count);
  common_.moving.resize(count);
  counts_.resize(count);
  for (std::int64_t y = 0; y < part.height; ++y) {
    for (std::int64_t x = 0; x < part.width; ++x) {
      const auto i = static_cast<std::size_t>(y * part.width + x);
      const auto from = static_cast<std::size_t>(y * frame.width + x);
      counts_[i] = coarse_weights[from] > 0.5F && fine_weights[from] > 0.5F ? 1.0F : 0.0F;
      common_.reference[i] = coarse_values[from];
      common_.moving[i] = warped_values[from];
      common_.pixels += counts_[i];
    }
  }
  if (!(common_.pixels > 0)) return;
  subtract_mean(common_.reference, counts_, common_.pixels);
  subtract_mean(common_.moving, counts_, common_.pixels);
}

double ChanceTest::independent_fraction(const PairWork& work) {
  const auto transform = [&](const std::vector<float>& image, Image& spectrum) {
    padded_.assign(static_cast<std::size_t>(frame.plane()), 0);
    for (std::int64_t y = 0; y < common_.height; ++y) {
      std::copy_n(image.begin() + y * common_.width, common_.width,
                  padded_.begin() + y * frame.width);
    }
    work.stream.upload(padded_.data(), padded_.size() * sizeof(float), padded_image_.buffer());
    fft_.forward(work.stream, padded_image_, spectrum);
  };
  SpectrumSums sums;
  work.clock.run("chance_test", [&] {
    transform(common_.reference, reference_spectrum_);
    transform(common_.moving, moving_spectrum_);
    sums = spectrum_sums_.execute(work.stream, reference_spectrum_, moving_spectrum_);
  });
  const double all = static_cast<double>(frame.plane()) * sums.product;
  return all > 0 ? std::min(1.0, sums.a * sums.b / all) : 0;
}

double ChanceTest::deviations(const PairWork& work, const Candidate& candidate) {
  const FitRoles roles(work, candidate.matrix);
  const FitRoles::Levels levels = roles.levels(work, ones_, roles.spacing(judged_side));
  const Homography matrix = levels.to_levels(roles.in_roles(transform_of(candidate)));
  const Image& fine = roles.fine().normalized(work.stream, work.clock, levels.fine);
  fetch_common(work, levels, fine, matrix);
  if (!(common_.pixels >= min_pixels)) return 0;
  const double independent = common_.pixels * independent_fraction(work) * evenness_of(common_);
  return significance_of(candidate.correlation, independent);
}

// The tail of the normal distribution beyond x is x^-1 exp(-x^2 / 2) / sqrt(2 pi) for large x.
// Solved for x by fixed-point iteration, which converges within a few steps at the tails in use.
double deviations_by_chance(double places) {
  const double tail = 1e-4 / std::max(places, 1.0);
  double x = 4;
  for (int i = 0; i < 20; ++i) {
    x = std::sqrt(-2 * std::log(tail * x * std::sqrt(2 * std::numbers::pi)));
  }
  return x;
}

}  // namespace warpalign::detail

// How far the correlation of two images is above what chance gives.
#include "registration/similarity/chance_test.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/similarity/richer_models.hpp"

#include <algorithm>
#include <array>
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
  const auto sum_energies = [&](const std::vector<float>& image, const std::vector<float>& second,
                                std::vector<double>& energies) {
    energies.resize(image.size());
    std::transform(image.begin(), image.end(), energies.begin(),
                   [](float value) { return static_cast<double>(value) * value; });
    for (std::size_t i = 0; i < second.size(); ++i) {
      energies[i] += static_cast<double>(second[i]) * second[i];
    }
    sum_locally(energies, common.width, common.height, common.line);
  };
  sum_energies(common.reference, common.reference_second, common.reference_energy);
  sum_energies(common.moving, common.moving_second, common.moving_energy);
  double of_reference = 0, of_moving = 0, of_both = 0;
  for (std::size_t i = 0; i < common.reference_energy.size(); ++i) {
    of_reference += common.reference_energy[i];
    of_moving += common.moving_energy[i];
    of_both += common.reference_energy[i] * common.moving_energy[i];
  }
  return of_both > 0 ? std::min(1.0, of_reference * of_moving / (common.pixels * of_both)) : 0;
}

ChanceTest::Part ChanceTest::common_part(const Shape& coarse, const Shape& fine,
                                         const Homography& to_fine) {
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

ChanceTest::Frame::Frame(const Device& device)
    : image(device.make_image(PixelType::f32, frame)),
      values(device, static_cast<std::size_t>(frame.plane())) {}

ChanceTest::ChanceTest(const Device& device, Ones& ones)
    : device_(device),
      ones_(ones),
      coarse_(device),
      fine_(device),
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

// Fetches the part of one channel of both levels, the finer one warped to the coarser one.
void ChanceTest::fetch(const PairWork& work, const Channel& channel, const Part& part,
                       const Homography& to_fine, std::vector<float>& reference,
                       std::vector<float>& moving) {
  const Affine of_coarse =
      Affine::translation(static_cast<double>(part.x), static_cast<double>(part.y));
  work.clock.run("chance_test", [&] {
    warp(work, channel.coarse, of_coarse, coarse_);
    warp(work, channel.fine, to_fine * of_coarse, fine_);
  });
  const auto copy = [&](std::span<const float> from, std::vector<float>& to) {
    to.resize(static_cast<std::size_t>(part.width * part.height));
    for (std::int64_t y = 0; y < part.height; ++y) {
      std::copy_n(from.begin() + y * frame.width, part.width, to.begin() + y * part.width);
    }
  };
  copy(coarse_.values.wait(), reference);
  copy(fine_.values.wait(), moving);
}

// Fetches what both levels have in common, where both have pixels that count.
void ChanceTest::fetch_common(const PairWork& work, const FitRoles::Levels& levels,
                              std::span<const Channel> channels, const Homography& to_fine) {
  const Part part = common_part(levels.coarse.shape(), levels.fine.shape(), to_fine);
  const auto weight = [&](const Image* given, const Shape& shape) -> const Image& {
    return given != nullptr ? *given : ones_.of(work.stream, shape);
  };
  const SimilarityImages& images = levels.pair.images;
  fetch(work,
        {weight(images.reference_weight, levels.coarse.shape()),
         weight(images.moving_weight, levels.fine.shape())},
        part, to_fine, counts_, fine_counts_);
  common_.width = part.width;
  common_.height = part.height;
  common_.pixels = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    counts_[i] = counts_[i] > 0.5F && fine_counts_[i] > 0.5F ? 1.0F : 0.0F;
    common_.pixels += counts_[i];
  }
  common_.reference_second.clear();
  common_.moving_second.clear();
  if (!(common_.pixels > 0)) return;
  const auto fetch_channel = [&](const Channel& channel, std::vector<float>& reference,
                                 std::vector<float>& moving) {
    fetch(work, channel, part, to_fine, reference, moving);
    subtract_mean(reference, counts_, common_.pixels);
    subtract_mean(moving, counts_, common_.pixels);
  };
  fetch_channel(channels[0], common_.reference, common_.moving);
  if (channels.size() > 1) {
    fetch_channel(channels[1], common_.reference_second, common_.moving_second);
  }
}

SpectrumSums ChanceTest::spectrum_sums(const PairWork& work, const std::vector<float>& reference,
                                       const std::vector<float>& moving) {
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
    transform(reference, reference_spectrum_);
    transform(moving, moving_spectrum_);
    sums = spectrum_sums_.execute(work.stream, reference_spectrum_, moving_spectrum_);
  });
  return sums;
}

double ChanceTest::independent_fraction(const PairWork& work) {
  SpectrumSums sums = spectrum_sums(work, common_.reference, common_.moving);
  double channels = 1;
  if (!common_.reference_second.empty()) {
    const SpectrumSums second =
        spectrum_sums(work, common_.reference_second, common_.moving_second);
    sums.a += second.a;
    sums.b += second.b;
    sums.product += second.product;
    channels = 2;
  }
  const double all = static_cast<double>(frame.plane()) * sums.product;
  return all > 0 ? std::min(channels, sums.a * sums.b / all) : 0;
}

double ChanceTest::deviations(const PairWork& work, const Candidate& candidate) {
  const FitRoles roles(work, candidate.matrix, transform_of(candidate));
  const FitRoles::Levels levels = roles.levels(work, ones_, roles.spacing(judged_side));
  const Homography matrix = levels.to_levels(roles.in_roles(transform_of(candidate)));
  if (work.fields != nullptr) {
    const GradientFields::Field fine =
        work.fields->of(work.stream, work.clock, roles.fine(), levels.fine);
    const std::array<Channel, 2> channels{{{levels.pair.images.reference, fine.cosines},
                                           {levels.pair.second->reference, fine.sines}}};
    fetch_common(work, levels, channels, matrix);
  } else {
    const Channel grey_levels{levels.pair.images.reference,
                              roles.fine().normalized(work.stream, work.clock, levels.fine)};
    fetch_common(work, levels, {&grey_levels, 1}, matrix);
  }
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

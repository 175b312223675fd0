// The null test: the correlation of two images in units of its standard deviation.
#include "registration/scoring/significance_test.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warpalign::detail {

namespace {

// The compared levels share about 256 samples of content. Frames of twice that side leave room for
// any rotation, and for the zero padding that keeps the spectra from wrapping.
constexpr Shape frame{512, 512, 1};
// The overlap of most pairs fits into a frame of half the side.
constexpr Shape small_frame{264, 264, 1};
constexpr double min_common_pixels = 64;
// The number of candidates per wait for the device.
constexpr std::size_t max_candidates_per_wait = 8;
// How many of these have their spectra computed together. On a CPU, the spectra of one candidate
// stay in the caches.
constexpr std::array<std::size_t, 4> batch_sizes{8, 4, 2, 1};

// For spectra of `channels` frames. See SignificanceTest::z_scores().
double independent_fraction(const SpectrumSums& sums, std::size_t channels) {
  const double all = static_cast<double>(frame.plane()) * sums.product;
  return all > 0 ? std::min(static_cast<double>(channels), sums.a * sums.b / all) : 0;
}

double z_score_of(const Candidate& candidate, const CommonSums& common, const SpectrumSums& spectra,
                  std::size_t channels) {
  if (!(common.pixels >= min_common_pixels)) return 0;
  const double independent =
      common.pixels * independent_fraction(spectra, channels) * effective_sample_fraction(common);
  return significance_of(candidate.correlation, independent);
}

// The part of the coarser level that the finer one covers, at most one frame large.
OverlapRegion common_part(const Shape& coarse, const Shape& fine, const Homography& to_fine) {
  const Homography back = to_fine.inverse();
  if (!is_regular(back, fine)) {
    return {{std::min(coarse.width, frame.width), std::min(coarse.height, frame.height), 1}};
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
  const std::int64_t width = within(std::ceil(high.x), coarse.width - 1) - x + 1;
  const std::int64_t height = within(std::ceil(high.y), coarse.height - 1) - y + 1;
  return {{std::min(width, frame.width), std::min(height, frame.height), 1}, x, y};
}

}  // namespace

double effective_sample_fraction(const CommonSums& common) {
  const double all = common.pixels * common.both;
  return all > 0 ? std::min(1.0, common.reference * common.moving / all) : 0;
}

SignificanceTest::Frames::Frames(const Device& device, const Shape& frames_shape)
    : shape(frames_shape), fine_weight(device.make_image(PixelType::f32, shape)) {}

SignificanceTest::Spectra::Spectra(const Device& device, std::int64_t channels, std::int64_t pairs)
    : Spectra(device, channels, pairs, {frame.width, frame.height, channels * pairs}) {}

SignificanceTest::Spectra::Spectra(const Device& device, std::int64_t channels, std::int64_t pairs,
                                   const Shape& frames)
    : reference(device.make_image(PixelType::f32, frames)),
      moving(device.make_image(PixelType::f32, frames)),
      reference_spectrum(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frames))),
      moving_spectrum(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frames))),
      fft(device, {frames, 2, FftDirections::forward}),
      sums(device, {{frames.width, frames.height, channels},
                    static_cast<std::int64_t>(max_candidates_per_wait),
                    pairs}) {}

void SignificanceTest::Spectra::enqueue_sums(Stream& stream, std::int64_t result) {
  fft.forward(stream, reference, reference_spectrum);
  fft.forward(stream, moving, moving_spectrum);
  sums.enqueue(stream, reference_spectrum, moving_spectrum, result);
}

SignificanceTest::SignificanceTest(const Device& device)
    : device_(device),
      small_(device, small_frame),
      common_frames_(device, {frame, static_cast<std::int64_t>(max_candidates_per_wait)}) {}

SignificanceTest::Frames& SignificanceTest::frames_for(const Shape& part, std::size_t channels) {
  const bool fits_small = part.width <= small_frame.width && part.height <= small_frame.height;
  if (!fits_small && !large_) large_.emplace(device_, frame);
  Frames& frames = fits_small ? small_ : *large_;
  while (frames.fine.size() < channels) {
    frames.fine.push_back(device_.make_image(PixelType::f32, frames.shape));
  }
  return frames;
}

SignificanceTest::Batch SignificanceTest::batch_for(std::size_t channels, std::size_t first,
                                                    std::size_t candidates) {
  const std::size_t most = device_.info().kind == DeviceKind::cpu ? 1 : candidates;
  std::size_t i = 0;
  while (batch_sizes.at(i) > most) ++i;
  std::optional<Spectra>& spectra = spectra_.at(channels - 1).at(i);
  const std::size_t size = batch_sizes.at(i);
  if (!spectra) {
    spectra.emplace(device_, static_cast<std::int64_t>(channels), static_cast<std::int64_t>(size));
  }
  return {&*spectra, first, size};
}

void SignificanceTest::warp(const PairContext& work, const Image& input,
                            const Affine& output_to_input, Image& output) {
  const Shape& shape = output.shape();
  const WarpPlan& plan = warps_.get({input.shape(), shape}, [&] {
    return WarpPlan(device_, {input.shape(), shape});
  });
  plan.execute(work.stream, input, output_to_input, output);
}

void SignificanceTest::warp(const PairContext& work, const Image& input,
                            const Homography& output_to_input, Image& output) {
  if (output_to_input.is_affine()) return warp(work, input, output_to_input.affine(), output);
  const Shape& shape = output.shape();
  const InterpolatePlan& plan = projective_warps_.get({input.shape(), shape}, [&] {
    return InterpolatePlan(
        device_,
        {.spline = {.degree = 1, .prefilter = std::nullopt, .boundary = Boundary::grid_constant},
         .images = {.shape = input.shape()},
         .output = shape});
  });
  plan.execute(work.stream, input, output_to_input, output);
}

// Writes the overlap of both levels, with the finer level warped to the coarser one. The commands
// of the next candidate reuse the warped images.
void SignificanceTest::enqueue(const PairContext& work, const FitDirection& roles,
                               const FitDirection::BothLevels& levels,
                               std::span<const ChannelImages> channels, const Homography& to_fine,
                               const Destination& to) {
  const OverlapRegion part = common_part(levels.coarse.shape(), levels.fine.shape(), to_fine);
  const Homography to_fine_level =
      to_fine * Affine::translation(static_cast<double>(part.x), static_cast<double>(part.y));
  const Image* coarse_weight = levels.coarse.weight();
  const Image& fine_weight = levels.fine.weight() != nullptr
                                 ? *levels.fine.weight()
                                 : work.unit_weights.of(work.stream, levels.fine.shape());
  Frames& frames = frames_for(part.shape, channels.size());
  work.clock.run("chance_test", [&] {
    warp(work, fine_weight, to_fine_level, frames.fine_weight);
    std::array<const Image*, 2> coarse{};
    std::array<const Image*, 2> fine{};
    for (std::size_t i = 0; i < channels.size(); ++i) {
      warp(work, channels[i].fine, to_fine_level, frames.fine[i]);
      coarse.at(i) = &channels[i].coarse;
      fine.at(i) = &frames.fine[i];
    }
    common_frames_.enqueue(
        work.stream,
        {std::span(coarse).first(channels.size()), std::span(fine).first(channels.size()),
         coarse_weight, frames.fine_weight},
        part, 2 * roles.rotation(), to.spectra.reference, to.spectra.moving, to.result, to.slot);
  });
}

void SignificanceTest::enqueue(const PairContext& work, const Candidate& candidate,
                               const Destination& to) {
  const FitDirection roles(work, candidate.matrix, transform_of(candidate));
  const FitDirection::BothLevels levels = roles.both_levels(work, roles.spacing(scoring_side));
  const Homography matrix = levels.to_levels(roles.to_fit_frame(transform_of(candidate)));
  if (!work.compares_orientation()) {
    const ChannelImages grey_levels{
        roles.coarse().normalized(work.stream, work.clock, levels.coarse),
        roles.fine().normalized(work.stream, work.clock, levels.fine)};
    return enqueue(work, roles, levels, {&grey_levels, 1}, matrix, to);
  }
  const GradientFields::Field coarse =
      work.orientation.of(work.stream, work.clock, roles.coarse(), levels.coarse);
  const GradientFields::Field fine =
      work.orientation.of(work.stream, work.clock, roles.fine(), levels.fine);
  const std::array<ChannelImages, 2> channels{
      {{coarse.cosines, fine.cosines}, {coarse.sines, fine.sines}}};
  enqueue(work, roles, levels, channels, matrix, to);
}

void SignificanceTest::enqueue_together(const PairContext& work,
                                        std::span<Candidate* const> candidates) {
  const std::size_t channels = work.compares_orientation() ? 2 : 1;
  batches_.clear();
  for (std::size_t first = 0; first < candidates.size();) {
    const Batch batch = batch_for(channels, first, candidates.size() - first);
    for (std::size_t i = 0; i < batch.count; ++i) {
      enqueue(work, *candidates[first + i],
              {*batch.spectra, static_cast<std::int64_t>(first + i), static_cast<std::int64_t>(i)});
    }
    work.clock.run("chance_test", [&] {
      batch.spectra->enqueue_sums(work.stream, static_cast<std::int64_t>(first));
    });
    batches_.push_back(batch);
    first += batch.count;
  }
  common_frames_.enqueue_copy(work.stream);
  const Spectra* copied = nullptr;
  for (const Batch& batch : batches_) {
    // Batches of the same size are adjacent.
    if (batch.spectra != copied) batch.spectra->sums.enqueue_copy(work.stream);
    copied = batch.spectra;
  }
}

std::span<const double> SignificanceTest::z_scores(const PairContext& work,
                                                   std::span<Candidate* const> candidates) {
  const std::size_t channels = work.compares_orientation() ? 2 : 1;
  z_scores_.clear();
  while (!candidates.empty()) {
    const auto together = candidates.first(std::min(max_candidates_per_wait, candidates.size()));
    enqueue_together(work, together);
    for (const Batch& batch : batches_) {
      for (std::size_t i = batch.first; i < batch.first + batch.count; ++i) {
        const auto result = static_cast<std::int64_t>(i);
        z_scores_.push_back(z_score_of(*together[i], common_frames_.wait(result),
                                       batch.spectra->sums.wait(result), channels));
      }
    }
    candidates = candidates.subspan(together.size());
  }
  return z_scores_;
}

// For large x, the tail of the normal distribution beyond x is x^-1 exp(-x^2 / 2) / sqrt(2 pi). A
// fixed-point iteration solves this for x and converges within a few steps for the tails in use.
double max_null_z_score(double trials) {
  const double tail = 1e-4 / std::max(trials, 1.0);
  double x = 4;
  for (int i = 0; i < 20; ++i) {
    x = std::sqrt(-2 * std::log(tail * x * std::sqrt(2 * std::numbers::pi)));
  }
  return x;
}

}  // namespace warpalign::detail

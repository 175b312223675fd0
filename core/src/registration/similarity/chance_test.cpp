// How far the correlation of two images is above what chance gives.
#include "registration/similarity/chance_test.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/similarity/richer_models.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace warpalign::detail {

namespace {

// The sides of what is compared: levels have about 256 samples of content in common, and a frame of
// twice that leaves room for any rotation, and for the zeros that keep the spectra from wrapping.
constexpr Shape frame{512, 512, 1};
// What is in common of most pairs lies within a frame of half the size.
constexpr Shape usual_frame{264, 264, 1};
// Half the side of the square over which the energy of texture is averaged.
constexpr std::int64_t energy_radius = 8;
constexpr double min_pixels = 64;

// Sums of an image's energy over squares of 2 energy_radius + 1 pixels, row by row: each column's
// sum over the rows about the present one is kept, and along the row they are added up. Columns
// beyond the image, which are 0, lie on both sides.
class LocalEnergy {
 public:
  LocalEnergy(const std::vector<float>& image, const std::vector<float>& second, std::int64_t width,
              std::int64_t height, std::vector<double>& columns)
      : image_(image), second_(second), width_(width), height_(height), columns_(columns) {
    columns_.assign(static_cast<std::size_t>(width + 2 * energy_radius + 1), 0);
    for (std::int64_t y = 0; y < std::min(energy_radius, height); ++y) add_row(y, 1);
  }

  // Must be called for one row after the other.
  void go_to_row(std::int64_t y) {
    if (y + energy_radius < height_) add_row(y + energy_radius, 1);
    if (y > energy_radius) add_row(y - energy_radius - 1, -1);
    sum_ = 0;
    for (std::int64_t x = 0; x < energy_radius; ++x) sum_ += column(x);
  }
  // The sum about a pixel of the row. Must be called for one pixel after the other.
  double about(std::int64_t x) {
    sum_ += column(x + energy_radius) - column(x - energy_radius - 1);
    return sum_;
  }

 private:
  [[nodiscard]] double& column(std::int64_t x) const {
    return columns_[static_cast<std::size_t>(x + energy_radius + 1)];
  }
  void add_row(std::int64_t y, double sign) const {
    add_squares(image_, y, sign);
    if (!second_.empty()) add_squares(second_, y, sign);
  }
  void add_squares(const std::vector<float>& image, std::int64_t y, double sign) const {
    const float* row = image.data() + y * width_;
    double* columns = &column(0);
    for (std::int64_t x = 0; x < width_; ++x) {
      const auto value = static_cast<double>(row[x]);
      columns[x] += sign * value * value;
    }
  }

  const std::vector<float>& image_;
  const std::vector<float>& second_;
  std::int64_t width_, height_;
  std::vector<double>& columns_;
  double sum_ = 0;
};

}  // namespace

double evenness_of(CommonParts& common) {
  if (!(common.pixels > 0)) return 0;
  LocalEnergy reference(common.reference, common.reference_second, common.width, common.height,
                        common.reference_columns);
  LocalEnergy moving(common.moving, common.moving_second, common.width, common.height,
                     common.moving_columns);
  double of_reference = 0, of_moving = 0, of_both = 0;
  for (std::int64_t y = 0; y < common.height; ++y) {
    reference.go_to_row(y);
    moving.go_to_row(y);
    for (std::int64_t x = 0; x < common.width; ++x) {
      const double r = reference.about(x);
      const double m = moving.about(x);
      of_reference += r;
      of_moving += m;
      of_both += r * m;
    }
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

Affine ChanceTest::Part::to_level() const {
  return Affine::translation(static_cast<double>(x), static_cast<double>(y));
}

ChanceTest::Frame::Frame(const Device& device, const Shape& shape)
    : image(device.make_image(PixelType::f32, shape)),
      values(device, static_cast<std::size_t>(shape.plane())) {}

ChanceTest::Frames::Frames(const Device& device, const Shape& frames_shape)
    : shape(frames_shape),
      coarse(device, shape),
      fine(device, shape),
      coarse_weight(device, shape),
      fine_weight(device, shape) {}

ChanceTest::Padded::Padded(const Device& device)
    : staged(device.make_host_buffer(static_cast<std::size_t>(frame.plane()) * sizeof(float))),
      image(device.make_image(PixelType::f32, frame)),
      spectrum(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame))),
      rows(frame.height) {}

ChanceTest::ChanceTest(const Device& device, Ones& ones)
    : device_(device),
      ones_(ones),
      usual_(device, usual_frame),
      fft_(device, {frame, 2, FftDirections::forward}),
      reference_(device),
      moving_(device),
      spectrum_sums_(device, {frame}) {}

ChanceTest::Frames& ChanceTest::frames_for(const Part& part) {
  if (part.width <= usual_frame.width && part.height <= usual_frame.height) return usual_;
  if (!large_) large_.emplace(device_, frame);
  return *large_;
}

void ChanceTest::warp(const PairWork& work, const Image& input, const Affine& output_to_input,
                      Frame& output) {
  const Shape& shape = output.image.shape();
  const WarpPlan& plan = warps_.get({input.shape(), shape}, [&] {
    return WarpPlan(device_, {input.shape(), shape});
  });
  plan.execute(work.stream, input, output_to_input, output.image);
  output.values.enqueue(work.stream, output.image.buffer());
}

void ChanceTest::warp(const PairWork& work, const Image& input, const Homography& output_to_input,
                      Frame& output) {
  if (output_to_input.is_affine()) return warp(work, input, output_to_input.affine(), output);
  const Shape& shape = output.image.shape();
  const InterpolatePlan& plan = projective_warps_.get({input.shape(), shape}, [&] {
    return InterpolatePlan(device_, {.image = input.shape(),
                                     .output = shape,
                                     .degree = 1,
                                     .boundary = Boundary::grid_constant,
                                     .prefiltered = false});
  });
  plan.execute(work.stream, input, output_to_input, output.image);
  output.values.enqueue(work.stream, output.image.buffer());
}

// Has the part of one channel of both levels copied to the host, the finer one warped to the
// coarser one.
void ChanceTest::warp(const PairWork& work, const Channel& channel, const Homography& to_fine,
                      const Part& part, Frames& frames) {
  work.clock.run("chance_test", [&] {
    warp(work, channel.coarse, part.to_level(), frames.coarse);
    warp(work, channel.fine, to_fine * part.to_level(), frames.fine);
  });
}

// The same of the weights. Without masks all pixels of the coarser level count.
void ChanceTest::warp_weights(const PairWork& work, const FitRoles::Levels& levels,
                              const Homography& to_fine, const Part& part, Frames& frames) {
  const SimilarityImages& images = levels.pair.images;
  const Image& fine = images.moving_weight != nullptr ? *images.moving_weight
                                                      : ones_.of(work.stream, levels.fine.shape());
  work.clock.run("chance_test", [&] {
    if (images.reference_weight != nullptr) {
      warp(work, *images.reference_weight, part.to_level(), frames.coarse_weight);
    }
    warp(work, fine, to_fine * part.to_level(), frames.fine_weight);
  });
}

// Writes 1 for each pixel of the part that counts in both levels, and 0 for the others.
void ChanceTest::count(Frames& frames, bool is_masked) {
  const float* fine = frames.fine_weight.values.wait().data();
  const float* coarse = is_masked ? frames.coarse_weight.values.wait().data() : nullptr;
  counts_.resize(static_cast<std::size_t>(common_.width * common_.height));
  std::int64_t pixels = 0;
  for (std::int64_t y = 0; y < common_.height; ++y) {
    const std::int64_t first = y * frames.shape.width;
    float* counts = counts_.data() + y * common_.width;
    std::int32_t of_row = 0;
    for (std::int64_t x = 0; x < common_.width; ++x) {
      const bool both = fine[first + x] > 0.5F && (!is_masked || coarse[first + x] > 0.5F);
      counts[x] = both ? 1.0F : 0.0F;
      of_row += both ? 1 : 0;
    }
    pixels += of_row;
  }
  common_.pixels = static_cast<double>(pixels);
}

// Takes the pixels that count less their mean, and 0 for the others. Columns are summed apart so
// that a row is added by vector instructions.
void ChanceTest::take(Frame& from, std::vector<float>& pixels) {
  const float* values = from.values.wait().data();
  const std::int64_t pitch = from.image.shape().width;
  columns_.assign(static_cast<std::size_t>(common_.width), 0);
  for (std::int64_t y = 0; y < common_.height; ++y) {
    const float* row = values + y * pitch;
    const float* counts = counts_.data() + y * common_.width;
    double* columns = columns_.data();
    for (std::int64_t x = 0; x < common_.width; ++x) {
      columns[x] += static_cast<double>(counts[x] * row[x]);
    }
  }
  const double sum = std::accumulate(columns_.begin(), columns_.end(), 0.0);
  const auto mean = static_cast<float>(common_.pixels > 0 ? sum / common_.pixels : 0);
  pixels.resize(counts_.size());
  for (std::int64_t y = 0; y < common_.height; ++y) {
    const float* row = values + y * pitch;
    const float* counts = counts_.data() + y * common_.width;
    float* taken = pixels.data() + y * common_.width;
    for (std::int64_t x = 0; x < common_.width; ++x) taken[x] = counts[x] * (row[x] - mean);
  }
}

// Fetches what both levels have in common, where both have pixels that count.
void ChanceTest::fetch_common(const PairWork& work, const FitRoles::Levels& levels,
                              std::span<const Channel> channels, const Homography& to_fine) {
  const Part part = common_part(levels.coarse.shape(), levels.fine.shape(), to_fine);
  Frames& frames = frames_for(part);
  common_.width = part.width;
  common_.height = part.height;
  // The device goes on while the host counts.
  warp_weights(work, levels, to_fine, part, frames);
  warp(work, channels[0], to_fine, part, frames);
  count(frames, levels.pair.images.reference_weight != nullptr);
  take(frames.coarse, common_.reference);
  take(frames.fine, common_.moving);
  common_.reference_second.clear();
  common_.moving_second.clear();
  if (channels.size() < 2 || !(common_.pixels > 0)) return;
  warp(work, channels[1], to_fine, part, frames);
  take(frames.coarse, common_.reference_second);
  take(frames.fine, common_.moving_second);
}

// Uploads the rows that have pixels now, and those that had some before.
void ChanceTest::upload(const PairWork& work, const std::vector<float>& pixels, Padded& padded) {
  const std::int64_t rows = std::max(common_.height, padded.rows);
  const auto staged = std::span(static_cast<float*>(padded.staged.data()),
                                static_cast<std::size_t>(rows * frame.width));
  std::fill(staged.begin(), staged.end(), 0.0F);
  for (std::int64_t y = 0; y < common_.height; ++y) {
    std::copy_n(pixels.begin() + y * common_.width, common_.width,
                staged.begin() + y * frame.width);
  }
  padded.rows = rows;  // until the others are overwritten
  work.stream.upload(staged.data(), staged.size_bytes(), padded.image.buffer());
  padded.rows = common_.height;
}

void ChanceTest::transform(const PairWork& work, const std::vector<float>& reference,
                           const std::vector<float>& moving) {
  work.clock.run("chance_test", [&] {
    upload(work, reference, reference_);
    upload(work, moving, moving_);
    fft_.forward(work.stream, reference_.image, reference_.spectrum);
    fft_.forward(work.stream, moving_.image, moving_.spectrum);
  });
}

SpectrumSums ChanceTest::spectrum_sums(const PairWork& work) {
  SpectrumSums sums;
  work.clock.run("chance_test", [&] {
    sums = spectrum_sums_.execute(work.stream, reference_.spectrum, moving_.spectrum);
  });
  return sums;
}

// Of spectra that transform() was called for. Those of a second channel are made here.
double ChanceTest::independent_fraction(const PairWork& work) {
  SpectrumSums sums = spectrum_sums(work);
  double channels = 1;
  if (!common_.reference_second.empty()) {
    transform(work, common_.reference_second, common_.moving_second);
    const SpectrumSums second = spectrum_sums(work);
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
  transform(work, common_.reference, common_.moving);
  const double evenness = evenness_of(common_);  // while the device transforms
  const double independent = common_.pixels * independent_fraction(work) * evenness;
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

// The translation between two pyramid levels whose rotation and scale are known.
#include "registration/similarity/translation_search.hpp"

#include "registration/plane_geometry.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// Fraction of the smaller level. Shifts that leave less in common are not considered.
constexpr double min_overlap_fraction = 0.06;

// The coordinate equivalent to `u` modulo `n` that is nearest to `centre`.
double nearest_modulo(double u, double centre, double n) {
  return u - n * std::round((u - centre) / n);
}

Shape slices(const Shape& shape, std::int64_t depth) { return {shape.width, shape.height, depth}; }

double modulo(double x, double n) { return x - n * std::floor(x / n); }

}  // namespace

TranslationSearch::TranslationSearch(const Device& device, std::int64_t side, Ones& ones)
    : device_(device),
      ones_(ones),
      frame_{side, side, 1},
      fft_(device, {frame_, 2, FftDirections::forward}),
      fft_four_(device, {slices(frame_, 4), 2, FftDirections::inverse}),
      products_(device, {frame_}),
      score_(device, {frame_}),
      peak_(device, {slices(frame_, 2)}),
      warped_(device.make_image(PixelType::f32, frame_)),
      reference_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_))),
      reference_weight_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_))),
      moving_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_))),
      moving_weight_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_))),
      products_image_(
          device.make_image(PixelType::c32, RealFftPlan::half_spectrum(slices(frame_, 4)))),
      surfaces_(device.make_image(PixelType::f32, slices(frame_, 4))),
      scores_(device.make_image(PixelType::f32, slices(frame_, 2))),
      records_(device.make_buffer(2 * sizeof(PeakRecord))) {}

const WarpPlan& TranslationSearch::warp_of(const Shape& shape) {
  return warps_.get(shape, [&] { return WarpPlan(device_, {shape, frame_}); });
}

void TranslationSearch::transform(Stream& stream, StageClock& clock, ImagePyramid& pyramid,
                                  PyramidLevel& level, const Affine& frame_to_level,
                                  Image& spectrum, Image& weight_spectrum) {
  const WarpPlan& warp = warp_of(level.shape());
  const Image& normalized = pyramid.normalized(stream, clock, level);
  const Image& weight =
      level.weight() != nullptr ? *level.weight() : ones_.of(stream, level.shape());
  clock.run("warp", [&] { warp.execute(stream, normalized, frame_to_level, warped_); });
  clock.run("fft", [&] { fft_.forward(stream, warped_, spectrum); });
  clock.run("warp", [&] { warp.execute(stream, weight, frame_to_level, warped_); });
  clock.run("fft", [&] { fft_.forward(stream, warped_, weight_spectrum); });
}

std::array<TranslationPeak, 2> TranslationSearch::find(
    Stream& stream, StageClock& clock, ImagePyramid& reference, PyramidLevel& reference_level,
    ImagePyramid& moving, PyramidLevel& moving_level, double rotation_deg, double scale,
    const ShiftLimits& limits) {
  set_reference(stream, clock, reference, reference_level);
  return find(stream, clock, reference_level.shape(), moving, moving_level, rotation_deg, scale,
              limits);
}

void TranslationSearch::set_reference(Stream& stream, StageClock& clock, ImagePyramid& reference,
                                      PyramidLevel& reference_level) {
  transform(stream, clock, reference, reference_level, Affine{}, reference_spectrum_,
            reference_weight_);
}

// The reference is placed in the corner of the padded frame, and the rotated moving level in its
// middle c: rotated(x) = moving(A (x - c) + centre). A peak at d of the first surface means
// reference(x) = rotated(x - d), and one of the mirrored surface reference(x) = rotated(d - x). So
// the centre of the moving level lies at d + c, and with 180 degrees more at d - c.
std::array<TranslationPeak, 2> TranslationSearch::find(Stream& stream, StageClock& clock,
                                                       const Shape& reference, ImagePyramid& moving,
                                                       PyramidLevel& moving_level,
                                                       double rotation_deg, double scale,
                                                       const ShiftLimits& limits) {
  const auto n = static_cast<double>(frame_.width);
  const double c = std::floor(n / 2);
  const Point centre = centre_of(moving_level.shape());
  Affine linear = Similarity{rotation_deg, scale, {}}.matrix({1, 1, 1}, {1, 1, 1});
  linear.c = linear.f = 0;
  const Affine frame_to_moving =
      Affine::translation(centre.x, centre.y) * linear * Affine::translation(-c, -c);
  transform(stream, clock, moving, moving_level, frame_to_moving, moving_spectrum_, moving_weight_);

  OverlapLimits allowed;
  const double smaller = smaller_area(reference, moving_level.shape(), scale);
  allowed.min_overlap = static_cast<float>(std::max(1.0, min_overlap_fraction * smaller));
  allowed.reach = static_cast<float>(limits.max_distance);
  allowed.centre_x = static_cast<float>(modulo(limits.centre.x - c, n));
  allowed.centre_y = static_cast<float>(modulo(limits.centre.y - c, n));
  allowed.mirrored_centre_x = static_cast<float>(modulo(limits.centre.x + c, n));
  allowed.mirrored_centre_y = static_cast<float>(modulo(limits.centre.y + c, n));
  clock.run("overlap_products", [&] {
    products_.execute(stream, reference_spectrum_, reference_weight_, moving_spectrum_,
                      moving_weight_, products_image_);
  });
  clock.run("inverse_fft", [&] { fft_four_.inverse(stream, products_image_, surfaces_); });
  clock.run("overlap_score", [&] { score_.execute(stream, surfaces_, allowed, scores_); });
  clock.run("peak", [&] { peak_.execute(stream, scores_, records_); });
  std::array<PeakRecord, 2> records;
  stream.download(records_, records.data(), sizeof records);

  std::array<TranslationPeak, 2> peaks;
  const Point reference_centre = centre_of(reference);
  for (std::size_t opposite = 0; opposite < 2; ++opposite) {
    const Point d = subpixel_position(records[opposite]);
    const double sign = opposite == 0 ? 1 : -1;
    const Point moving_centre{nearest_modulo(d.x + sign * c, reference_centre.x, n),
                              nearest_modulo(d.y + sign * c, reference_centre.y, n)};
    const Affine rotated{sign * linear.a, sign * linear.b, 0, sign * linear.d, sign * linear.e, 0};
    peaks[opposite] = {Affine::translation(centre.x, centre.y) * rotated *
                           Affine::translation(-moving_centre.x, -moving_centre.y),
                       static_cast<double>(records[opposite].value)};
  }
  return peaks;
}

}  // namespace warpalign::detail

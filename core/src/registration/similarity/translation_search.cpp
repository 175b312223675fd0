// The translation between two pyramid levels whose rotation and scale are known.
#include "registration/similarity/translation_search.hpp"

#include "registration/plane_geometry.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// Fraction of the smaller level: shifts that leave a smaller overlap are not found.
constexpr double min_overlap_part = 0.06;

// The coordinate equivalent to u modulo n that lies within half a period of `about`.
double near(double u, double about, double n) { return u - n * std::round((u - about) / n); }

Shape slices(const Shape& shape, std::int64_t depth) { return {shape.width, shape.height, depth}; }

double modulo(double x, double n) { return x - n * std::floor(x / n); }

}  // namespace

TranslationSearch::TranslationSearch(const Device& device, std::int64_t side, Ones& ones)
    : device_(device),
      ones_(ones),
      padded_{side, side, 1},
      fft_(device, {padded_, 2, FftDirections::forward}),
      fft_four_(device, {slices(padded_, 4), 2, FftDirections::inverse}),
      products_(device, {padded_}),
      score_(device, {padded_}),
      peak_(device, {slices(padded_, 2)}),
      placed_(device.make_image(PixelType::f32, padded_)),
      reference_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(padded_))),
      reference_weight_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(padded_))),
      moving_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(padded_))),
      moving_weight_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(padded_))),
      products_image_(
          device.make_image(PixelType::c32, RealFftPlan::half_spectrum(slices(padded_, 4)))),
      surfaces_(device.make_image(PixelType::f32, slices(padded_, 4))),
      scores_(device.make_image(PixelType::f32, slices(padded_, 2))),
      records_(device.make_buffer(2 * sizeof(PeakRecord))) {}

const WarpPlan& TranslationSearch::warp_of(const Shape& shape) {
  return warps_.get(shape, [&] { return WarpPlan(device_, {shape, padded_}); });
}

void TranslationSearch::place(Stream& stream, StageClock& clock, ImagePyramid& pyramid,
                              PyramidLevel& level, const Affine& matrix, Image& spectrum,
                              Image& weight_spectrum) {
  const WarpPlan& warp = warp_of(level.shape());
  const Image& normalized = pyramid.normalized(stream, clock, level);
  const Image& weight =
      level.weight() != nullptr ? *level.weight() : ones_.of(stream, level.shape());
  clock.run("warp", [&] { warp.execute(stream, normalized, matrix, placed_); });
  clock.run("fft", [&] { fft_.forward(stream, placed_, spectrum); });
  clock.run("warp", [&] { warp.execute(stream, weight, matrix, placed_); });
  clock.run("fft", [&] { fft_.forward(stream, placed_, weight_spectrum); });
}

// The reference is placed in the corner of the padded frame, and the rotated moving level in its
// middle c: rotated(x) = moving(A (x - c) + centre). A peak at d of the first surface means
// reference(x) = rotated(x - d), and one of the mirrored surface reference(x) = rotated(d - x). So
// the centre of the moving level lies at d + c, and with 180 degrees more at d - c.
std::array<PlacedView, 2> TranslationSearch::find(Stream& stream, StageClock& clock,
                                                  ImagePyramid& reference,
                                                  PyramidLevel& reference_level,
                                                  ImagePyramid& moving, PyramidLevel& moving_level,
                                                  double rotation_deg, double scale,
                                                  const ShiftLimits& limits) {
  const auto n = static_cast<double>(padded_.width);
  const double c = std::floor(n / 2);
  const Point centre = centre_of(moving_level.shape());
  Affine hypothesis = Similarity{rotation_deg, scale, {}}.matrix({1, 1, 1}, {1, 1, 1});
  hypothesis.c = hypothesis.f = 0;
  const Affine onto_frame =
      Affine::translation(centre.x, centre.y) * hypothesis * Affine::translation(-c, -c);
  place(stream, clock, reference, reference_level, Affine{}, reference_spectrum_,
        reference_weight_);
  place(stream, clock, moving, moving_level, onto_frame, moving_spectrum_, moving_weight_);

  OverlapLimits allowed;
  const double smaller = smaller_area(reference_level.shape(), moving_level.shape(), scale);
  allowed.min_overlap = static_cast<float>(std::max(1.0, min_overlap_part * smaller));
  allowed.reach = static_cast<float>(limits.reach);
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

  std::array<PlacedView, 2> found;
  const Point middle = centre_of(reference_level.shape());
  for (std::size_t half = 0; half < 2; ++half) {
    const Point d = subpixel_position(records[half]);
    const double side = half == 0 ? 1 : -1;
    const Point landed{near(d.x + side * c, middle.x, n), near(d.y + side * c, middle.y, n)};
    Affine linear = hypothesis;
    if (half == 1) linear = {-hypothesis.a, -hypothesis.b, 0, -hypothesis.d, -hypothesis.e, 0};
    found[half] = {Affine::translation(centre.x, centre.y) * linear *
                       Affine::translation(-landed.x, -landed.y),
                   static_cast<double>(records[half].value)};
  }
  return found;
}

}  // namespace warpalign::detail

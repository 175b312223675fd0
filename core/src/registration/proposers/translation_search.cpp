// Finds the translation between two pyramid levels whose rotation and scale are known.
#include "registration/proposers/translation_search.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// Shifts with a smaller overlap are ignored: a fraction of the smaller level's unmasked pixels, and
// a number of pixels.
constexpr double min_overlap_fraction = 0.04;
constexpr double min_overlap_pixels = 48;

// On a CPU, a frame's batch of this many pixels stays in the caches between one stage and the next.
constexpr std::int64_t cached_pixels = 200'000;

// Whether overlaps are computed from the outlines of the images. CPUs sum up weights faster.
bool uses_outlines(const Device& device) { return device.info().kind != DeviceKind::cpu; }

// Returns the outlines of the levels. `linear` maps offsets in the frame to offsets in the moving
// level.
OverlapOutline outline_of(const Shape& reference, const Shape& moving, const Affine& linear) {
  const Affine to_frame = linear.inverse();
  const double half_width = static_cast<double>(moving.width) / 2;
  const double half_height = static_cast<double>(moving.height) / 2;
  return {
      static_cast<float>(reference.width) / 2,      static_cast<float>(reference.height) / 2,
      static_cast<float>(to_frame.a * half_width),  static_cast<float>(to_frame.d * half_width),
      static_cast<float>(to_frame.b * half_height), static_cast<float>(to_frame.e * half_height)};
}

// Returns the coordinate equivalent to `u` modulo `n` that is nearest to `centre`.
double nearest_modulo(double u, double centre, double n) {
  return u - n * std::round((u - centre) / n);
}

Shape slices(const Shape& shape, std::int64_t depth) { return {shape.width, shape.height, depth}; }

// With this gain, orientation fields score like normalized intensities.
double gain_of(const GradientFields::Statistics& statistics) {
  return statistics.energy > 0 ? 1 / std::sqrt(statistics.energy) : 0;
}

// The angle that a warp by `linear` adds to gradient angles.
double rotation_of(const Affine& linear) { return std::atan2(linear.d, linear.a); }

// The mean of a field after a rotation.
Point rotated_mean(Point mean, double angle) {
  const double c = std::cos(2 * angle);
  const double s = std::sin(2 * angle);
  return {c * mean.x - s * mean.y, s * mean.x + c * mean.y};
}

}  // namespace

Affine TranslationSearch::linear_between_levels(const Compared& compared, double rotation_deg,
                                                double scale) {
  Affine linear = Similarity{rotation_deg, compared.scale_between_levels(scale), {}}.matrix(
      {1, 1, 1}, {1, 1, 1});
  linear.c = linear.f = 0;
  return linear;
}

TranslationSearch::FieldFrames::FieldFrames(const Device& device, const Shape& frame,
                                            const Shape& frames)
    : plan(device, {frame, frames.depth}),
      products(device, {frame, frames.depth, true}),
      cosines(device.make_image(PixelType::f32, frames)),
      sines(device.make_image(PixelType::f32, frames)),
      reference_second(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame))),
      moving_seconds(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frames))) {}

TranslationSearch::StoredOverlaps::StoredOverlaps(const Device& device, const Shape& frame,
                                                  std::int64_t batch)
    : counts(device, {frame, batch}),
      peaks(device, {frame, batch}),
      overlaps(device.make_image(PixelType::f32, slices(frame, 2 * batch))) {}

std::int64_t TranslationSearch::batch_on(const Device& device, std::int64_t side,
                                         std::int64_t most) {
  if (device.info().kind != DeviceKind::cpu) return most;
  return std::clamp<std::int64_t>((cached_pixels + side * side / 2) / (side * side), 1, most);
}

TranslationSearch::TranslationSearch(const Device& device, std::int64_t side, std::int64_t batch,
                                     SignalKind signal)
    : device_(device),
      frame_{side, side, 1},
      frames_(slices(frame_, batch)),
      fft_(device, {frame_, 2, FftDirections::forward}),
      fft_batch_(device, {frames_, 2, FftDirections::forward}),
      fft_surfaces_(device, {slices(frame_, 2 * batch), 2, FftDirections::inverse}),
      products_(device, {frame_, batch}),
      warped_reference_(device.make_image(PixelType::f32, frame_)),
      warped_(device.make_image(PixelType::f32, frames_)),
      warped_weights_(device.make_image(PixelType::f32, frames_)),
      reference_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_))),
      reference_weight_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_))),
      moving_spectra_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frames_))),
      products_image_(
          device.make_image(PixelType::c32, RealFftPlan::half_spectrum(slices(frame_, 2 * batch)))),
      surfaces_(device.make_image(PixelType::f32, slices(frame_, 2 * batch))),
      records_(device.make_buffer(2 * static_cast<std::size_t>(batch) * sizeof(PeakRecord))),
      readbacks_{Readback<PeakRecord>(device, 2 * static_cast<std::size_t>(batch)),
                 Readback<PeakRecord>(device, 2 * static_cast<std::size_t>(batch))},
      other_maxima_(device, side, batch) {
  if (uses_outlines(device)) {
    outlined_peaks_.emplace(device, OverlapPeaksSpec{frame_, batch, false, true});
  }
  for (Batch& one : batches_) one.linear.reserve(static_cast<std::size_t>(batch));
  peaks_.reserve(static_cast<std::size_t>(batch));
  if (signal == SignalKind::orientation) fields_.emplace(device, frame_, frames_);
}

const WarpPlan& TranslationSearch::warp_of(const Shape& shape, std::int64_t slices,
                                           bool unit_input) {
  return warps_.get({shape, slices, unit_input}, [&] {
    return WarpPlan(device_, {shape, frame_, slices, unit_input});
  });
}

const InterpolatePlan& TranslationSearch::plane_warp_of(const Shape& shape) {
  return plane_warps_.get(shape, [&] {
    return InterpolatePlan(
        device_,
        {.spline = {.degree = 1, .prefilter = std::nullopt, .boundary = Boundary::grid_constant},
         .images = {.shape = shape},
         .output = frame_});
  });
}

void TranslationSearch::transform_reference(const PairContext& work, PyramidLevel& level) {
  Stream& stream = work.stream;
  StageClock& clock = work.clock;
  ImagePyramid& pyramid = work.reference;
  const WarpPlan& warp = warp_of(level.shape(), 1, false);
  const auto transform = [&](const Image& image, Image& spectrum) {
    clock.run("warp", [&] { warp.execute(stream, image, Affine{}, warped_reference_); });
    clock.run("fft", [&] { fft_.forward(stream, warped_reference_, spectrum); });
  };
  if (level.weight() != nullptr) transform(*level.weight(), reference_weight_);
  if (!fields_) return transform(pyramid.normalized(stream, clock, level), reference_spectrum_);
  const GradientFields::Field field = work.orientation.of(stream, clock, pyramid, level);
  transform(field.cosines, reference_spectrum_);
  transform(field.sines, fields_->reference_second);
  fields_->of_reference = work.orientation.statistics(stream, clock, pyramid, level);
}

// Only the moving image's fields have their means subtracted, which suffices for the products.
void TranslationSearch::transform_fields(Stream& stream, StageClock& clock,
                                         std::span<const Affine> linear) {
  FieldFrames& to = *fields_;
  const double gain = gain_of(to.of_reference) * gain_of(to.of_moving);
  to.terms.clear();
  for (const Affine& map : linear) {
    to.terms.push_back({rotated_mean(to.of_moving.mean, -rotation_of(map)), gain});
  }
  clock.run("double_angle", [&] {
    to.plan.execute(stream, warped_, warped_weights_, to.terms, to.cosines, to.sines);
  });
  clock.run("fft", [&] {
    fft_batch_.forward(stream, to.cosines, moving_spectra_);
    fft_batch_.forward(stream, to.sines, to.moving_seconds);
  });
}

// Correlates the reference with the frames of the moving image.
void TranslationSearch::correlate(Stream& stream, StageClock& clock) {
  clock.run("overlap_products", [&] {
    if (!fields_) {
      return products_.execute(stream, reference_spectrum_, moving_spectra_, products_image_);
    }
    fields_->products.execute(stream, reference_spectrum_, fields_->reference_second,
                              moving_spectra_, fields_->moving_seconds, products_image_);
  });
  clock.run("inverse_fft", [&] { fft_surfaces_.inverse(stream, products_image_, surfaces_); });
}

// Computes the overlap of the reference and each frame of the moving image, in pixels, at every
// shift. Without a mask of the reference this needs no transform.
void TranslationSearch::compute_overlaps(Stream& stream, StageClock& clock,
                                         const PyramidLevel& reference, const Image& weights) {
  if (!stored_) stored_.emplace(device_, frame_, frames_.depth);
  if (reference.weight() == nullptr) {
    clock.run("overlap_counts", [&] {
      stored_->counts.execute(stream, weights, reference.shape(), stored_->overlaps);
    });
    return;
  }
  clock.run("fft", [&] { fft_batch_.forward(stream, weights, moving_spectra_); });
  clock.run("overlap_products", [&] {
    products_.execute(stream, reference_weight_, moving_spectra_, products_image_);
  });
  clock.run("inverse_fft",
            [&] { fft_surfaces_.inverse(stream, products_image_, stored_->overlaps); });
}

OverlapLimits TranslationSearch::overlap_limits(const Compared& compared,
                                                const KnownRotationScale& known,
                                                const Affine& linear) const {
  const auto n = static_cast<double>(frame_.width);
  const double c = std::floor(n / 2);
  const Shape& reference = compared.reference_level.shape();
  const Point centre = centre_of(reference);
  const UnmaskedPixels counted{compared.reference.num_unmasked(reference.plane()),
                               compared.moving.num_unmasked(compared.moving_level.shape().plane())};
  const double smaller = counted.smaller_area(compared.scale_between_levels(known.scale));
  OverlapLimits allowed;
  allowed.min_overlap =
      static_cast<float>(std::max(min_overlap_pixels, min_overlap_fraction * smaller));
  allowed.reach =
      static_cast<float>(known.max_shift.length / known.scale / compared.spacings.reference);
  allowed.centre_x = static_cast<float>(modulo(centre.x - c, n));
  allowed.centre_y = static_cast<float>(modulo(centre.y - c, n));
  allowed.mirrored_centre_x = static_cast<float>(modulo(centre.x + c, n));
  allowed.mirrored_centre_y = static_cast<float>(modulo(centre.y + c, n));
  // A centre may lie between pixels of a level. One pixel more keeps the nearest shift allowed,
  // even if the limit is smaller than its distance.
  const double spacing = compared.spacings.moving;
  if (known.max_shift.x > 0) {
    const double edge = known.max_shift.x / spacing + 1;
    allowed.first_x = static_cast<float>(linear.a / edge);
    allowed.first_y = static_cast<float>(linear.b / edge);
  }
  if (known.max_shift.y > 0) {
    const double edge = known.max_shift.y / spacing + 1;
    allowed.second_x = static_cast<float>(linear.d / edge);
    allowed.second_y = static_cast<float>(linear.e / edge);
  }
  return allowed;
}

// The reference lies in the corner of the padded frame, and the rotated moving level in its middle
// c: rotated(x) = moving(A (x - c) + centre). A peak at d of the first surface means reference(x) =
// rotated(x - d), and a peak of the mirrored surface means reference(x) = rotated(d - x). The
// centre of the moving level therefore lies at d + c, and for 180 degrees more at d - c.
TranslationSearch::Peaks TranslationSearch::peaks_of(const PeakRecord* records, const Batch& batch,
                                                     const Affine& linear) const {
  const auto n = static_cast<double>(frame_.width);
  const double c = std::floor(n / 2);
  Peaks peaks;
  for (std::size_t opposite = 0; opposite < 2; ++opposite) {
    const Point d = subpixel_position(records[opposite]);
    const double sign = opposite == 0 ? 1 : -1;
    const Point moving_centre{nearest_modulo(d.x + sign * c, batch.reference_centre.x, n),
                              nearest_modulo(d.y + sign * c, batch.reference_centre.y, n)};
    const Affine rotated{sign * linear.a, sign * linear.b, 0, sign * linear.d, sign * linear.e, 0};
    const Affine between_levels =
        Affine::translation(batch.moving_centre.x, batch.moving_centre.y) * rotated *
        Affine::translation(-moving_centre.x, -moving_centre.y);
    peaks[opposite] = {batch.to_moving_image * between_levels * batch.from_reference_image,
                       static_cast<double>(records[opposite].value)};
  }
  return peaks;
}

void TranslationSearch::clear_next() {
  next_batch().linear.clear();
  frames_to_moving_.clear();
  limits_.clear();
  outlines_.clear();
}

void TranslationSearch::add(const Compared& compared, const Affine& linear,
                            const OverlapLimits& limits) {
  const double c = std::floor(static_cast<double>(frame_.width) / 2);
  const Point centre = centre_of(compared.moving_level.shape());
  next_batch().linear.push_back(linear);
  frames_to_moving_.push_back(Affine::translation(centre.x, centre.y) * linear *
                              Affine::translation(-c, -c));
  limits_.push_back(limits);
  outlines_.push_back(
      outline_of(compared.reference_level.shape(), compared.moving_level.shape(), linear));
}

// The unused frames of a partial batch hold old data; take_next() ignores their peaks.
void TranslationSearch::find_peaks(Stream& stream, bool by_outlines) {
  const auto frames = static_cast<std::size_t>(frames_.depth);
  const bool alike = std::all_of(limits_.begin(), limits_.end(), [&](const OverlapLimits& limits) {
    return limits == limits_.front();
  });
  limits_.resize(alike ? 1 : frames, limits_.back());
  if (by_outlines) {
    outlines_.resize(frames, outlines_.back());
    outlined_peaks_->execute_outlines(stream, surfaces_, outlines_, limits_, records_);
  } else if (alike) {
    stored_->peaks.execute(stream, surfaces_, stored_->overlaps, limits_.front(), records_);
  } else {
    stored_->peaks.execute_each(stream, surfaces_, stored_->overlaps, limits_, records_);
  }
}

// Transforms the frames to one spectrum each, or to the spectra of two fields each.
void TranslationSearch::transform_moving(Stream& stream, StageClock& clock,
                                         std::span<const Affine> linear) {
  if (fields_) return transform_fields(stream, clock, linear);
  clock.run("fft", [&] { fft_batch_.forward(stream, warped_, moving_spectra_); });
}

// Without masks the overlaps follow from the outlines of the levels. Gradient orientation needs the
// weights in any case, because a field is only valid at unmasked pixels.
template <class WarpAll>
bool TranslationSearch::correlate_batch(const PairContext& work, const Compared& compared,
                                        bool stores_overlaps, WarpAll warp_all) {
  Stream& stream = work.stream;
  StageClock& clock = work.clock;
  PyramidLevel& level = compared.moving_level;
  const auto warp = [&](const Image& image, Image& frames, bool unit_input) {
    clock.run("warp", [&] { warp_all(image, frames, unit_input); });
  };
  warp(compared.moving.normalized(stream, clock, level), warped_, false);
  const bool by_outlines = !stores_overlaps && outlined_peaks_ &&
                           compared.reference_level.weight() == nullptr &&
                           level.weight() == nullptr;
  if (!by_outlines || fields_) {
    const bool all_count = level.weight() == nullptr;
    warp(all_count ? work.unit_weights.of(stream, level.shape()) : *level.weight(), warped_weights_,
         all_count);
  }
  transform_moving(stream, clock, next_batch().linear);
  correlate(stream, clock);
  if (!by_outlines) compute_overlaps(stream, clock, compared.reference_level, warped_weights_);
  return by_outlines;
}

void TranslationSearch::compare(const PairContext& work, const Compared& compared) {
  if (frames_to_moving_.empty()) return;
  Batch& batch = next_batch();
  batch.reference_centre = centre_of(compared.reference_level.shape());
  batch.moving_centre = centre_of(compared.moving_level.shape());
  batch.from_reference_image = compared.reference_level.to_image().inverse();
  batch.to_moving_image = compared.moving_level.to_image();
  batch.reference_level = compared.reference_level.shape();
  batch.limits = limits_.front();
  const Shape& level = compared.moving_level.shape();
  const bool by_outlines = correlate_batch(
      work, compared, false, [&](const Image& image, Image& frames, bool unit_input) {
        warp_of(level, frames_.depth, unit_input)
            .execute(work.stream, image, frames_to_moving_, frames);
      });
  batch.outline.reset();
  if (by_outlines) batch.outline = outlines_.front();
  work.clock.run("overlap_peaks", [&] { find_peaks(work.stream, by_outlines); });
  readbacks_[enqueued_ % 2].enqueue(work.stream, records_);
  ++enqueued_;
  if (enqueued_ - taken_ > 1) take_next();
  clear_next();
}

TranslationSearch::Correlations TranslationSearch::correlate_all(const PairContext& work,
                                                                 const Affine& similarity,
                                                                 const Homography& transform) {
  clear_next();
  const double scale = scale_of(similarity);
  const KnownRotationScale known{{}, scale, nearest_base(scale), {}};
  if (fields_) measure_fields(work, {&known, 1});
  const Compared compared = begin(work, known.base);
  const Homography between = Homography(compared.moving_level.to_image().inverse()) * transform *
                             Homography(compared.reference_level.to_image());
  const Shape& reference_level = compared.reference_level.shape();
  Affine linear = between.affine_at(centre_of(reference_level));
  linear.c = linear.f = 0;
  const OverlapLimits limits = overlap_limits(compared, known, linear);
  add(compared, linear, limits);
  const Affine to_image = compared.reference_level.to_image();
  const CorrelationFrame frame{frame_.width,
                               reference_level,
                               {to_image.a, to_image.e},
                               static_cast<double>(limits.min_overlap)};
  const Point origin = frame.origin();
  const Homography frame_to_moving = between * Affine::translation(origin.x, origin.y);
  const Shape& level = compared.moving_level.shape();
  correlate_batch(work, compared, true, [&](const Image& image, Image& frames, bool of_ones) {
    if (frame_to_moving.is_affine()) {
      const Affine map = frame_to_moving.affine();
      warp_of(level, frames_.depth, of_ones).execute(work.stream, image, map, frames);
    } else {
      plane_warp_of(level).execute(work.stream, image, frame_to_moving, frames);
    }
  });
  clear_next();
  return {frame, surfaces_, stored_->overlaps};
}

// The batch's surfaces, overlaps and records are still there.
bool TranslationSearch::is_only_maximum(Stream& stream, std::size_t opposite) {
  const Batch& batch = batches_[(taken_ + 1) % 2];
  const OverlapLimits& limits = batch.limits;
  const PeakRecord& peak = first_records_[opposite];
  const auto side = static_cast<int>(frame_.width);
  ShiftRegion region;
  region.slice = static_cast<int>(opposite);
  region.origin_x = peak.x;
  region.origin_y = peak.y;
  region.reach_x = region.reach_y = side / 2;
  region.min_overlap = limits.min_overlap;
  region.ring = ring_of(batch.reference_level);
  if (!batch.outline) {
    return !other_maxima_.may_exist(stream, surfaces_, stored_->overlaps, region);
  }
  const bool mirrored = opposite == 1;
  const CentredOutline outline{*batch.outline,
                               mirrored ? limits.mirrored_centre_x : limits.centre_x,
                               mirrored ? limits.mirrored_centre_y : limits.centre_y};
  return !other_maxima_.may_exist(stream, surfaces_, outline, region);
}

void TranslationSearch::take_next() {
  if (taken_ == enqueued_) return;
  const Batch& batch = batches_[taken_ % 2];
  const PeakRecord* records = readbacks_[taken_ % 2].wait().data();
  first_records_ = {records[0], records[1]};
  for (const Affine& linear : batch.linear) {
    peaks_.push_back(peaks_of(records, batch, linear));
    records += 2;
  }
  ++taken_;
}

TranslationSearch::Compared TranslationSearch::levels_of(const PairContext& work, double base) {
  const Spacings spacings =
      shift_spacings(base, work.reference.shape(), work.moving.shape(), frame_.width);
  return {work.reference, work.moving, spacings,
          work.reference.level(work.stream, work.clock, {spacings.reference}),
          work.moving.level(work.stream, work.clock, {spacings.moving})};
}

void TranslationSearch::measure_fields(const PairContext& work,
                                       std::span<const KnownRotationScale> known) {
  const auto measure = [&](ImagePyramid& pyramid, PyramidLevel& level) {
    work.orientation.measure(work.stream, work.clock, pyramid, level);
  };
  for (std::size_t i = 0; i < known.size() && !work.is_cancelled(); ++i) {
    if (i > 0 && known[i].base == known[i - 1].base) continue;
    const Compared compared = levels_of(work, known[i].base);
    measure(compared.reference, compared.reference_level);
    measure(compared.moving, compared.moving_level);
  }
}

TranslationSearch::Compared TranslationSearch::begin(const PairContext& work, double base) {
  const Compared compared = levels_of(work, base);
  transform_reference(work, compared.reference_level);
  if (fields_) {
    fields_->of_moving =
        work.orientation.statistics(work.stream, work.clock, work.moving, compared.moving_level);
  }
  return compared;
}

std::span<const TranslationSearch::Peaks> TranslationSearch::find(
    const PairContext& work, std::span<const KnownRotationScale> known) {
  peaks_.clear();
  taken_ = enqueued_;  // may have pending batches after an error
  clear_next();
  if (fields_) measure_fields(work, known);
  const auto most = static_cast<std::size_t>(frames_.depth);
  for (auto of_base = known.begin(); of_base != known.end();) {
    const Compared compared = begin(work, of_base->base);
    const double base = of_base->base;
    for (; of_base != known.end() && of_base->base == base; ++of_base) {
      if (work.is_cancelled()) return peaks_;
      for (const double degrees : of_base->rotations_deg) {
        const Affine linear = linear_between_levels(compared, degrees, of_base->scale);
        add(compared, linear, overlap_limits(compared, *of_base, linear));
        if (frames_to_moving_.size() == most) compare(work, compared);
      }
    }
    compare(work, compared);
  }
  take_next();
  return peaks_;
}

}  // namespace warpalign::detail

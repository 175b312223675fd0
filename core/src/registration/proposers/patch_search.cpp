// Finds homographies by template matching of patches of the reference in the moving image.
#include "registration/proposers/patch_search.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/pair/rotation_scale_limits.hpp"
#include "registration/pyramid/host_copy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace warpalign::detail {

namespace {

constexpr std::int64_t patch_side = 28;  // in pixels of the reference's level
constexpr double rotation_step = 15;  // degrees; the opposite rotation is matched at the same time
constexpr std::array scales{1.0, 1.25, 0.8, 1.6, 0.63};
// A plane tilted by 60 degrees appears compressed to half its width. Template matching tolerates a
// remaining stretch of about 1.5.
constexpr double tilt = 2;
constexpr double direction_step = 45;
constexpr std::array tilted_scales{1.0, 1.4, 0.71};
// Limits of the search for patches along a homography: number of passes, shift, scale.
constexpr int max_followed = 4;
constexpr double max_followed_shift = 14;  // in pixels of the reference's level
constexpr double max_followed_scale = 8;
// The fraction of a patch's pixels that must be unmasked in both images.
constexpr double min_patch_fraction = 0.6;

Shape slices(const PatchGrid& grid, std::int64_t depth) {
  return {grid.frame_side, grid.frame_side, depth};
}
Shape patches_shape(const PatchGrid& grid) { return slices(grid, grid.at_once()); }
Shape surfaces_shape(const PatchGrid& grid) { return slices(grid, 2 * grid.at_once()); }

}  // namespace

PatchSearch::PatchSearch(const Device& device, const RegistrationOptions& options,
                         const PatchGrid& grid)
    : device_(device),
      options_(options),
      rotations_(
          rotations_within(RotationScaleLimits::of(options, rotation_step / 2), rotation_step)),
      grid_(grid),
      frame_(slices(grid, 1)),
      fft_(device, {frame_, 2, FftDirections::forward}),
      fft_patches_(device, {patches_shape(grid), 2, FftDirections::forward}),
      fft_surfaces_(device, {surfaces_shape(grid), 2, FftDirections::inverse}),
      products_(device, {frame_, grid.at_once()}),
      counts_plan_(device, {frame_, 1, false}),
      peaks_plan_(device, {frame_, grid.at_once()}),
      unmasked_peaks_plan_(device, {frame_, grid.at_once(), true}),
      patches_image_(device.make_image(PixelType::f32, patches_shape(grid))),
      patches_weight_(device.make_image(PixelType::f32, patches_shape(grid))),
      warped_(device.make_image(PixelType::f32, frame_)),
      warped_weight_(device.make_image(PixelType::f32, frame_)),
      spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_))),
      weight_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_))),
      products_image_(
          device.make_image(PixelType::c32, RealFftPlan::half_spectrum(surfaces_shape(grid)))),
      surfaces_(device.make_image(PixelType::f32, surfaces_shape(grid))),
      overlaps_(device.make_image(PixelType::f32, surfaces_shape(grid))),
      unmasked_overlaps_(device.make_image(PixelType::f32, slices(grid, 2))),
      records_(device.make_buffer(static_cast<std::size_t>(surfaces_shape(grid).depth) *
                                  sizeof(PeakRecord))),
      peaks_{make_peaks(), make_peaks()} {
  const Shape spectra = RealFftPlan::half_spectrum(patches_shape(grid));
  for (std::int64_t part = 0; part < grid.parts; ++part) {
    parts_.push_back(
        {device.make_image(PixelType::c32, spectra), device.make_image(PixelType::c32, spectra)});
  }
}

PatchSearch::~PatchSearch() = default;

PatchSearch::Peaks PatchSearch::make_peaks() const {
  Peaks peaks;
  for (std::int64_t part = 0; part < grid_.parts; ++part) {
    peaks.emplace_back(device_, surfaces_shape(grid_).depth);
  }
  return peaks;
}

// The result is valid until the next call.
std::span<const PeakRecord> PatchSearch::wait_for(Peaks& peaks) {
  found_peaks_.clear();
  for (Readback<PeakRecord>& part : peaks) {
    const std::span<const PeakRecord> records = part.wait();
    found_peaks_.insert(found_peaks_.end(), records.begin(), records.end());
  }
  return found_peaks_;
}

// Spreads the patches evenly over the reference's level, overlapping by at most half.
void PatchSearch::choose_patches(const PairContext& work, PyramidLevel& level) {
  const Shape& shape = level.shape();
  const Image& normalized = work.reference.normalized(work.stream, work.clock, level);
  copy_to_host(work.stream, normalized, values_);
  counts_.assign(values_.size(), 1);
  unmasked_ = level.weight() == nullptr;
  if (!unmasked_) copy_to_host(work.stream, *level.weight(), counts_);
  patch_shape_ = {std::min(patch_side, shape.width), std::min(patch_side, shape.height), 1};
  const auto along = [&](std::int64_t n, std::int64_t other) {
    const std::int64_t most = n >= other ? grid_.along_longer : grid_.along_shorter;
    return std::clamp<std::int64_t>(2 * (n - patch_side) / patch_side + 1, 1, most);
  };
  const std::int64_t across = along(shape.width, shape.height);
  const std::int64_t down = along(shape.height, shape.width + 1);
  const auto start = [](std::int64_t i, std::int64_t count, std::int64_t n) {
    const std::int64_t rest = std::max<std::int64_t>(n - patch_side, 0);
    return count > 1 ? i * rest / (count - 1) : rest / 2;
  };
  patches_.clear();
  for (std::int64_t j = 0; j < down; ++j) {
    for (std::int64_t i = 0; i < across; ++i) {
      patches_.push_back({static_cast<double>(start(i, across, shape.width)),
                          static_cast<double>(start(j, down, shape.height))});
    }
  }
}

// Writes each patch of a part to the corner of its own frame.
void PatchSearch::stage_patches(std::size_t part, std::int64_t level_width) {
  const auto plane = static_cast<std::size_t>(frame_.plane());
  const auto at_once = static_cast<std::size_t>(grid_.at_once());
  staged_.assign(plane * at_once, 0);
  staged_counts_.assign(staged_.size(), 0);
  const std::size_t first = part * at_once;
  const std::size_t end = std::min(patches_.size(), first + at_once);
  for (std::size_t w = first; w < end; ++w) {
    const auto left = static_cast<std::int64_t>(patches_[w].left);
    const auto top = static_cast<std::int64_t>(patches_[w].top);
    for (std::int64_t y = 0; y < patch_shape_.height; ++y) {
      for (std::int64_t x = 0; x < patch_shape_.width; ++x) {
        const auto from = static_cast<std::size_t>((top + y) * level_width + left + x);
        const std::size_t to =
            (w - first) * plane + static_cast<std::size_t>(y * grid_.frame_side + x);
        staged_[to] = values_[from];
        staged_counts_[to] = counts_[from];
      }
    }
  }
}

void PatchSearch::transform_patches(const PairContext& work, std::int64_t level_width) {
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    stage_patches(part, level_width);
    work.clock.run("upload", [&] {
      work.stream.upload(staged_.data(), staged_.size() * sizeof(float), patches_image_.buffer());
      if (unmasked_) return;
      work.stream.upload(staged_counts_.data(), staged_counts_.size() * sizeof(float),
                         patches_weight_.buffer());
    });
    work.clock.run("fft", [&] {
      fft_patches_.forward(work.stream, patches_image_, parts_[part].spectra);
      if (unmasked_) return;
      fft_patches_.forward(work.stream, patches_weight_, parts_[part].weight_spectra);
    });
  }
}

void PatchSearch::warp_moving(const PairContext& work, PyramidLevel& level,
                              const Affine& frame_to_level) {
  const WarpPlan& warp = warps_.get(level.shape(), [&] {
    return WarpPlan(device_, {level.shape(), frame_});
  });
  const Image& weight = level.weight() != nullptr
                            ? *level.weight()
                            : work.unit_weights.of(work.stream, level.shape());
  const auto warp_to = [&](const Image& image, Image& warped) {
    work.clock.run("warp", [&] { warp.execute(work.stream, image, frame_to_level, warped); });
  };
  warp_to(work.moving.normalized(work.stream, work.clock, level), warped_);
  warp_to(weight, warped_weight_);
}

// Computes the overlap of each patch of a part and the frame, in pixels, at every shift. Patches
// without masked pixels have equal overlaps and need no transform.
void PatchSearch::compute_overlaps(const PairContext& work, const Part& part) {
  work.clock.run("overlap_products", [&] {
    products_.execute(work.stream, weight_spectrum_, part.weight_spectra, products_image_);
  });
  work.clock.run("inverse_fft",
                 [&] { fft_surfaces_.inverse(work.stream, products_image_, overlaps_); });
}

// Correlates all patches with the frame.
void PatchSearch::match_patches(const PairContext& work, Peaks& peaks) {
  work.clock.run("fft", [&] {
    fft_.forward(work.stream, warped_, spectrum_);
    if (!unmasked_) fft_.forward(work.stream, warped_weight_, weight_spectrum_);
  });
  if (unmasked_) {
    work.clock.run("overlap_counts", [&] {
      counts_plan_.execute(work.stream, warped_weight_, patch_shape_, unmasked_overlaps_);
    });
  }
  OverlapLimits limits;
  limits.min_overlap = static_cast<float>(min_patch_fraction * patch_side * patch_side);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    work.clock.run("overlap_products", [&] {
      products_.execute(work.stream, spectrum_, part.spectra, products_image_);
    });
    work.clock.run("inverse_fft",
                   [&] { fft_surfaces_.inverse(work.stream, products_image_, surfaces_); });
    if (!unmasked_) compute_overlaps(work, part);
    work.clock.run("overlap_peaks", [&] {
      if (unmasked_) {
        return unmasked_peaks_plan_.execute(work.stream, surfaces_, unmasked_overlaps_, limits,
                                            records_);
      }
      peaks_plan_.execute(work.stream, surfaces_, overlaps_, limits, records_);
    });
    peaks[i].enqueue(work.stream, records_);
  }
}

// The moving level, rotated back and resampled to the reference level's scale, lies in the middle
// of the frame: frame(x) = moving(A (x - c) + centre). A patch with the corner (0, 0) that matches
// at d lies at d, or at -d if it matches with the opposite rotation.
PatchSearch::ComparedView PatchSearch::compare_view(const PairContext& work,
                                                    const PyramidLevel& reference,
                                                    const PatchView& view, Peaks& peaks) {
  const double spacing = std::max(1.0, reference.sampling().spacing * view.scale);
  PyramidLevel& moving = work.moving.level(work.stream, work.clock, {spacing});
  PatchView between_levels = view;
  between_levels.scale *= reference.sampling().spacing / spacing;
  const double c = std::floor(side() / 2);
  const Point centre = centre_of(moving.shape());
  const Affine frame_to_level = Affine::translation(centre.x, centre.y) * between_levels.linear() *
                                Affine::translation(-c, -c);
  warp_moving(work, moving, frame_to_level);
  match_patches(work, peaks);
  return {view, moving.to_image() * frame_to_level};
}

void PatchSearch::take_matches(const PyramidLevel& reference, const ComparedView& compared,
                               std::span<const PeakRecord> peaks) {
  const double middle = static_cast<double>(patch_side - 1) / 2;
  const RotationScaleLimits angles = RotationScaleLimits::of(options_, rotation_step / 2);
  for (std::size_t opposite = 0; opposite < 2; ++opposite) {
    const double degrees = compared.view.rotation_deg + (opposite == 1 ? 180 : 0);
    if (!angles.allows_angle(degrees)) continue;
    const double sign = opposite == 0 ? 1 : -1;
    for (std::size_t w = 0; w < patches_.size(); ++w) {
      const PeakRecord& record = peaks[2 * w + opposite];
      const Point d = subpixel_position(record);
      PatchMatch match;
      match.window = w;
      match.reference = reference.to_image()({patches_[w].left + middle, patches_[w].top + middle});
      match.moving = compared.frame_to_image(
          {modulo(d.x + sign * middle, side()), modulo(d.y + sign * middle, side())});
      match.view = compared.view;
      match.view.rotation_deg = degrees;
      match.correlation = static_cast<double>(record.value) / static_cast<double>(patch_side);
      matches_.push_back(match);
    }
  }
}

// Divides each correlation by the median of its patch. Patches of faint or repeated texture have a
// high median.
void PatchSearch::normalize_by_medians() {
  relative_ = matches_;
  medians_.assign(patches_.size(), 0);
  for (std::size_t w = 0; w < patches_.size(); ++w) {
    correlations_.clear();
    for (const PatchMatch& match : matches_) {
      if (match.window == w) correlations_.push_back(match.correlation);
    }
    if (correlations_.empty()) continue;
    const auto middle =
        correlations_.begin() + static_cast<std::ptrdiff_t>(correlations_.size() / 2);
    std::nth_element(correlations_.begin(), middle, correlations_.end());
    if (!(*middle > 0)) continue;
    medians_[w] = *middle;
    for (PatchMatch& match : relative_) {
      if (match.window == w) match.correlation /= *middle;
    }
  }
}

PyramidLevel& PatchSearch::patch_level(const PairContext& work) const {
  const double spacing = std::max(1.0, larger_side(work.reference.shape()) / grid_.level_side);
  return work.reference.level(work.stream, work.clock, {spacing});
}

void PatchSearch::add_views(std::span<const double> scales, const PatchView& tilted) {
  const RotationScaleLimits limits = RotationScaleLimits::of(options_);
  PatchView view = tilted;
  for (const double scale : scales) {
    if (!limits.allows_scale(scale)) continue;
    view.scale = scale;
    for (const double degrees : rotations_) {
      view.rotation_deg = degrees;
      views_.push_back(view);
    }
  }
}

// Takes the matches of the previous view while the device processes the next one.
void PatchSearch::match_views(const PairContext& work, std::span<const PatchView> views) {
  const PyramidLevel& reference = begin(work);
  std::optional<ComparedView> last;
  std::size_t turn = 0;
  const auto take_last = [&] {
    if (last) take_matches(reference, *last, wait_for(peaks_[1 - turn]));
  };
  for (const PatchView& view : views) {
    if (work.is_cancelled()) return;
    const ComparedView compared = compare_view(work, reference, view, peaks_[turn]);
    take_last();
    last = compared;
    turn = 1 - turn;
  }
  take_last();
}

void PatchSearch::match_all(const PairContext& work) {
  const std::span<const PatchView> all(views_);
  const std::size_t own = work.threads != nullptr ? (all.size() + 1) / 2 : all.size();
  const auto match_own = [&] { match_views(work, all.first(own)); };
  if (own < all.size()) {
    const auto match_others = [&](const PairContext& fork, PatchSearch& search) {
      search.matches_.clear();
      search.match_views(fork, all.subspan(own));
    };
    worker_->run(match_others, match_own);
    const std::vector<PatchMatch>& found = worker_->state().matches_;
    matches_.insert(matches_.end(), found.begin(), found.end());
  } else {
    match_own();
  }
  views_.clear();
}

VoteOptions PatchSearch::vote_options(const PyramidLevel& reference) const {
  const double spacing = reference.sampling().spacing;
  VoteOptions options;
  options.max_disagreement *= spacing;
  options.tolerance *= spacing;
  return options;
}

std::span<const HomographyHypothesis> PatchSearch::count_votes(const PairContext& work,
                                                               const PyramidLevel& reference) {
  normalize_by_medians();
  const VoteOptions options = vote_options(reference);
  const auto found = votes_.find(relative_, options);
  found_.assign(found.begin(), found.end());
  return follow_all(work, reference, options);
}

// Follows each of found_. A homography that patches agree on by chance finds no more patches.
std::span<const HomographyHypothesis> PatchSearch::follow_all(const PairContext& work,
                                                              const PyramidLevel& reference,
                                                              const VoteOptions& options) {
  for (HomographyHypothesis& homography : found_) {
    homography = refined_along(work, reference, homography, options);
  }
  std::erase_if(found_, [&](const HomographyHypothesis& homography) {
    return homography.windows < options.min_inliers;
  });
  std::sort(found_.begin(), found_.end(),
            [](const HomographyHypothesis& a, const HomographyHypothesis& b) {
              return a.votes > b.votes;
            });
  return found_;
}

// A homography that a few patches in one region of the image agree on predicts the positions of the
// other patches approximately. Warping the image by it finds these patches, which improves the
// homography, and so on.
HomographyHypothesis PatchSearch::refined_along(const PairContext& work,
                                                const PyramidLevel& reference,
                                                const HomographyHypothesis& found,
                                                const VoteOptions& options) {
  HomographyHypothesis best = found;
  for (int i = 0; i < max_followed; ++i) {
    match_along(work, reference, best.matrix);
    const HomographyHypothesis next = votes_.improved(best, along_, options);
    const bool is_same = next.matrix.h == best.matrix.h;
    best = next;
    if (is_same) break;
  }
  return best;
}

void PatchSearch::resample_moving(const PairContext& work, PyramidLevel& level,
                                  const Homography& frame_to_level) {
  const InterpolatePlan& plan = bilinear_.get(level.shape(), [&] {
    return InterpolatePlan(device_, {.spline = {.degree = 1, .boundary = Boundary::grid_constant},
                                     .images = {.shape = level.shape()},
                                     .output = frame_});
  });
  const Image& weight = level.weight() != nullptr
                            ? *level.weight()
                            : work.unit_weights.of(work.stream, level.shape());
  const auto resample_to = [&](const Image& image, Image& warped) {
    work.clock.run("interpolate",
                   [&] { plan.execute(work.stream, image, frame_to_level, warped); });
  };
  resample_to(work.moving.normalized(work.stream, work.clock, level), warped_);
  resample_to(weight, warped_weight_);
}

// Matches all patches near the positions that a homography predicts. The frame is the reference's
// level here: a patch that lies exactly at its predicted position matches at its own corner.
void PatchSearch::match_along(const PairContext& work, const PyramidLevel& reference,
                              const Homography& found) {
  along_.clear();
  const Affine about = found.affine_at(centre_of(work.reference.shape()));
  const double scale = scale_of(about);
  if (!(scale > 1 / max_followed_scale && scale < max_followed_scale)) return;
  const double spacing = std::max(1.0, reference.sampling().spacing * scale);
  PyramidLevel& moving = work.moving.level(work.stream, work.clock, {spacing});
  resample_moving(work, moving,
                  Homography(moving.to_image().inverse()) * found * reference.to_image());
  match_patches(work, peaks_[0]);
  const std::span<const PeakRecord> peaks = wait_for(peaks_[0]);
  const double middle = static_cast<double>(patch_side - 1) / 2;
  for (std::size_t w = 0; w < patches_.size(); ++w) {
    const PeakRecord& record = peaks[2 * w];
    const Point d = subpixel_position(record);
    const Point shift{std::remainder(d.x - patches_[w].left, side()),
                      std::remainder(d.y - patches_[w].top, side())};
    if (!(std::hypot(shift.x, shift.y) <= max_followed_shift) || !(medians_[w] > 0)) continue;
    const Point centre{patches_[w].left + middle, patches_[w].top + middle};
    PatchMatch match;
    match.window = w;
    match.reference = reference.to_image()(centre);
    match.moving = found(reference.to_image()({centre.x + shift.x, centre.y + shift.y}));
    match.view = view_of(found.affine_at(match.reference));
    match.correlation =
        static_cast<double>(record.value) / static_cast<double>(patch_side) / medians_[w];
    along_.push_back(match);
  }
}

const PyramidLevel& PatchSearch::begin(const PairContext& work) {
  PyramidLevel& level = patch_level(work);
  if (has_patches_) return level;
  choose_patches(work, level);
  transform_patches(work, level.shape().width);
  has_patches_ = true;
  return level;
}

void PatchSearch::begin_pair(const PairContext& work) {
  has_patches_ = false;
  matches_.clear();
  views_.clear();
  if (work.threads == nullptr) return;
  if (!worker_) {
    worker_ = std::make_unique<ForkedWorker<PatchSearch>>(device_, work.threads, device_, options_,
                                                          grid_);
  }
  worker_->state().has_patches_ = false;
  worker_->begin_pair(work);
}

std::span<const HomographyHypothesis> PatchSearch::find(const PairContext& work) {
  begin_pair(work);
  add_views(scales, {});
  match_all(work);
  return count_votes(work, begin(work));
}

// The views of one scale suffice to compute the medians.
std::span<const HomographyHypothesis> PatchSearch::find_along(const PairContext& work,
                                                              const Homography& known) {
  begin_pair(work);
  const double scale = scale_of(known.affine_at(centre_of(work.reference.shape())));
  const std::array nearest{*std::min_element(scales.begin(), scales.end(), [&](double a, double b) {
    return std::abs(std::log(a / scale)) < std::abs(std::log(b / scale));
  })};
  add_views(nearest, {});
  match_all(work);
  normalize_by_medians();
  found_.assign(1, {known, 0, 0});
  const PyramidLevel& level = begin(work);
  return follow_all(work, level, vote_options(level));
}

std::span<const HomographyHypothesis> PatchSearch::find_tilted(const PairContext& work) {
  for (double direction = 0; direction < 180; direction += direction_step) {
    add_views(tilted_scales, {0, 1, tilt, direction});
  }
  match_all(work);
  return count_votes(work, begin(work));
}

}  // namespace warpalign::detail

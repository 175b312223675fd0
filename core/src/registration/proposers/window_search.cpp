// Homographies from windows of the reference that are looked for in the moving image.
#include "registration/proposers/window_search.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/pair/rotation_scale_limits.hpp"
#include "registration/pyramid/host_copy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace warpalign::detail {

namespace {

constexpr std::int64_t window_side = 28;  // in pixels of the reference's level
constexpr double rotation_step = 15;      // degrees; each rotation stands for its opposite as well
constexpr std::array scales{1.0, 1.25, 0.8, 1.6, 0.63};
// A plane that is turned by 60 degrees appears half as wide. Windows are found where the stretch
// that is left is below about 1.5.
constexpr double stretch = 2;
constexpr double direction_step = 45;
constexpr std::array stretched_scales{1.0, 1.4, 0.71};
// How often, how far and up to which scale windows are looked for along a homography.
constexpr int max_followed = 4;
constexpr double max_followed_shift = 14;  // in pixels of the reference's level
constexpr double max_followed_scale = 8;
// Of a window's pixels, how many must count in both images.
constexpr double min_window_part = 0.6;

Shape slices(const WindowCover& grid, std::int64_t depth) {
  return {grid.frame_side, grid.frame_side, depth};
}
Shape of_windows(const WindowCover& grid) { return slices(grid, grid.at_once()); }
Shape of_surfaces(const WindowCover& grid) { return slices(grid, 2 * grid.at_once()); }

double modulo(double x, double side) { return x - side * std::floor(x / side); }

}  // namespace

WindowSearch::WindowSearch(const Device& device, const RegistrationOptions& options,
                           const WindowCover& grid)
    : device_(device),
      options_(options),
      rotations_(
          rotations_within(RotationScaleLimits::of(options, rotation_step / 2), rotation_step)),
      grid_(grid),
      frame_(slices(grid, 1)),
      fft_(device, {frame_, 2, FftDirections::forward}),
      fft_windows_(device, {of_windows(grid), 2, FftDirections::forward}),
      fft_surfaces_(device, {of_surfaces(grid), 2, FftDirections::inverse}),
      products_(device, {frame_, grid.at_once()}),
      counts_plan_(device, {frame_, 1, false}),
      peaks_plan_(device, {frame_, grid.at_once()}),
      alike_peaks_plan_(device, {frame_, grid.at_once(), true}),
      windows_image_(device.make_image(PixelType::f32, of_windows(grid))),
      windows_weight_(device.make_image(PixelType::f32, of_windows(grid))),
      warped_(device.make_image(PixelType::f32, frame_)),
      warped_weight_(device.make_image(PixelType::f32, frame_)),
      spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_))),
      weight_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_))),
      products_image_(
          device.make_image(PixelType::c32, RealFftPlan::half_spectrum(of_surfaces(grid)))),
      surfaces_(device.make_image(PixelType::f32, of_surfaces(grid))),
      overlaps_(device.make_image(PixelType::f32, of_surfaces(grid))),
      alike_overlaps_(device.make_image(PixelType::f32, slices(grid, 2))),
      records_(device.make_buffer(static_cast<std::size_t>(of_surfaces(grid).depth) *
                                  sizeof(PeakRecord))),
      peaks_{make_peaks(), make_peaks()} {
  const Shape spectra = RealFftPlan::half_spectrum(of_windows(grid));
  for (std::int64_t part = 0; part < grid.parts; ++part) {
    parts_.push_back(
        {device.make_image(PixelType::c32, spectra), device.make_image(PixelType::c32, spectra)});
  }
}

WindowSearch::~WindowSearch() = default;

WindowSearch::Peaks WindowSearch::make_peaks() const {
  Peaks peaks;
  for (std::int64_t part = 0; part < grid_.parts; ++part) {
    peaks.emplace_back(device_, of_surfaces(grid_).depth);
  }
  return peaks;
}

// Valid until the next call.
std::span<const PeakRecord> WindowSearch::wait_for(Peaks& peaks) {
  found_peaks_.clear();
  for (Readback<PeakRecord>& part : peaks) {
    const std::span<const PeakRecord> records = part.wait();
    found_peaks_.insert(found_peaks_.end(), records.begin(), records.end());
  }
  return found_peaks_;
}

// Windows that overlap by half at most, spread evenly over the reference's level.
void WindowSearch::choose_windows(const PairContext& work, PyramidLevel& level) {
  const Shape& shape = level.shape();
  const Image& normalized = work.reference.normalized(work.stream, work.clock, level);
  copy_to_host(work.stream, normalized, values_);
  counts_.assign(values_.size(), 1);
  all_count_ = level.weight() == nullptr;
  if (!all_count_) copy_to_host(work.stream, *level.weight(), counts_);
  window_ = {std::min(window_side, shape.width), std::min(window_side, shape.height), 1};
  const auto along = [&](std::int64_t n, std::int64_t other) {
    const std::int64_t most = n >= other ? grid_.along_longer : grid_.along_shorter;
    return std::clamp<std::int64_t>(2 * (n - window_side) / window_side + 1, 1, most);
  };
  const std::int64_t across = along(shape.width, shape.height);
  const std::int64_t down = along(shape.height, shape.width + 1);
  const auto start = [](std::int64_t i, std::int64_t count, std::int64_t n) {
    const std::int64_t rest = std::max<std::int64_t>(n - window_side, 0);
    return count > 1 ? i * rest / (count - 1) : rest / 2;
  };
  windows_.clear();
  for (std::int64_t j = 0; j < down; ++j) {
    for (std::int64_t i = 0; i < across; ++i) {
      windows_.push_back({static_cast<double>(start(i, across, shape.width)),
                          static_cast<double>(start(j, down, shape.height))});
    }
  }
}

// Places the windows of a part at the corners of frames of their own.
void WindowSearch::stage_windows(std::size_t part, std::int64_t level_width) {
  const auto plane = static_cast<std::size_t>(frame_.plane());
  const auto at_once = static_cast<std::size_t>(grid_.at_once());
  staged_.assign(plane * at_once, 0);
  staged_counts_.assign(staged_.size(), 0);
  const std::size_t first = part * at_once;
  const std::size_t end = std::min(windows_.size(), first + at_once);
  for (std::size_t w = first; w < end; ++w) {
    const auto left = static_cast<std::int64_t>(windows_[w].left);
    const auto top = static_cast<std::int64_t>(windows_[w].top);
    for (std::int64_t y = 0; y < window_.height; ++y) {
      for (std::int64_t x = 0; x < window_.width; ++x) {
        const auto from = static_cast<std::size_t>((top + y) * level_width + left + x);
        const std::size_t to =
            (w - first) * plane + static_cast<std::size_t>(y * grid_.frame_side + x);
        staged_[to] = values_[from];
        staged_counts_[to] = counts_[from];
      }
    }
  }
}

void WindowSearch::transform_windows(const PairContext& work, std::int64_t level_width) {
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    stage_windows(part, level_width);
    work.clock.run("upload", [&] {
      work.stream.upload(staged_.data(), staged_.size() * sizeof(float), windows_image_.buffer());
      if (all_count_) return;
      work.stream.upload(staged_counts_.data(), staged_counts_.size() * sizeof(float),
                         windows_weight_.buffer());
    });
    work.clock.run("fft", [&] {
      fft_windows_.forward(work.stream, windows_image_, parts_[part].spectra);
      if (all_count_) return;
      fft_windows_.forward(work.stream, windows_weight_, parts_[part].weight_spectra);
    });
  }
}

void WindowSearch::warp_moving(const PairContext& work, PyramidLevel& level,
                               const Affine& frame_to_level) {
  const WarpPlan& warp = warps_.get(level.shape(), [&] {
    return WarpPlan(device_, {level.shape(), frame_});
  });
  const Image& weight =
      level.weight() != nullptr ? *level.weight() : work.ones.of(work.stream, level.shape());
  const auto warp_to = [&](const Image& image, Image& warped) {
    work.clock.run("warp", [&] { warp.execute(work.stream, image, frame_to_level, warped); });
  };
  warp_to(work.moving.normalized(work.stream, work.clock, level), warped_);
  warp_to(weight, warped_weight_);
}

// Finds how many pixels each window of a part has in common with what is in the frame, at every
// shift. Windows whose pixels all count have as many as one another, and need no transform.
void WindowSearch::find_overlaps(const PairContext& work, const Part& part) {
  work.clock.run("overlap_products", [&] {
    products_.execute(work.stream, weight_spectrum_, part.weight_spectra, products_image_);
  });
  work.clock.run("inverse_fft",
                 [&] { fft_surfaces_.inverse(work.stream, products_image_, overlaps_); });
}

// Correlates all windows with what is in the frame.
void WindowSearch::compare_windows(const PairContext& work, Peaks& peaks) {
  work.clock.run("fft", [&] {
    fft_.forward(work.stream, warped_, spectrum_);
    if (!all_count_) fft_.forward(work.stream, warped_weight_, weight_spectrum_);
  });
  if (all_count_) {
    work.clock.run("overlap_counts", [&] {
      counts_plan_.execute(work.stream, warped_weight_, window_, alike_overlaps_);
    });
  }
  OverlapLimits limits;
  limits.min_overlap = static_cast<float>(min_window_part * window_side * window_side);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    work.clock.run("overlap_products", [&] {
      products_.execute(work.stream, spectrum_, part.spectra, products_image_);
    });
    work.clock.run("inverse_fft",
                   [&] { fft_surfaces_.inverse(work.stream, products_image_, surfaces_); });
    if (!all_count_) find_overlaps(work, part);
    work.clock.run("overlap_peaks", [&] {
      if (all_count_) {
        return alike_peaks_plan_.execute(work.stream, surfaces_, alike_overlaps_, limits, records_);
      }
      peaks_plan_.execute(work.stream, surfaces_, overlaps_, limits, records_);
    });
    peaks[i].enqueue(work.stream, records_);
  }
}

// The moving level, rotated back and brought to the reference level's scale, stands in the middle
// of the frame: frame(x) = moving(A (x - c) + centre). A window with the corner (0, 0) that is
// found at d lies at d, or with its opposite rotation upside down at -d.
WindowSearch::ComparedView WindowSearch::compare_view(const PairContext& work,
                                                      const PyramidLevel& reference,
                                                      const WindowView& view, Peaks& peaks) {
  const double spacing = std::max(1.0, reference.sampling().spacing * view.scale);
  PyramidLevel& moving = work.moving.level(work.stream, work.clock, {spacing});
  WindowView between_levels = view;
  between_levels.scale *= reference.sampling().spacing / spacing;
  const double c = std::floor(side() / 2);
  const Point centre = centre_of(moving.shape());
  const Affine frame_to_level = Affine::translation(centre.x, centre.y) * between_levels.linear() *
                                Affine::translation(-c, -c);
  warp_moving(work, moving, frame_to_level);
  compare_windows(work, peaks);
  return {view, moving.to_image() * frame_to_level};
}

void WindowSearch::take_matches(const PyramidLevel& reference, const ComparedView& compared,
                                std::span<const PeakRecord> peaks) {
  const double middle = static_cast<double>(window_side - 1) / 2;
  const RotationScaleLimits angles = RotationScaleLimits::of(options_, rotation_step / 2);
  for (std::size_t opposite = 0; opposite < 2; ++opposite) {
    const double degrees = compared.view.rotation_deg + (opposite == 1 ? 180 : 0);
    if (!angles.allows_angle(degrees)) continue;
    const double sign = opposite == 0 ? 1 : -1;
    for (std::size_t w = 0; w < windows_.size(); ++w) {
      const PeakRecord& record = peaks[2 * w + opposite];
      const Point d = subpixel_position(record);
      WindowMatch match;
      match.window = w;
      match.reference = reference.to_image()({windows_[w].left + middle, windows_[w].top + middle});
      match.moving = compared.frame_to_image(
          {modulo(d.x + sign * middle, side()), modulo(d.y + sign * middle, side())});
      match.view = compared.view;
      match.view.rotation_deg = degrees;
      match.correlation = static_cast<double>(record.value) / static_cast<double>(window_side);
      matches_.push_back(match);
    }
  }
}

// Divides each correlation by the median of its window's, which windows of faint or repeated
// texture have a high one of.
void WindowSearch::relate_to_medians() {
  relative_ = matches_;
  medians_.assign(windows_.size(), 0);
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    of_window_.clear();
    for (const WindowMatch& match : matches_) {
      if (match.window == w) of_window_.push_back(match.correlation);
    }
    if (of_window_.empty()) continue;
    const auto middle = of_window_.begin() + static_cast<std::ptrdiff_t>(of_window_.size() / 2);
    std::nth_element(of_window_.begin(), middle, of_window_.end());
    if (!(*middle > 0)) continue;
    medians_[w] = *middle;
    for (WindowMatch& match : relative_) {
      if (match.window == w) match.correlation /= *middle;
    }
  }
}

PyramidLevel& WindowSearch::level_of_windows(const PairContext& work) const {
  const double spacing = std::max(1.0, larger_side(work.reference.shape()) / grid_.level_side);
  return work.reference.level(work.stream, work.clock, {spacing});
}

void WindowSearch::add_views(std::span<const double> scales, const WindowView& stretched) {
  const RotationScaleLimits limits = RotationScaleLimits::of(options_);
  WindowView view = stretched;
  for (const double scale : scales) {
    if (!limits.allows_scale(scale)) continue;
    view.scale = scale;
    for (const double degrees : rotations_) {
      view.rotation_deg = degrees;
      views_.push_back(view);
    }
  }
}

// While the device works on one view, the matches of the one before are taken.
void WindowSearch::match_views(const PairContext& work, std::span<const WindowView> views) {
  const PyramidLevel& reference = begin(work);
  std::optional<ComparedView> last;
  std::size_t turn = 0;
  const auto take_last = [&] {
    if (last) take_matches(reference, *last, wait_for(peaks_[1 - turn]));
  };
  for (const WindowView& view : views) {
    if (work.is_cancelled()) return;
    const ComparedView compared = compare_view(work, reference, view, peaks_[turn]);
    take_last();
    last = compared;
    turn = 1 - turn;
  }
  take_last();
}

void WindowSearch::match_all(const PairContext& work) {
  const std::span<const WindowView> all(views_);
  const std::size_t own = work.threads != nullptr ? (all.size() + 1) / 2 : all.size();
  const auto match_own = [&] { match_views(work, all.first(own)); };
  if (own < all.size()) {
    const auto match_others = [&](const PairContext& fork, WindowSearch& search) {
      search.matches_.clear();
      search.match_views(fork, all.subspan(own));
    };
    worker_->run(match_others, match_own);
    const std::vector<WindowMatch>& found = worker_->state().matches_;
    matches_.insert(matches_.end(), found.begin(), found.end());
  } else {
    match_own();
  }
  views_.clear();
}

VoteOptions WindowSearch::vote_options(const PyramidLevel& reference) const {
  const double spacing = reference.sampling().spacing;
  VoteOptions options;
  options.max_disagreement *= spacing;
  options.tolerance *= spacing;
  return options;
}

std::span<const AgreedHomography> WindowSearch::count_votes(const PairContext& work,
                                                            const PyramidLevel& reference) {
  relate_to_medians();
  const VoteOptions options = vote_options(reference);
  const auto found = votes_.find(relative_, options);
  found_.assign(found.begin(), found.end());
  return followed_from(work, reference, options);
}

// Follows each of found_. What windows agreed on by chance leads the others nowhere.
std::span<const AgreedHomography> WindowSearch::followed_from(const PairContext& work,
                                                              const PyramidLevel& reference,
                                                              const VoteOptions& options) {
  for (AgreedHomography& homography : found_) {
    homography = followed(work, reference, homography, options);
  }
  std::erase_if(found_, [&](const AgreedHomography& homography) {
    return homography.windows < options.min_windows;
  });
  std::sort(found_.begin(), found_.end(),
            [](const AgreedHomography& a, const AgreedHomography& b) { return a.votes > b.votes; });
  return found_;
}

// What few windows agree on in one part of the image leads the others nearly to their places. Where
// that is undone as a whole, they are found there, and so on.
AgreedHomography WindowSearch::followed(const PairContext& work, const PyramidLevel& reference,
                                        const AgreedHomography& found, const VoteOptions& options) {
  AgreedHomography best = found;
  for (int i = 0; i < max_followed; ++i) {
    match_along(work, reference, best.matrix);
    const AgreedHomography next = votes_.improved(best, along_, options);
    const bool is_same = next.matrix.h == best.matrix.h;
    best = next;
    if (is_same) break;
  }
  return best;
}

void WindowSearch::resample_moving(const PairContext& work, PyramidLevel& level,
                                   const Homography& frame_to_level) {
  const InterpolatePlan& plan = bilinear_.get(level.shape(), [&] {
    return InterpolatePlan(device_, {.spline = {.degree = 1, .boundary = Boundary::grid_constant},
                                     .images = {.shape = level.shape()},
                                     .output = frame_});
  });
  const Image& weight =
      level.weight() != nullptr ? *level.weight() : work.ones.of(work.stream, level.shape());
  const auto resample_to = [&](const Image& image, Image& warped) {
    work.clock.run("interpolate",
                   [&] { plan.execute(work.stream, image, frame_to_level, warped); });
  };
  resample_to(work.moving.normalized(work.stream, work.clock, level), warped_);
  resample_to(weight, warped_weight_);
}

// Looks for all windows near where a homography leads them. The frame is the reference level then,
// in which a window that lies exactly there is found at its own corner.
void WindowSearch::match_along(const PairContext& work, const PyramidLevel& reference,
                               const Homography& found) {
  along_.clear();
  const Affine about = found.affine_at(centre_of(work.reference.shape()));
  const double scale = scale_of(about);
  if (!(scale > 1 / max_followed_scale && scale < max_followed_scale)) return;
  const double spacing = std::max(1.0, reference.sampling().spacing * scale);
  PyramidLevel& moving = work.moving.level(work.stream, work.clock, {spacing});
  resample_moving(work, moving,
                  Homography(moving.to_image().inverse()) * found * reference.to_image());
  compare_windows(work, peaks_[0]);
  const std::span<const PeakRecord> peaks = wait_for(peaks_[0]);
  const double middle = static_cast<double>(window_side - 1) / 2;
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    const PeakRecord& record = peaks[2 * w];
    const Point d = subpixel_position(record);
    const Point shift{std::remainder(d.x - windows_[w].left, side()),
                      std::remainder(d.y - windows_[w].top, side())};
    if (!(std::hypot(shift.x, shift.y) <= max_followed_shift) || !(medians_[w] > 0)) continue;
    const Point centre{windows_[w].left + middle, windows_[w].top + middle};
    WindowMatch match;
    match.window = w;
    match.reference = reference.to_image()(centre);
    match.moving = found(reference.to_image()({centre.x + shift.x, centre.y + shift.y}));
    match.view = view_of(found.affine_at(match.reference));
    match.correlation =
        static_cast<double>(record.value) / static_cast<double>(window_side) / medians_[w];
    along_.push_back(match);
  }
}

const PyramidLevel& WindowSearch::begin(const PairContext& work) {
  PyramidLevel& level = level_of_windows(work);
  if (has_windows_) return level;
  choose_windows(work, level);
  transform_windows(work, level.shape().width);
  has_windows_ = true;
  return level;
}

void WindowSearch::begin_pair(const PairContext& work) {
  has_windows_ = false;
  matches_.clear();
  views_.clear();
  if (work.threads == nullptr) return;
  if (!worker_) {
    worker_ = std::make_unique<ForkedWorker<WindowSearch>>(device_, work.threads, device_, options_,
                                                           grid_);
  }
  worker_->state().has_windows_ = false;
  worker_->begin_pair(work);
}

std::span<const AgreedHomography> WindowSearch::find(const PairContext& work) {
  begin_pair(work);
  add_views(scales, {});
  match_all(work);
  return count_votes(work, begin(work));
}

// The views of one scale suffice for the medians.
std::span<const AgreedHomography> WindowSearch::find_along(const PairContext& work,
                                                           const Homography& known) {
  begin_pair(work);
  const double scale = scale_of(known.affine_at(centre_of(work.reference.shape())));
  const std::array nearest{*std::min_element(scales.begin(), scales.end(), [&](double a, double b) {
    return std::abs(std::log(a / scale)) < std::abs(std::log(b / scale));
  })};
  add_views(nearest, {});
  match_all(work);
  relate_to_medians();
  found_.assign(1, {known, 0, 0});
  const PyramidLevel& level = begin(work);
  return followed_from(work, level, vote_options(level));
}

std::span<const AgreedHomography> WindowSearch::find_stretched(const PairContext& work) {
  for (double direction = 0; direction < 180; direction += direction_step) {
    add_views(stretched_scales, {0, 1, stretch, direction});
  }
  match_all(work);
  return count_votes(work, begin(work));
}

}  // namespace warpalign::detail

// Finds other shifts at which two images match nearly as well as at a candidate's pose.
#include "registration/scoring/alternative_search.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace warpalign::detail {

namespace {

using Shift = ShiftSurface::Shift;

// Of the padded frame: what TranslationSearch proposes shifts on.
constexpr std::int64_t frame_side = 512;
// How far the highest sample may be from the candidate's pose, in samples.
constexpr std::int64_t pose_error = 3;
// Between two maxima the score falls below this fraction of the lower one.
constexpr double valley = 0.7;
// What is nearer is the same maximum, in samples.
constexpr double min_distance = 1.5;
constexpr std::size_t max_maxima = 400;

Point between(Point from, Point to) { return {to.x - from.x, to.y - from.y}; }
Point in_pixels(const ShiftSurface& surface, Point samples) {
  const Point spacing = surface.frame().spacing;
  return {spacing.x * samples.x, spacing.y * samples.y};
}

template <class Visit>
void for_each_shift(const ShiftSurface& surface, const Visit& visit) {
  const std::int64_t reach_x = surface.frame().reach_x();
  const std::int64_t reach_y = surface.frame().reach_y();
  for (std::int64_t y = -reach_y; y <= reach_y; ++y) {
    for (std::int64_t x = -reach_x; x <= reach_x; ++x) visit(Shift{x, y});
  }
}

ShiftSurface::Peak main_peak(const ShiftSurface& surface) {
  Shift best{};
  for (std::int64_t y = -pose_error; y <= pose_error; ++y) {
    for (std::int64_t x = -pose_error; x <= pose_error; ++x) {
      if (surface.score({x, y}) > surface.score(best)) best = {x, y};
    }
  }
  return surface.peak_at(best);
}

// Whether the score falls on the line between two shifts: the highest one within `beside` samples
// of each point of the line counts.
bool is_parted(const ShiftSurface& surface, Point from, const ShiftSurface::Peak& to,
               std::int64_t beside = 0) {
  const Point step = between(from, to.shift);
  const int steps = std::max(2, static_cast<int>(std::lround(length(step))));
  for (int i = 1; i < steps; ++i) {
    const double part = static_cast<double>(i) / steps;
    const Shift at{std::lround(from.x + part * step.x), std::lround(from.y + part * step.y)};
    float highest = surface.score(at);
    for (std::int64_t dy = -beside; dy <= beside; ++dy) {
      for (std::int64_t dx = -beside; dx <= beside; ++dx) {
        highest = std::max(highest, surface.score({at.x + dx, at.y + dy}));
      }
    }
    if (static_cast<double>(highest) < valley * to.score) return true;
  }
  return false;
}

// Whether the score stays high between two shifts. A narrow ridge passes between the samples on the
// line.
bool is_ridge(const ShiftSurface& surface, Point from, const ShiftSurface::Peak& to) {
  return !is_parted(surface, from, to, 1);
}

}  // namespace

TranslationSearch& AlternativeSearch::search_of(const PairContext& context) {
  auto& search = context.compares_orientation() ? orientation_ : intensity_;
  if (!search) search.emplace(device_, frame_side, 1, context.signal);
  return *search;
}

// Whether fetching all correlations can tell more. A CPU's memory need not be fetched.
bool AlternativeSearch::may_have_alternatives(Stream& stream,
                                              const TranslationSearch::Correlations& all) {
  if (device_.info().kind == DeviceKind::cpu) return true;
  if (!maxima_) maxima_.emplace(device_, all.frame.side, 1);
  const Point origin = all.frame.origin();
  ShiftRegion region;
  region.origin_x = static_cast<int>(origin.x);
  region.origin_y = static_cast<int>(origin.y);
  region.reach_x = static_cast<int>(all.frame.reach_x());
  region.reach_y = static_cast<int>(all.frame.reach_y());
  region.main_reach = static_cast<int>(pose_error);
  region.min_overlap = static_cast<float>(all.frame.min_overlap);
  region.ring = ring_of(all.frame.reference);
  return maxima_->may_exist(stream, all.correlations, all.overlaps, region);
}

ShiftSurface AlternativeSearch::fetch(Stream& stream, const TranslationSearch::Correlations& all) {
  const auto of_first_slice = [&](const Image& image, std::vector<float>& values) {
    values.resize(static_cast<std::size_t>(image.shape().pixels()));
    stream.download(image, values.data(), values.size() * sizeof(float));
    return std::span<const float>(values).first(static_cast<std::size_t>(image.shape().plane()));
  };
  const auto correlations = of_first_slice(all.correlations, correlations_);
  return {all.frame, correlations, of_first_slice(all.overlaps, overlaps_)};
}

const Alternatives& AlternativeSearch::find(const PairContext& context, const Candidate& candidate,
                                            const IsAllowed& is_allowed) {
  alternatives_.ratio = 0;
  alternatives_.maxima.clear();
  alternatives_.along.reset();
  const TranslationSearch::Correlations all =
      search_of(context).correlate_all(context, candidate.matrix, transform_of(candidate));
  if (!may_have_alternatives(context.stream, all)) return alternatives_;
  const ShiftSurface surface = fetch(context.stream, all);
  const ShiftSurface::Peak main = main_peak(surface);
  if (!(main.score > 0)) return alternatives_;
  add_maxima(surface, main, is_allowed);
  add_ridge(surface, main, is_allowed);
  return alternatives_;
}

void AlternativeSearch::add_maxima(const ShiftSurface& surface, const ShiftSurface::Peak& main,
                                   const IsAllowed& is_allowed) {
  const auto least = static_cast<float>(least_sample_ratio * min_alternative_ratio * main.score);
  for_each_shift(surface, [&](Shift shift) {
    if (surface.score(shift) < least || !surface.is_local_maximum(shift)) return;
    const ShiftSurface::Peak peak = surface.peak_at(shift);
    const Point samples = between(main.shift, peak.shift);
    const double ratio = peak.score / main.score;
    if (ratio < min_alternative_ratio || length(samples) < min_distance) return;
    const Point pixels = in_pixels(surface, samples);
    if (!is_parted(surface, main.shift, peak) || !is_allowed(pixels)) return;
    alternatives_.maxima.push_back({pixels, ratio});
  });
  std::sort(alternatives_.maxima.begin(), alternatives_.maxima.end(),
            [](const auto& a, const auto& b) { return a.ratio > b.ratio; });
  if (alternatives_.maxima.size() > max_maxima) alternatives_.maxima.resize(max_maxima);
  if (!alternatives_.maxima.empty()) alternatives_.ratio = alternatives_.maxima.front().ratio;
}

// The best score on a circle about the pose. A ridge leads there without a valley. Narrow ridges
// cross a circle between its samples, so a few circles are tried.
void AlternativeSearch::add_ridge(const ShiftSurface& surface, const ShiftSurface::Peak& main,
                                  const IsAllowed& is_allowed) {
  const double radius = ring_radius(surface.frame().reference);
  constexpr int directions = 256;
  ShiftSurface::Peak best;
  Point unit{};
  for (int i = 0; i < ring_circles * directions; ++i) {
    const double angle = 2 * std::numbers::pi * i / directions;
    const Point towards{std::cos(angle), std::sin(angle)};
    const double away = radius + i / directions;  // samples
    const Point at{main.shift.x + away * towards.x, main.shift.y + away * towards.y};
    const auto score = static_cast<double>(surface.score({std::lround(at.x), std::lround(at.y)}));
    if (score <= best.score) continue;
    if (!is_allowed(in_pixels(surface, between(main.shift, at)))) continue;
    best = {at, score};
    unit = towards;
  }
  if (best.score < min_alternative_ratio * main.score) return;
  // Structure in one direction correlates equally at every shift along it. The samples would not
  // tell, because a narrow crest passes between them and the score falls with the overlap; nor
  // would the maximum's parabolas, of which on an oblique ridge both find the crest.
  const auto crest_near = [&](Point at) {
    return surface.crest_at({std::lround(at.x), std::lround(at.y)});
  };
  const double ratio = crest_near(best.shift) / crest_near(main.shift);
  if (ratio < min_alternative_ratio || !is_ridge(surface, main.shift, best)) return;
  alternatives_.along = unit;
  alternatives_.ratio = std::max(alternatives_.ratio, ratio);
}

}  // namespace warpalign::detail

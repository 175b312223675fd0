// Finds the pattern that is fixed to the sensor over the frames of a stack.
#include <warpalign/sensor_pattern.hpp>

#include "device/check.hpp"
#include "device/host_rows.hpp"
#include "registration/numerics/host_numbers.hpp"
#include "registration/numerics/transform_distance.hpp"
#include "sensor/pattern_checks.hpp"
#include "sensor/pattern_layers.hpp"
#include "sensor/pattern_samples.hpp"

#include <warpalign/error.hpp>
#include <warpalign/frame_registrar.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace warpalign {

namespace {

constexpr std::size_t min_frames = 6;
constexpr std::int64_t min_side = 32;

// In pixels: how far the scene has to move, and a change of the motions that ends the rounds.
constexpr double min_spread = 1;
constexpr double same_motion = 0.02;
// A pattern that is not clear is left where it is if it changes no motion by more.
constexpr double harmless = 0.1;
constexpr int first_rounds = 3;
constexpr int rounds = 9;
constexpr int first_iterations = 2;
constexpr int iterations = 8;

// A pattern that is less than the notable part of the scene leaves a correlation of nearly 1.
constexpr double clean_correlation = 1 - detail::notable_part;

// The part of the scene's variance that its motion has to change, unless the pattern's variance is
// below the second part of the scene's. Of 10 generated stacks above it, of columns and pixels
// about as strong as the scene, one frame was off by 0.13 pixels and all others by less; of 2 below
// it, frames were off by 0.14 and 0.23.
constexpr double min_changed_part = 0.06;
constexpr double small_part = 0.05;

// Nothing moves if what has changed is less than the first part of the structure, or less than the
// second and than a part of the noise.
constexpr double least_change = 0.003;
constexpr double small_change = 0.02;
constexpr double change_by_noise = 0.05;
// What seems to stand still is a pattern only if what moves under it does so in this many blocks of
// 64.
constexpr double min_blocks = 8;
// A sensor's frames differ by noise, whose variance is at least this part of the pattern's.
constexpr double least_noise = 1e-4;

using detail::MovedFrame;
using detail::PatternLayers;
using detail::PatternSamples;
using detail::Plane;
using detail::structure_of;

RegistrationOptions options_for_pattern(RegistrationOptions options) {
  options.fast = false;
  options.collect_timings = false;
  const bool is_similarity = options.motion == Motion::translation ||
                             options.motion == Motion::rigid || options.motion == Motion::rotation;
  if (!is_similarity) options.motion = Motion::similarity;
  return options;
}

/// Whether a frame was registered, or its pattern alone keeps it from that: a motion that is less
/// sure than others is enough to find the pattern, without which frames are registered again.
bool shows_scene(const RegistrationResult& result) {
  return result.reliable ||
         (result.ambiguous && result.period.empty() && !result.undetermined_direction);
}

/// The motions of frames relative to the one in the middle.
class FrameMotions {
 public:
  FrameMotions(const Device& device, const RegistrationOptions& options,
               const PatternSamples& samples)
      : samples_(samples),
        registrar_(device, options_for_pattern(options), samples.frames.size()) {}

  /// Registers the frames less this pattern, and keeps those that show the scene. False if they are
  /// too few.
  bool find(const Plane* pattern) {
    const std::size_t middle = samples_.frames.size() / 2;
    std::vector<Plane> shown;
    std::vector<HostImage> views;
    for (const Plane& frame : samples_.frames) {
      Plane& cleaned = shown.emplace_back(frame);
      for (std::size_t i = 0; i < cleaned.size(); ++i) {
        if (pattern != nullptr) cleaned[i] -= (*pattern)[i];
        if (samples_.known[i] == 0) cleaned[i] = std::numeric_limits<float>::quiet_NaN();
      }
      views.push_back({cleaned.data(), PixelType::f32, samples_.width, samples_.height, 0});
    }
    moved_.clear();
    least_correlation_ = 1;
    try {
      registrar_.set_reference(views[middle]);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::invalid_image) throw;
      return false;
    }
    const std::vector<BatchResult> results = registrar_.align(views);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (i == middle) {
        moved_.push_back({i, {}});
        continue;
      }
      if (!results[i].result || !shows_scene(*results[i].result)) continue;
      moved_.push_back({i, results[i].result->matrix});
      least_correlation_ = std::min(least_correlation_, results[i].result->correlation);
    }
    return moved_.size() >= min_frames;
  }

  [[nodiscard]] const std::vector<MovedFrame>& moved() const { return moved_; }
  [[nodiscard]] double spread() const { return detail::spread_of(moved_, samples_.shape()); }
  /// Whether all frames register, and so well that there is no notable pattern.
  [[nodiscard]] bool is_clean() const {
    return moved_.size() == samples_.frames.size() && least_correlation_ >= clean_correlation;
  }

 private:
  const PatternSamples& samples_;
  FrameRegistrar registrar_;
  std::vector<MovedFrame> moved_;
  double least_correlation_ = 1;
};

/// The largest distance between the motions of frames that are in both.
double change_of(const std::vector<MovedFrame>& a, const std::vector<MovedFrame>& b,
                 const Shape& shape) {
  double change = a.size() == b.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i].index != b[i].index) return std::numeric_limits<double>::infinity();
    change = std::max(change, detail::corner_distance(a[i].matrix, b[i].matrix, shape));
  }
  return change;
}

/// Accelerates the convergence of the motions over the rounds (Aitken's delta-squared process, with
/// one ratio for all frames).
class Progress {
 public:
  explicit Progress(const Shape& shape) : shape_(shape) {}

  /// Moves the motions of this round to where they converge. True if they have.
  bool step(std::vector<MovedFrame>& moved) {
    const double change =
        last_.empty() ? std::numeric_limits<double>::infinity() : change_of(last_, moved, shape_);
    std::vector<MovedFrame> difference = moved;
    bool has_difference = std::isfinite(change);
    if (has_difference) {
      for (std::size_t i = 0; i < moved.size(); ++i) {
        difference[i].matrix = minus(moved[i].matrix, last_[i].matrix);
      }
    }
    last_ = moved;
    if (!has_difference) {
      difference_.clear();
      return false;
    }
    if (change < same_motion) return true;
    if (difference_.size() == difference.size()) {
      double product = 0, square = 0;
      for (std::size_t i = 0; i < difference.size(); ++i) {
        const Affine &a = difference_[i].matrix, &b = difference[i].matrix;
        product += a.c * b.c + a.f * b.f;
        square += a.c * a.c + a.f * a.f;
      }
      const double ratio = square > 0 ? product / square : 0;
      if (ratio > min_ratio && ratio < 1) {
        const double factor = std::min(ratio / (1 - ratio), max_factor);
        for (std::size_t i = 0; i < moved.size(); ++i) {
          moved[i].matrix = plus(moved[i].matrix, difference[i].matrix, factor);
        }
        difference.clear();
        last_ = moved;
      }
    }
    difference_ = std::move(difference);
    return false;
  }

 private:
  static constexpr double min_ratio = 0.2, max_factor = 2;
  static Affine plus(const Affine& a, const Affine& b, double f) {
    return {a.a + f * b.a, a.b + f * b.b, a.c + f * b.c,
            a.d + f * b.d, a.e + f * b.e, a.f + f * b.f};
  }
  static Affine minus(const Affine& a, const Affine& b) { return plus(a, b, -1); }

  Shape shape_;
  std::vector<MovedFrame> last_, difference_;
};

/// Whether a pattern is enough of what the frames show to disturb their registration.
bool is_notable(const PatternSamples& samples, const Plane& pattern, const Plane& scene) {
  return structure_of(samples, pattern) >= detail::notable_part * structure_of(samples, scene);
}

SensorPattern result_of(const PatternSamples& samples, Plane pattern, std::size_t frames) {
  SensorPattern result;
  result.width = samples.width;
  result.height = samples.height;
  result.rms = std::sqrt(detail::moments_of(pattern, pattern, samples.known).first);
  result.frames = frames;
  result.offsets = std::move(pattern);
  return result;
}

/// The pattern of frames that show nothing else.
std::optional<SensorPattern> pattern_without_scene(const PatternSamples& samples, double noise) {
  std::vector<MovedFrame> frames;
  for (std::size_t i = 0; i < samples.frames.size(); ++i) frames.push_back({i, {}});
  PatternLayers layers(samples, frames);
  layers.take_all_as_pattern();
  std::optional<Plane> pattern = layers.pattern();
  if (!pattern || !layers.is_all_uncorrelated()) return std::nullopt;
  if (noise < least_noise * structure_of(samples, *pattern)) return std::nullopt;
  SensorPattern result = result_of(samples, *std::move(pattern), frames.size());
  result.has_scene = false;
  return result;
}

}  // namespace

std::optional<SensorPattern> find_sensor_pattern(const Device& device,
                                                 std::span<const HostImage> frames,
                                                 const RegistrationOptions& options,
                                                 const HostImage* mask) {
  detail::check_frames(frames, mask);
  if (frames.size() < min_frames) return std::nullopt;
  if (std::min(frames.front().width, frames.front().height) < min_side) return std::nullopt;
  const PatternSamples samples(frames, mask);
  const detail::Change change = detail::change_between(samples);
  if (change.changed < least_change * change.structure ||
      (change.changed < small_change * change.structure &&
       change.changed < change_by_noise * change.noise)) {
    return pattern_without_scene(samples, change.noise);
  }

  FrameMotions motions(device, options, samples);
  const bool seems_still = !motions.find(nullptr) || motions.spread() < min_spread;
  if (motions.is_clean() && !seems_still) return std::nullopt;
  if (seems_still) {
    const Plane still = detail::temporal_median(samples);
    if (!motions.find(&still) || motions.spread() < min_spread) return std::nullopt;
  }
  std::optional<Plane> pattern;
  std::vector<MovedFrame> moved = motions.moved();
  const std::vector<MovedFrame> with_pattern = moved;
  Progress progress(samples.shape());
  Plane last;
  bool is_sure = false, is_clear = false;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<MovedFrame> of_round = moved;
    PatternLayers layers(samples, of_round);
    if (round > first_rounds) layers.start_from(std::move(last));
    layers.assume_white(round > 0);
    layers.assume_unrelated(round >= first_rounds);
    layers.separate(round == 0 && !seems_still ? first_iterations : iterations);
    pattern = layers.pattern();
    if (!pattern) return std::nullopt;
    if (!is_notable(samples, *pattern, layers.scene())) return std::nullopt;
    if (!layers.is_uncorrelated()) return std::nullopt;
    const Plane scene = detail::without_background(samples, layers.scene());
    if (seems_still && detail::spread_over_blocks(samples, scene) < min_blocks) return std::nullopt;
    is_clear = layers.changed_part() >= min_changed_part ||
               structure_of(samples, *pattern) < small_part * structure_of(samples, layers.scene());
    if (is_sure) break;
    last = layers.unfiltered();
    if (!motions.find(&*pattern) || motions.spread() < min_spread) return std::nullopt;
    moved = motions.moved();
    if (round >= first_rounds) is_sure = progress.step(moved);
  }
  SensorPattern result = result_of(samples, *std::move(pattern), motions.moved().size());
  result.is_clear = is_sure && is_clear;
  const bool is_harmless = change_of(with_pattern, motions.moved(), samples.shape()) < harmless;
  if (!result.is_clear && !seems_still && is_harmless) return std::nullopt;
  return result;
}

void subtract_sensor_pattern(const SensorPattern& pattern, const ScannedFrame& frame, double gain) {
  const HostImage view{frame.data, frame.type, frame.width, frame.height, frame.row_bytes};
  detail::check_like_pattern(pattern, view);
  if (!std::isfinite(gain)) detail::refuse(detail::pattern_stage, "the gain must be finite");
  std::vector<double> line(static_cast<std::size_t>(frame.width));
  auto* bytes = static_cast<std::byte*>(frame.data);
  for (std::size_t y = 0, i = 0; y < static_cast<std::size_t>(frame.height); ++y) {
    std::byte* row = bytes + y * detail::pitch_of(view);
    detail::read_line(frame.type, row, line);
    for (double& value : line) value -= gain * static_cast<double>(pattern.offsets[i++]);
    detail::write_line(frame.type, line, row);
  }
}

}  // namespace warpalign

// Finds the motion of a scene under a pattern that is fixed to the sensor.
#include "registration/search/fixed_pattern_check.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/transform_distance.hpp"
#include "registration/pair/level_pair.hpp"
#include "registration/pyramid/base_scales.hpp"
#include "registration/pyramid/host_copy.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace warpalign::detail {

namespace {

// The larger side of the level on which a pattern is found. The mask of a pattern need not be
// finer.
constexpr double pattern_side = 512;
// In pixels: an answer that differs by less is the same.
constexpr double same_answer = 0.05;

// The part of the votes from which the pattern pulls a fit too much to be trusted with its pixels;
// and the part up to which the scene is the larger part. Below the second one an answer is trusted
// that the pattern has pulled by no more than `small_pull` pixels.
constexpr double notable_sensor_part = 0.1;
constexpr double small_pull = 0.25;
constexpr double max_sensor_part = 0.5;
// The part of the pixels that has to be left of either image.
constexpr double min_left = 0.1;

// Fits to two halves of the pixels are independent, and the fit to all of them is off by about half
// their distance, which is not to be more than this, in pixels. Of 75 generated pairs below it, 3
// had a corner more than 0.1 pixels off; of 12 up to a third above it, 5.
constexpr double max_distance_of_halves = 0.15;
// The radii of the means that are subtracted, and how far apart two fits may be to agree, in pixels
// at the corners. Of 17 generated pairs that were accepted with a corner more than 0.1 pixels off,
// 15 had no fit within that; of 115 that were right, 7.
constexpr std::array<std::int64_t, 3> slow_radii{4, 2, 1};
constexpr double confirming_distance = 0.13;

// The halves are the fields of a chessboard, this many of them along the larger side.
constexpr std::int64_t fields = 3;

InitialPose pose_of(const Candidate& candidate) {
  return {transform_of(candidate), candidate.matrix};
}

}  // namespace

void FixedPatternCheck::take(const PairContext& context, double side) {
  const Shape& shape = context.reference.shape();
  const Spacings spacings = spacings_for(1, std::max(1.0, larger_side(shape) / side));
  PyramidLevel& reference =
      context.reference.level(context.stream, context.clock, {spacings.reference});
  PyramidLevel& moving = context.moving.level(context.stream, context.clock, {spacings.moving});
  level_ = reference.shape();
  to_image_ = reference.to_image();
  copy_to_host(context.stream, reference.values(), reference_values_);
  copy_to_host(context.stream, moving.values(), moving_values_);
  const auto copy_weight = [&](const PyramidLevel& level, std::vector<float>& weight) {
    weight.clear();
    if (level.weight() != nullptr) copy_to_host(context.stream, *level.weight(), weight);
  };
  copy_weight(reference, reference_weight_);
  copy_weight(moving, moving_weight_);
  pattern_.take(level_images());
}

Homography FixedPatternCheck::to_level(const Homography& transform) const {
  return Homography(to_image_.inverse()) * transform * to_image_;
}

// Both images with a mask of their pixels, in addition to their own ones. Nothing if too little is
// left.
std::optional<PairContext> FixedPatternCheck::masked(const PairContext& context,
                                                     std::vector<std::uint8_t>& mask) {
  const Shape& shape = context.reference.shape();
  const auto show = [&](const ImagePyramid& image, std::optional<ImagePyramid>& shown,
                        const char* what) {
    std::vector<std::uint8_t>& used = image.mask() != nullptr ? own_mask_ : mask;
    if (image.mask() != nullptr) {
      own_mask_.resize(mask.size());
      context.stream.download(*image.mask(), own_mask_.data(), own_mask_.size());
      for (std::size_t i = 0; i < mask.size(); ++i) own_mask_[i] = own_mask_[i] != 0 ? mask[i] : 0;
    }
    const auto left = std::count(used.begin(), used.end(), std::uint8_t{1});
    if (static_cast<double>(left) < min_left * static_cast<double>(used.size())) return false;
    if (!shown || !shown->matches(image.type(), shape)) {
      shown.reset();  // release the old memory before allocating the new
      shown.emplace(device_, image.type(), shape);
    }
    const HostImage counted{used.data(), PixelType::u8, shape.width, shape.height, 0};
    try {
      shown->take(context.stream, context.clock, image.pixels(), &counted, what);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::invalid_image) throw;
      return false;  // nothing is left to see
    }
    return true;
  };
  if (!show(context.reference, reference_, "the reference image")) return std::nullopt;
  if (!show(context.moving, moving_, "the moving image")) return std::nullopt;
  return context.with_images(*reference_, *moving_);
}

// `pattern`: on the level. Sets mask_.
std::optional<PairContext> FixedPatternCheck::without(const PairContext& context,
                                                      std::span<const std::uint8_t> pattern) {
  const Shape& shape = context.reference.shape();
  const Affine to_level = to_image_.inverse();
  const auto nearest = [](double at, std::int64_t n) {
    return std::clamp<std::int64_t>(std::llround(at), 0, n - 1);
  };
  mask_.resize(static_cast<std::size_t>(shape.plane()));
  std::size_t i = 0;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    const std::int64_t v =
        nearest(to_level.e * static_cast<double>(y) + to_level.f, level_.height) * level_.width;
    for (std::int64_t x = 0; x < shape.width; ++x, ++i) {
      const std::int64_t u =
          nearest(to_level.a * static_cast<double>(x) + to_level.c, level_.width);
      mask_[i] = pattern[static_cast<std::size_t>(v + u)] != 0 ? 0 : 1;
    }
  }
  return masked(context, mask_);
}

// Both images with the values of the level at full resolution, which take() has read. Nothing if
// nothing is left to see.
std::optional<PairContext> FixedPatternCheck::with_values(const PairContext& context) {
  const Shape& shape = context.reference.shape();
  const auto show = [&](const ImagePyramid& image, const std::vector<float>& values,
                        std::optional<ImagePyramid>& shown, const char* what) {
    if (!shown || !shown->matches(PixelType::f32, shape)) {
      shown.reset();  // release the old memory before allocating the new
      shown.emplace(device_, PixelType::f32, shape);
    }
    const HostImage pixels{values.data(), PixelType::f32, shape.width, shape.height, 0};
    try {
      shown->take(context.stream, context.clock, pixels, image.mask(), what);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::invalid_image) throw;
      return false;
    }
    return true;
  };
  if (!show(context.reference, reference_values_, reference_of_values_, "the reference image") ||
      !show(context.moving, moving_values_, moving_of_values_, "the moving image")) {
    return std::nullopt;
  }
  return context.with_images(*reference_of_values_, *moving_of_values_);
}

// Both images without what columns and rows of the sensor add to them, if that is notable.
std::optional<PairContext> FixedPatternCheck::without_lines(const PairContext& context) {
  const Shape& shape = context.reference.shape();
  take(context, larger_side(shape));  // at full resolution
  if (!lines_.find(reference_values_, moving_values_, shape.width, shape.height, pattern_.gain())) {
    return std::nullopt;
  }
  lines_.subtract(reference_values_, moving_values_);
  return with_values(context);
}

// One half of the pixels that mask_ leaves.
std::optional<PairContext> FixedPatternCheck::half(const PairContext& context, int which) {
  const Shape& shape = context.reference.shape();
  const std::int64_t side = std::max<std::int64_t>(1, std::max(shape.width, shape.height) / fields);
  half_ = mask_;
  std::size_t i = 0;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x, ++i) {
      if ((x / side + y / side) % 2 == which) half_[i] = 0;
    }
  }
  return masked(context, half_);
}

// How far apart the motions of two halves of what the pattern leaves are, at the corners. Nothing
// if a half is too little to tell.
std::optional<double> FixedPatternCheck::distance_of_halves(const PairContext& context,
                                                            const Candidate& found,
                                                            const Search& search) {
  const InitialPose pose = pose_of(found);
  std::array<Homography, 2> transforms;
  for (const int which : {0, 1}) {
    const auto rest = half(context, which);
    const auto result = rest ? search(*rest, &pose) : std::span<const Candidate>{};
    if (result.empty()) return std::nullopt;
    transforms[static_cast<std::size_t>(which)] = transform_of(result.front());
  }
  return corner_distance(transforms[0], transforms[1], context.reference.shape());
}

// The scene's motion where nothing, or little, seems to have moved, from what has changed. Nothing
// if that is `found`.
std::optional<Candidate> FixedPatternCheck::moved(const PairContext& context,
                                                  const Candidate& found, const Search& search) {
  take(context, pattern_side);
  const auto rest = without(context, pattern_.still_pattern());
  if (!rest) return std::nullopt;
  const std::span<const Candidate> result = search(*rest, nullptr);
  if (result.empty() || is_still(context, result.front())) return std::nullopt;
  const double apart =
      corner_distance(transform_of(result.front()), transform_of(found), context.reference.shape());
  if (apart < still_distance) return std::nullopt;
  return result.front();
}

// The scene's motion near `start`, without the pattern that does not follow it. Expects the images
// to be taken, and sets sensor_part_.
std::optional<Candidate> FixedPatternCheck::behind_pattern(const PairContext& context,
                                                           const Candidate& start,
                                                           const Search& search) {
  const InitialPose pose = pose_of(start);
  const Homography scene = to_level(pose.transform);
  sensor_part_ = pattern_.votes(scene).sensor_part();
  const auto rest = without(context, pattern_.pattern(scene));
  const auto result = rest ? search(*rest, &pose) : std::span<const Candidate>{};
  if (result.empty()) return std::nullopt;
  Candidate found = result.front();
  found.proposed_by = start.proposed_by;
  return found;
}

// Whether the scene is the larger part, and determines its motion well. Expects behind_pattern() to
// have found it.
bool FixedPatternCheck::is_clear(const PairContext& context, const Candidate& scene,
                                 const Search& search) {
  if (sensor_part_ > max_sensor_part) return false;
  const auto apart = distance_of_halves(context, scene, search);
  return apart && *apart <= max_distance_of_halves;
}

bool FixedPatternCheck::is_still(const PairContext& context, const Candidate& candidate) {
  return corner_distance(transform_of(candidate), Homography{}, context.reference.shape()) <
         still_distance;
}

bool FixedPatternCheck::is_beyond_reach(const PairContext& context, const Candidate& candidate) {
  const Shape& shape = context.reference.shape();
  return shape == context.moving.shape() &&
         detail::is_beyond_reach(corner_distance(transform_of(candidate), Homography{}, shape),
                                 shape);
}

// On the level that take() has read.
SensorAnswer FixedPatternCheck::on_level(const PairContext& context,
                                         const Candidate& answer) const {
  const Homography transform = transform_of(answer);
  return {to_level(transform), corner_distance(transform, Homography{}, context.reference.shape()),
          scale_of(answer.matrix), answer.correlation};
}

bool FixedPatternCheck::check_still(const PairContext& context, std::vector<Candidate>& found,
                                    const Search& search) {
  take(context, changed_side);
  if (!SensorSigns::in_changes(pattern_)) return false;
  const auto cleaned = without_lines(context);
  const PairContext& shown = cleaned ? *cleaned : context;
  const auto start = moved(shown, found.front(), search);
  const auto scene = start ? behind_pattern(shown, *start, search) : std::nullopt;
  if (!scene || !is_clear(shown, *scene, search)) return false;
  found.insert(found.begin(), *scene);
  return true;
}

bool FixedPatternCheck::check_moved(const PairContext& context, std::vector<Candidate>& found,
                                    const Search& search) {
  Candidate& answer = found.front();
  if (!SensorSigns::may_be_in_votes(answer.correlation, scale_of(answer.matrix))) return false;
  take(context, scoring_side);
  if (!SensorSigns::in_votes(pattern_, on_level(context, answer))) return false;
  const auto cleaned = without_lines(context);
  const PairContext& shown = cleaned ? *cleaned : context;
  take(shown, pattern_side);
  const auto scene = behind_pattern(shown, answer, search);
  if (!scene) return false;
  const double pull =
      corner_distance(transform_of(*scene), transform_of(answer), context.reference.shape());
  if (pull < same_answer) return false;
  const bool is_harmless = sensor_part_ < notable_sensor_part && pull < small_pull;
  if (!is_harmless && !is_clear(shown, *scene, search)) return false;
  answer = *scene;
  return true;
}

SensorImages FixedPatternCheck::level_images() const {
  return {level_.width,   level_.height,     reference_values_,
          moving_values_, reference_weight_, moving_weight_};
}

// The scene's motion where the difference of the images shows it, from the whole images. Nothing if
// that is none.
std::optional<Candidate> FixedPatternCheck::shown_by_difference(const PairContext& context,
                                                                const Search& search) {
  take(context, pattern_side);
  const auto shift = difference_.find(context.clock, level_images(), pattern_.gain());
  if (!shift) return std::nullopt;
  std::optional<Candidate> scene;
  for (const double sign : {1.0, -1.0}) {
    Affine pose;
    pose.c = sign * (*shift)[0] * to_image_.a;
    pose.f = sign * (*shift)[1] * to_image_.e;
    const InitialPose near{Homography(pose), pose};
    const std::span<const Candidate> result = search(context, &near);
    if (result.empty() || is_still(context, result.front())) continue;
    if (!scene || result.front().correlation > scene->correlation) scene = result.front();
  }
  return scene;
}

// A pattern that covers every pixel, such as the noise of a sensor, cannot be masked. It is not in
// the difference of the images, which tells where the scene may be.
bool FixedPatternCheck::check_covered(const PairContext& context, std::vector<Candidate>& found,
                                      const Search& search) {
  Candidate& answer = found.front();
  if (!SensorSigns::may_be_traced(answer.correlation)) return false;
  take(context, scoring_side);
  if (!SensorSigns::in_fine_structure(level_images())) return false;
  auto scene = shown_by_difference(context, search);
  if (!scene) {
    answer.other_shift_ratio = 1;
    return false;
  }
  scene->proposed_by = answer.proposed_by;
  mask_.assign(static_cast<std::size_t>(context.reference.shape().plane()), 1);
  const auto apart = distance_of_halves(context, *scene, search);
  // Both motions are there, and neither is determined well enough to be accepted.
  if (!apart || *apart > max_distance_of_halves) scene->other_shift_ratio = 1;
  found.insert(found.begin(), *scene);
  return true;
}

// Whether a fit to what does not change slowly agrees. Where the images show no trace of a pattern
// none has to: then only noise is left of them.
bool FixedPatternCheck::is_confirmed(const PairContext& context, const Candidate& answer,
                                     const Search& search) {
  if (!SensorSigns::may_be_traced(answer.correlation)) return true;
  take(context, scoring_side);
  if (!signs_.in_residual(level_images(), on_level(context, answer), pattern_.gain())) return true;
  const Shape& shape = context.reference.shape();
  take(context, larger_side(shape));  // at full resolution
  if (lines_.find(reference_values_, moving_values_, shape.width, shape.height, pattern_.gain())) {
    lines_.subtract(reference_values_, moving_values_);
  }
  const std::vector<float> reference = reference_values_;
  const std::vector<float> moving = moving_values_;
  const InitialPose pose = pose_of(answer);
  return std::any_of(slow_radii.begin(), slow_radii.end(), [&](std::int64_t radius) {
    reference_values_ = reference;
    moving_values_ = moving;
    for (std::vector<float>* values : {&reference_values_, &moving_values_}) {
      subtract_local_mean(*values, shape.width, shape.height, radius);
    }
    const auto rest = with_values(context);
    const auto result = rest ? search(*rest, &pose) : std::span<const Candidate>{};
    return !result.empty() && corner_distance(transform_of(result.front()), transform_of(answer),
                                              shape) <= confirming_distance;
  });
}

// As check(), without a last look at the result.
bool FixedPatternCheck::search_scene(const PairContext& context, std::vector<Candidate>& found,
                                     const Search& search) {
  const double distance =
      corner_distance(transform_of(found.front()), Homography{}, context.reference.shape());
  if (distance >= still_distance) {
    if (check_moved(context, found, search)) return true;
    if (distance > max_pulled_distance) return false;
  }
  return check_still(context, found, search) || check_covered(context, found, search);
}

bool FixedPatternCheck::check(const PairContext& context, std::vector<Candidate>& found,
                              const Search& search) {
  if (!(context.reference.shape() == context.moving.shape())) return false;
  if (is_beyond_reach(context, found.front())) return false;
  const bool has_scene = search_scene(context, found, search);
  if (is_confirmed(context, found.front(), search)) return has_scene;
  found.front().other_shift_ratio = 1;
  return true;
}

bool FixedPatternCheck::check_unreliable(const PairContext& context, std::vector<Candidate>& found,
                                         const Search& search) {
  if (!(context.reference.shape() == context.moving.shape())) return false;
  take(context, scoring_side);
  if (!lines_.find(reference_values_, moving_values_, level_.width, level_.height,
                   pattern_.gain())) {
    return false;
  }
  const auto shown = without_lines(context);
  if (!shown) return false;
  const std::span<const Candidate> result = search(*shown, nullptr);
  if (result.empty() || is_still(context, result.front())) return false;
  const Candidate start = result.front();
  take(*shown, pattern_side);
  const auto scene = behind_pattern(*shown, start, search);
  if (!scene || !is_clear(*shown, *scene, search)) return false;
  found.insert(found.begin(), *scene);
  return true;
}

}  // namespace warpalign::detail

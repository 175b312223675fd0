// Finds the motion of a scene under a pattern that is fixed to the sensor.
#include "registration/scene/fixed_pattern_check.hpp"

#include "registration/numerics/transform_distance.hpp"
#include "registration/pair/level_pair.hpp"

namespace warpalign::detail {

namespace {

// In pixels: an answer that differs by less is the same.
constexpr double same_answer = 0.05;

// The part of the votes from which the pattern pulls a fit too much to be trusted with its pixels.
// Below it an answer is trusted that the pattern has pulled by no more than `small_pull` pixels.
constexpr double notable_sensor_part = 0.1;
constexpr double small_pull = 0.25;

// How far an answer is from no motion, in pixels at the corners.
double distance_from_still(const PairContext& context, const Candidate& candidate) {
  return corner_distance(transform_of(candidate), Homography{}, context.reference.shape());
}

bool have_one_shape(const PairContext& context) {
  return context.reference.shape() == context.moving.shape();
}

}  // namespace

bool FixedPatternCheck::is_beyond_reach(const PairContext& context, const Candidate& candidate) {
  return have_one_shape(context) && detail::is_beyond_reach(distance_from_still(context, candidate),
                                                            context.reference.shape());
}

bool FixedPatternCheck::check_still(const PairContext& context, std::vector<Candidate>& found,
                                    const SearchAgain& search) {
  scene_.level().take(context, changed_side);
  if (!SensorSigns::in_changes(scene_.level().pattern())) return false;
  const auto cleaned = scene_.without_lines(context);
  const PairContext& shown = cleaned ? *cleaned : context;
  const auto start = scene_.in_changes(shown, found.front(), search);
  const auto scene = start ? scene_.behind_pattern(shown, *start, search) : std::nullopt;
  if (!scene || !scene_.is_clear(shown, *scene, search)) return false;
  found.insert(found.begin(), *scene);
  return true;
}

bool FixedPatternCheck::check_moved(const PairContext& context, std::vector<Candidate>& found,
                                    const SearchAgain& search) {
  Candidate& answer = found.front();
  if (!SensorSigns::may_be_in_votes(answer.correlation, scale_of(answer.matrix))) return false;
  SensorLevel& level = scene_.level();
  level.take(context, scoring_side);
  if (!SensorSigns::in_votes(level.pattern(), level.on_level(context, answer))) return false;
  const auto cleaned = scene_.without_lines(context);
  const PairContext& shown = cleaned ? *cleaned : context;
  const auto scene = scene_.behind_pattern(shown, answer, search);
  if (!scene) return false;
  const double pull =
      corner_distance(transform_of(*scene), transform_of(answer), context.reference.shape());
  if (pull < same_answer) return false;
  const bool is_harmless = scene_.sensor_part() < notable_sensor_part && pull < small_pull;
  if (!is_harmless && !scene_.is_clear(shown, *scene, search)) return false;
  answer = *scene;
  return true;
}

// A pattern that covers every pixel, such as the noise of a sensor, cannot be masked. It is not in
// the difference of the images, which tells where the scene may be.
bool FixedPatternCheck::check_covered(const PairContext& context, std::vector<Candidate>& found,
                                      const SearchAgain& search) {
  Candidate& answer = found.front();
  if (!SensorSigns::may_be_traced(answer.correlation)) return false;
  scene_.level().take(context, scoring_side);
  if (!SensorSigns::in_fine_structure(scene_.level().images())) return false;
  auto scene = scene_.in_difference(context, search);
  if (!scene) {
    answer.other_shift_ratio = 1;
    return false;
  }
  scene->proposed_by = answer.proposed_by;
  // Both motions are there, and neither is determined well enough to be accepted.
  if (!scene_.is_determined(context, *scene, search)) scene->other_shift_ratio = 1;
  found.insert(found.begin(), *scene);
  return true;
}

// Whether a fit to what does not change slowly agrees. Where the images show no trace of a pattern
// none has to: then their residual is noise.
bool FixedPatternCheck::is_confirmed(const PairContext& context, const Candidate& answer,
                                     const SearchAgain& search) {
  if (!SensorSigns::may_be_traced(answer.correlation)) return true;
  SensorLevel& level = scene_.level();
  level.take(context, scoring_side);
  return !signs_.in_residual(level.images(), level.on_level(context, answer), level.gain()) ||
         scene_.is_confirmed(context, answer, search);
}

// As check(), without a last look at the result.
bool FixedPatternCheck::search_scene(const PairContext& context, std::vector<Candidate>& found,
                                     const SearchAgain& search) {
  const double distance = distance_from_still(context, found.front());
  if (distance >= still_distance) {
    if (check_moved(context, found, search)) return true;
    if (distance > max_pulled_distance) return false;
  }
  return check_still(context, found, search) || check_covered(context, found, search);
}

bool FixedPatternCheck::check(const PairContext& context, std::vector<Candidate>& found,
                              const SearchAgain& search) {
  if (!have_one_shape(context) || is_beyond_reach(context, found.front())) return false;
  scene_.level().forget();
  const bool has_scene = search_scene(context, found, search);
  if (is_confirmed(context, found.front(), search)) return has_scene;
  found.front().other_shift_ratio = 1;
  return true;
}

bool FixedPatternCheck::check_unreliable(const PairContext& context, std::vector<Candidate>& found,
                                         const SearchAgain& search) {
  if (!have_one_shape(context)) return false;
  scene_.level().forget();
  scene_.level().take(context, scoring_side);
  if (!scene_.level().shows_lines()) return false;
  const auto shown = scene_.without_lines(context);
  if (!shown) return false;
  const std::span<const Candidate> result = search(*shown, nullptr);
  if (result.empty() || is_still(context, result.front())) return false;
  const Candidate start = result.front();
  const auto scene = scene_.behind_pattern(*shown, start, search);
  if (!scene || !scene_.is_clear(*shown, *scene, search)) return false;
  found.insert(found.begin(), *scene);
  return true;
}

}  // namespace warpalign::detail

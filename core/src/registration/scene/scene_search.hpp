// Searches for the motion of a scene behind a pattern that is fixed to the sensor.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"
#include "registration/pair/initial_pose.hpp"
#include "registration/patterns/difference_shift.hpp"
#include "registration/scene/remaining_pair.hpp"
#include "registration/scene/sensor_level.hpp"

#include <warpalign/device.hpp>

#include <functional>
#include <optional>
#include <span>

namespace warpalign::detail {

/// Searches a pair; with an initial pose, only near that. Returns the candidates, the best first;
/// none unless that one is reliable.
using SearchAgain = std::function<std::span<const Candidate>(const PairContext& context,
                                                             const InitialPose* initial)>;

/// Each function returns nothing if it finds no motion of a scene. The images of a pair have one
/// shape. Used by one thread at a time.
class SceneSearch {
 public:
  explicit SceneSearch(const Device& device) : difference_(device), remaining_(device) {}

  /// The level that the functions below read, and leave at another side.
  [[nodiscard]] SensorLevel& level() { return level_; }

  /// Both images without what columns and rows of the sensor add to them, if that is notable.
  [[nodiscard]] std::optional<PairContext> without_lines(const PairContext& context);

  /// The scene's motion where nothing, or little, seems to have moved, from what has changed.
  /// Nothing if that is `found`.
  [[nodiscard]] std::optional<Candidate> in_changes(const PairContext& context,
                                                    const Candidate& found,
                                                    const SearchAgain& search);
  /// The scene's motion near `start`, without the pattern that does not follow it. Sets
  /// sensor_part().
  [[nodiscard]] std::optional<Candidate> behind_pattern(const PairContext& context,
                                                        const Candidate& start,
                                                        const SearchAgain& search);
  /// The scene's motion where the difference of the images shows it, from the whole images. Nothing
  /// if the scene does not move.
  [[nodiscard]] std::optional<Candidate> in_difference(const PairContext& context,
                                                       const SearchAgain& search);

  /// The sensor's part of the votes of behind_pattern().
  [[nodiscard]] double sensor_part() const { return sensor_part_; }
  /// Whether the scene that behind_pattern() has found is the larger part, and determines its
  /// motion well.
  [[nodiscard]] bool is_clear(const PairContext& context, const Candidate& scene,
                              const SearchAgain& search);
  /// Whether all pixels determine a motion well.
  [[nodiscard]] bool is_determined(const PairContext& context, const Candidate& scene,
                                   const SearchAgain& search);
  /// Whether a fit to what does not change slowly, without lines of the sensor, agrees with an
  /// answer.
  [[nodiscard]] bool is_confirmed(const PairContext& context, const Candidate& answer,
                                  const SearchAgain& search);

 private:
  [[nodiscard]] bool do_halves_agree(const PairContext& context, const Candidate& found,
                                     const SearchAgain& search);

  SensorLevel level_;
  DifferenceShift difference_;
  RemainingPair remaining_;
  SensorLevel::Values fine_;  // what does not change slowly
  double sensor_part_ = 0;    // see MotionVotes
};

}  // namespace warpalign::detail

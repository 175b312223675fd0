// Finds the motion of a scene under a pattern that is fixed to the sensor.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"
#include "registration/pair/initial_pose.hpp"
#include "registration/patterns/difference_shift.hpp"
#include "registration/patterns/fixed_pattern.hpp"
#include "registration/patterns/line_pattern.hpp"
#include "registration/patterns/sensor_signs.hpp"
#include "registration/pyramid/image_pyramid.hpp"

#include <warpalign/device.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Used by one thread at a time.
class FixedPatternCheck {
 public:
  /// Searches a pair; with an initial pose, only near that. Returns the candidates, the best first;
  /// none unless that one is reliable.
  using Search = std::function<std::span<const Candidate>(const PairContext& context,
                                                          const InitialPose* initial)>;

  explicit FixedPatternCheck(const Device& device) : device_(device), difference_(device) {}

  /// Whether images of one shape have moved so far that a pattern does not pull the answer.
  [[nodiscard]] static bool is_beyond_reach(const PairContext& context, const Candidate& candidate);

  /// `found`: the reliable result of a search of the whole images, by intensity. If they have one
  /// shape and show a fixed pattern, searches again in what it leaves. If that shows the scene's
  /// motion clearly, and not as before, makes it the first candidate and returns true. If something
  /// else than the sensor moves, and it is not clear how, makes the first candidate ambiguous.
  bool check(const PairContext& context, std::vector<Candidate>& found, const Search& search);
  /// The same for a result that is not reliable, or empty, if columns and rows of the sensor have
  /// offsets.
  bool check_unreliable(const PairContext& context, std::vector<Candidate>& found,
                        const Search& search);

 private:
  void take(const PairContext& context, double side);
  [[nodiscard]] Homography to_level(const Homography& transform) const;
  [[nodiscard]] std::optional<PairContext> masked(const PairContext& context,
                                                  std::vector<std::uint8_t>& mask);
  [[nodiscard]] std::optional<PairContext> without(const PairContext& context,
                                                   std::span<const std::uint8_t> pattern);
  [[nodiscard]] std::optional<PairContext> with_values(const PairContext& context);
  [[nodiscard]] std::optional<PairContext> without_lines(const PairContext& context);
  [[nodiscard]] std::optional<PairContext> half(const PairContext& context, int which);
  std::optional<double> distance_of_halves(const PairContext& context, const Candidate& found,
                                           const Search& search);
  [[nodiscard]] std::optional<Candidate> moved(const PairContext& context, const Candidate& found,
                                               const Search& search);
  std::optional<Candidate> behind_pattern(const PairContext& context, const Candidate& start,
                                          const Search& search);
  bool is_clear(const PairContext& context, const Candidate& scene, const Search& search);
  bool check_still(const PairContext& context, std::vector<Candidate>& found, const Search& search);
  bool check_moved(const PairContext& context, std::vector<Candidate>& found, const Search& search);
  std::optional<Candidate> shown_by_difference(const PairContext& context, const Search& search);
  bool check_covered(const PairContext& context, std::vector<Candidate>& found,
                     const Search& search);
  bool is_confirmed(const PairContext& context, const Candidate& answer, const Search& search);
  bool search_scene(const PairContext& context, std::vector<Candidate>& found,
                    const Search& search);
  [[nodiscard]] SensorImages level_images() const;
  [[nodiscard]] SensorAnswer on_level(const PairContext& context, const Candidate& answer) const;
  [[nodiscard]] static bool is_still(const PairContext& context, const Candidate& candidate);

  Device device_;
  FixedPattern pattern_;
  DifferenceShift difference_;
  SensorSigns signs_;
  LinePattern lines_;
  Affine to_image_;  // from pixels of the level that pattern_ has taken
  Shape level_;      // of that
  std::optional<ImagePyramid> reference_, moving_;  // of which a part is masked
  std::optional<ImagePyramid> reference_of_values_, moving_of_values_;
  double sensor_part_ = 0;  // see MotionVotes
  // Locals that keep their memory.
  std::vector<float> reference_values_, moving_values_, reference_weight_, moving_weight_;
  std::vector<std::uint8_t> mask_, half_, own_mask_;
};

}  // namespace warpalign::detail

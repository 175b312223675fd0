// Finds the motion of a scene under a pattern that is fixed to the sensor.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"
#include "registration/patterns/sensor_signs.hpp"
#include "registration/scene/scene_search.hpp"

#include <warpalign/device.hpp>

#include <vector>

namespace warpalign::detail {

/// Used by one thread at a time.
class FixedPatternCheck {
 public:
  explicit FixedPatternCheck(const Device& device) : scene_(device) {}

  /// Whether images of one shape have moved so far that a pattern does not pull the answer.
  [[nodiscard]] static bool is_beyond_reach(const PairContext& context, const Candidate& candidate);

  /// `found`: the reliable result of a search of the whole images, by intensity. If they have one
  /// shape and show a fixed pattern, searches again in what it leaves. If that shows the scene's
  /// motion clearly, and not as before, makes it the first candidate and returns true. If something
  /// else than the sensor moves, and it is not clear how, makes the first candidate ambiguous.
  bool check(const PairContext& context, std::vector<Candidate>& found, const SearchAgain& search);
  /// The same for a result that is not reliable, or empty, if columns and rows of the sensor have
  /// offsets.
  bool check_unreliable(const PairContext& context, std::vector<Candidate>& found,
                        const SearchAgain& search);

 private:
  bool check_still(const PairContext& context, std::vector<Candidate>& found,
                   const SearchAgain& search);
  bool check_moved(const PairContext& context, std::vector<Candidate>& found,
                   const SearchAgain& search);
  bool check_covered(const PairContext& context, std::vector<Candidate>& found,
                     const SearchAgain& search);
  bool is_confirmed(const PairContext& context, const Candidate& answer, const SearchAgain& search);
  bool search_scene(const PairContext& context, std::vector<Candidate>& found,
                    const SearchAgain& search);

  SceneSearch scene_;
  SensorSigns signs_;
};

}  // namespace warpalign::detail

// How well one pair was registered, and a group of them.
#pragma once

#include "accuracy/pair.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace accuracy {

/// The result of registering a pair.
struct Answer {
  bool found = false;  ///< false: it failed with the error `failure`, and nothing else is set
  std::string failure;
  bool reliable = false;
  double confidence = 0;
  double significance = 0;
  warpalign::Similarity similarity;
  warpalign::Homography matrix;
  bool richer = false;  ///< an affine transform or a homography
  double milliseconds = 0;
};

/// One pair's answer against the truth. Errors are infinite where there is no answer, and mean
/// nothing for unrelated pairs.
struct Score {
  std::size_t index = 0;
  bool related = true;
  bool solved = false;  ///< mean corner error below 1 % of the moving picture's diagonal
  bool reliable = false;
  bool richer = false;  ///< as in Answer
  double confidence = 0;
  double significance = 0;
  double corner_error = 0;       ///< mean distance of the reference's four mapped corners from
                                 ///< where they belong, in moving pixels
  double rotation_error = 0;     ///< absolute, degrees
  double scale_error = 0;        ///< absolute, relative to the true scale
  double translation_error = 0;  ///< of the centre, in moving pixels
  double milliseconds = 0;
};

[[nodiscard]] Score score_of(const Pair& pair, std::size_t index, const Answer& answer);

/// Medians of corner errors are over all pairs, those of the others over the solved ones; NaN
/// where there is none.
struct Summary {
  std::size_t pairs = 0;
  std::size_t solved = 0;
  std::size_t reliable = 0;
  std::size_t false_ok = 0;       ///< reliable, but not solved
  std::size_t false_refused = 0;  ///< solved, but not reliable
  double corner_median = 0;
  double corner_p95 = 0;
  double rotation_median = 0;
  double scale_median = 0;
  double translation_median = 0;
  double milliseconds_median = 0;
  std::size_t richer = 0;  ///< registered by an affine transform or a homography
};

[[nodiscard]] Summary summary_of(const std::vector<Score>& scores);

}  // namespace accuracy

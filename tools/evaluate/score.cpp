// How well one pair was registered, and a group of them.
#include "evaluate/score.hpp"

#include "support/corners.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace accuracy {

namespace {

/// With linear interpolation between the sorted values, as NumPy does.
double quantile(std::vector<double> values, double part) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const double at = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  if (values[below] == values[above]) return values[below];  // both may be infinite
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

template <class Take>
std::vector<double> taken(const std::vector<Score>& scores, bool solved_only, Take&& take) {
  std::vector<double> values;
  for (const Score& score : scores) {
    if (score.related && (score.solved || !solved_only)) values.push_back(take(score));
  }
  return values;
}

template <class Counts>
std::size_t count(const std::vector<Score>& scores, Counts&& counts) {
  return static_cast<std::size_t>(std::count_if(scores.begin(), scores.end(), counts));
}

}  // namespace

Score score_of(const Pair& pair, std::size_t index, const Answer& answer) {
  Score score;
  score.index = index;
  score.related = pair.related;
  score.reliable = answer.reliable;
  score.richer = answer.richer;
  score.confidence = answer.confidence;
  score.significance = answer.significance;
  score.milliseconds = answer.milliseconds;
  if (!pair.related) return score;
  if (!answer.found) {
    score.corner_error = score.rotation_error = score.scale_error = score.translation_error =
        std::numeric_limits<double>::infinity();
    return score;
  }
  const auto& moving = pair.moving.shape;
  const auto& truth = pair.similarity;
  const auto& found = answer.similarity;
  score.corner_error = test::mean_corner_distance(answer.matrix, pair.truth, pair.reference.shape);
  score.solved = score.corner_error < 0.01 * std::hypot(moving.width, moving.height);
  score.rotation_error = std::abs(std::remainder(found.rotation_deg - truth.rotation_deg, 360.0));
  score.scale_error = std::abs(found.scale / truth.scale - 1);
  score.translation_error = std::hypot(found.translation.x - truth.translation.x,
                                       found.translation.y - truth.translation.y);
  return score;
}

Summary summary_of(const std::vector<Score>& scores) {
  Summary summary;
  summary.pairs = scores.size();
  summary.solved = count(scores, [](const Score& s) { return s.solved; });
  summary.richer = count(scores, [](const Score& s) { return s.richer; });
  summary.reliable = count(scores, [](const Score& s) { return s.reliable; });
  summary.false_ok = count(scores, [](const Score& s) { return s.reliable && !s.solved; });
  summary.false_refused = count(scores, [](const Score& s) { return s.solved && !s.reliable; });
  const auto corners = taken(scores, false, [](const Score& s) { return s.corner_error; });
  summary.corner_median = quantile(corners, 0.5);
  summary.corner_p95 = quantile(corners, 0.95);
  const auto median = [&](double Score::*field) {
    return quantile(taken(scores, true, [field](const Score& s) { return s.*field; }), 0.5);
  };
  summary.rotation_median = median(&Score::rotation_error);
  summary.scale_median = median(&Score::scale_error);
  summary.translation_median = median(&Score::translation_error);
  std::vector<double> times(scores.size());
  std::transform(scores.begin(), scores.end(), times.begin(),
                 [](const Score& score) { return score.milliseconds; });
  summary.milliseconds_median = quantile(times, 0.5);
  return summary;
}

}  // namespace accuracy

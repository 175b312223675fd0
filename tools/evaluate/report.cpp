// The evaluation's results as text, as JSON, and as a plot.
#include "evaluate/report.hpp"

#include "reports/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace accuracy {

namespace {

using nlohmann::ordered_json;

ordered_json exposure_json(const Exposure& exposure) {
  ordered_json json{{"noise", exposure.noise}};
  if (exposure.gamma != 1) json["gamma"] = exposure.gamma;
  if (exposure.unevenness != 0) json["unevenness"] = exposure.unevenness;
  if (exposure.contrast != 1) json["contrast"] = exposure.contrast;
  if (exposure.impulses != 0) json["impulses"] = exposure.impulses;
  if (exposure.frame.present) {
    json["frame"] = {{"turn_deg", exposure.frame.turn_deg},
                     {"inset", exposure.frame.inset},
                     {"level", exposure.frame.level}};
  }
  return json;
}

ordered_json summary_json(const Summary& summary) {
  return {{"pairs", summary.pairs},
          {"solved", summary.solved},
          {"reliable", summary.reliable},
          {"false_ok", summary.false_ok},
          {"false_refused", summary.false_refused},
          {"corner_error_median", summary.corner_median},
          {"corner_error_p95", summary.corner_p95},
          {"rotation_error_deg_median", summary.rotation_median},
          {"scale_error_median", summary.scale_median},
          {"translation_error_median", summary.translation_median},
          {"milliseconds_median", summary.milliseconds_median},
          {"richer", summary.richer}};
}

ordered_json score_json(const Score& score) {
  ordered_json json{{"index", score.index},
                    {"reliable", score.reliable},
                    {"confidence", score.confidence},
                    {"significance", score.significance},
                    {"milliseconds", score.milliseconds}};
  if (!score.related) return json;
  json["solved"] = score.solved;
  json["corner_error"] = score.corner_error;
  json["rotation_error_deg"] = score.rotation_error;
  json["scale_error"] = score.scale_error;
  json["translation_error"] = score.translation_error;
  return json;
}

std::string size_of(const Picture& picture) {
  return fmt::format("{}x{}", picture.shape.width, picture.shape.height);
}

std::string number(double value, int width) {
  return std::isnan(value) ? fmt::format("{:>{}}", "-", width)
                           : fmt::format("{:>{}.2g}", value, width);
}

/// The share of pairs at or below each error, over the logarithm of the error.
warpalign::program::PlotLine share_line(const GroupResult& group, std::size_t colour) {
  warpalign::program::PlotLine line{
      group.name, warpalign::program::plot_colour(colour), {}, false, false};
  std::vector<double> errors;
  for (const Score& score : group.scores) errors.push_back(score.corner_error);
  std::sort(errors.begin(), errors.end());
  const auto count = static_cast<double>(errors.size());
  for (std::size_t i = 0; i < errors.size() && std::isfinite(errors[i]); ++i) {
    const double at = std::log10(std::max(errors[i], 1e-4));
    line.points.push_back({at, 100 * static_cast<double>(i) / count});
    line.points.push_back({at, 100 * static_cast<double>(i + 1) / count});
  }
  return line;
}

}  // namespace

std::string table_head() {
  return fmt::format("{:<13}{:>6}{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>9}{:>8}\n",
                     "group", "pairs", "solved", "reliable", "false ok", "refused", "corner px",
                     "p95 px", "rot deg", "scale", "shift px", "ms", "richer");
}

std::string table_row(const std::string& name, const Summary& summary) {
  return fmt::format("{:<13}{:>6}{:>8}{:>10}{:>10}{:>10}{}{}{}{}{}{:>9.1f}{:>8}\n", name,
                     summary.pairs, summary.solved, summary.reliable, summary.false_ok,
                     summary.false_refused, number(summary.corner_median, 10),
                     number(summary.corner_p95, 10), number(summary.rotation_median, 10),
                     number(summary.scale_median, 10), number(summary.translation_median, 10),
                     summary.milliseconds_median, summary.richer);
}

std::string pair_line(const std::string& group, const Pair& pair, const Score& score,
                      const Answer& answer) {
  std::string line = fmt::format("--only {}:{}  {}  {} {}", group, score.index, pair.original,
                                 size_of(pair.reference), size_of(pair.moving));
  if (pair.related) {
    line += fmt::format("  rot {:.3f} scale {:.4f} shift {:.2f},{:.2f} common {:.2f}",
                        pair.similarity.rotation_deg, pair.similarity.scale,
                        pair.similarity.translation.x, pair.similarity.translation.y, pair.common);
  }
  line += fmt::format("  exposure {} {}", exposure_json(pair.recipe.reference).dump(),
                      exposure_json(pair.recipe.moving).dump());
  if (!answer.found) return line + "  => " + answer.failure + "\n";
  if (pair.related) {
    line += fmt::format("  => corner {:.5f} px rot {:.6f} deg scale {:.2g} shift {:.5f} px {}",
                        score.corner_error, score.rotation_error, score.scale_error,
                        score.translation_error, score.solved ? "solved" : "NOT SOLVED");
  } else {
    line += "  =>";
  }
  return line + fmt::format(" {} confidence {:.4f} significance {:.1f} {:.1f} ms\n",
                            score.reliable ? "reliable" : "refused", score.confidence,
                            score.significance, score.milliseconds);
}

ordered_json pair_json(const Pair& pair) {
  ordered_json json{{"original", pair.original},
                    {"related", pair.related},
                    {"reference_size", {pair.reference.shape.width, pair.reference.shape.height}},
                    {"moving_size", {pair.moving.shape.width, pair.moving.shape.height}},
                    {"reference_exposure", exposure_json(pair.recipe.reference)},
                    {"moving_exposure", exposure_json(pair.recipe.moving)}};
  if (!pair.related) return json;
  const auto& h = pair.truth.h;
  json["rotation_deg"] = pair.similarity.rotation_deg;
  json["scale"] = pair.similarity.scale;
  json["translation"] = {pair.similarity.translation.x, pair.similarity.translation.y};
  json["matrix"] = {{h[0], h[1], h[2]}, {h[3], h[4], h[5]}};
  if (!pair.truth.is_affine()) json["matrix"].push_back({h[6], h[7], h[8]});
  json["common"] = pair.common;
  return json;
}

ordered_json groups_json(const std::vector<GroupResult>& groups) {
  ordered_json json = ordered_json::array();
  for (const GroupResult& group : groups) {
    ordered_json one{{"group", group.name}, {"content", group.content}};
    one.update(summary_json(summary_of(group.scores)));
    one["scores"] = ordered_json::array();
    for (const Score& score : group.scores) one["scores"].push_back(score_json(score));
    json.push_back(std::move(one));
  }
  return json;
}

std::string error_plot(const std::vector<GroupResult>& groups) {
  constexpr std::size_t lines_per_panel = 4;
  std::vector<warpalign::program::Plot> plots;
  for (const GroupResult& group : groups) {
    if (group.scores.empty() || !group.scores.front().related) continue;
    if (plots.empty() || plots.back().lines.size() == lines_per_panel) {
      plots.push_back({"Pairs registered to an error or better",
                       "log10 of the mean corner error in pixels",
                       "% of the pairs",
                       {},
                       true});
    }
    plots.back().lines.push_back(share_line(group, plots.back().lines.size()));
  }
  return warpalign::program::draw_plots(plots);
}

}  // namespace accuracy

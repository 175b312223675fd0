// The reports of a series of volumes: the table, JSON, the plot, and text.
#include "reports/volume_series_report.hpp"

#include "reports/deformation_report.hpp"
#include "reports/json.hpp"
#include "reports/report_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace warpalign::program {
namespace {

constexpr std::size_t max_series_points = 8192;
// The limit in millimetres beyond which volumes of a head are often left out of an analysis (Power
// et al. 2014).
constexpr double displacement_limit = 0.5;

std::string number_or_na(const std::optional<double>& number) {
  return number ? fmt::format("{:.6f}", *number) : "n/a";
}

Json number_or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json triple(const std::array<double, 3>& values) { return {values[0], values[1], values[2]}; }

}  // namespace

std::string series_table_header(char separator) {
  std::string text =
      "volume,status,trans_x,trans_y,trans_z,rot_x,rot_y,rot_z,framewise_displacement,dvars,"
      "correlation,confidence\n";
  std::replace(text.begin(), text.end(), ',', separator);
  return text;
}

std::string series_table_line(const SeriesRow& row, char separator) {
  std::string line = fmt::format("{},{}", row.index, row.status);
  for (std::size_t i = 0; i < 6; ++i) {
    std::optional<double> number;
    if (row.parameters) {
      number = i < 3 ? row.parameters->translation[i] : row.parameters->rotation_deg[i - 3];
    }
    line += "," + number_or_na(number);
  }
  const bool failed = row.status == "failed";
  line += fmt::format(",{},{},{},{}\n", number_or_na(row.displacement), number_or_na(row.dvars),
                      number_or_na(failed ? std::nullopt : std::optional(row.found.correlation)),
                      number_or_na(failed ? std::nullopt : std::optional(row.found.confidence)));
  std::replace(line.begin(), line.end(), ',', separator);
  return line;
}

std::string series_json_start(const SeriesSetting& setting) {
  Json object;
  object["series"] = setting.series;
  object["reference"] = setting.reference;
  object["motion"] = setting.motion;
  object["width"] = setting.shape.width;
  object["height"] = setting.shape.height;
  object["depth"] = setting.shape.depth;
  object["axes"] = setting.world;
  object["radius_" + setting.unit] = setting.radius;
  object["notes"] = Json(setting.notes);
  object["device"] = setting.device.name;
  object["backend"] = setting.device.backend;
  std::string text = object.text(-1);
  text.resize(text.find_last_of('}'));
  return text + ", \"volumes\": [";
}

std::string series_json_line(const SeriesRow& row, bool is_first, const std::string& unit) {
  Json object;
  object["volume"] = row.index;
  object["status"] = row.status;
  if (row.status == "failed") {
    object["reason"] = row.reason;
  } else {
    const auto& m = row.found.matrix.m;
    object["matrix"] = {
        {m[0], m[1], m[2], m[3]}, {m[4], m[5], m[6], m[7]}, {m[8], m[9], m[10], m[11]}};
    object["trans_" + unit] = row.parameters ? triple(row.parameters->translation) : Json(nullptr);
    object["rot_deg"] = row.parameters ? triple(row.parameters->rotation_deg) : Json(nullptr);
    object["framewise_displacement"] = number_or_null(row.displacement);
    object["dvars"] = number_or_null(row.dvars);
    object["correlation"] = row.found.correlation;
    object["confidence"] = row.found.confidence;
    object["overlap"] = row.found.overlap;
    if (row.found.deformation) object["deformation"] = deformation_json(row.found.deformation);
  }
  std::string text = object.text(-1);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return (is_first ? "\n" : ",\n") + text;
}

void SeriesSummary::add(const SeriesRow& row) {
  ok_ += row.status == "ok" ? 1 : 0;
  unreliable_ += row.status == "unreliable" ? 1 : 0;
  failed_ += row.status == "failed" ? 1 : 0;
  if (row.found.deformation) deformations_.add(*row.found.deformation);
  if (row.displacement) {
    const double displacement = *row.displacement;
    ++displacements_;
    displacement_sum_ += displacement;
    displacement_max_ = std::max(displacement_max_, displacement);
    above_limit_ += displacement > displacement_limit ? 1 : 0;
    widest_ = std::max(widest_, displacement);
  }
  if (!row.parameters) return;
  for (std::size_t i = 0; i < 3; ++i) {
    largest_.translation[i] =
        std::max(largest_.translation[i], std::abs(row.parameters->translation[i]));
    largest_.rotation_deg[i] =
        std::max(largest_.rotation_deg[i], std::abs(row.parameters->rotation_deg[i]));
  }
  if (row.index % step_ != 0) return;
  // A thinned point stands for the largest displacement of those that it replaces.
  points_.push_back({row.index, *row.parameters, widest_});
  widest_ = 0;
  if (points_.size() < max_series_points) return;
  step_ *= 2;
  std::erase_if(points_, [&](const Point& point) { return point.index % step_ != 0; });
}

template <class Number>
PlotLine SeriesSummary::line(const std::string& label, std::size_t colour,
                             const Number& number) const {
  PlotLine line{label, plot_colour(colour), {}};
  for (const Point& point : points_) {
    line.points.push_back({static_cast<double>(point.index), number(point)});
  }
  return line;
}

std::string SeriesSummary::draw() const {
  const std::string volumes =
      step_ == 1 ? "volume" : fmt::format("volume (one in {} is drawn)", step_);
  Plot translation{"Translation", volumes, unit_, {}};
  Plot rotation{"Rotation", volumes, "degrees", {}};
  constexpr std::array axes{"x", "y", "z"};
  for (std::size_t i = 0; i < 3; ++i) {
    translation.lines.push_back(
        line(axes[i], i, [i](const Point& p) { return p.parameters.translation[i]; }));
    rotation.lines.push_back(
        line(axes[i], i, [i](const Point& p) { return p.parameters.rotation_deg[i]; }));
  }
  Plot displacement{"Framewise displacement", volumes, unit_, {}, true};
  displacement.lines.push_back(line("", 6, [](const Point& p) { return p.displacement; }));
  if (!points_.empty() && unit_ == "mm") {
    PlotLine limit{fmt::format("{} mm", displacement_limit), plot_colour(1), {}, true};
    limit.points = {{static_cast<double>(points_.front().index), displacement_limit},
                    {static_cast<double>(points_.back().index), displacement_limit}};
    displacement.lines.push_back(std::move(limit));
  }
  return draw_plots({translation, rotation, displacement}, PlotArrangement::below_one_another);
}

std::string SeriesSummary::json_end(const std::string& ended_early) const {
  Json object;
  object["ok"] = ok_;
  object["unreliable"] = unreliable_;
  object["failed"] = failed_;
  object["ended_early"] = ended_early.empty() ? Json(nullptr) : Json(ended_early);
  object["mean_framewise_displacement"] =
      displacements_ == 0 ? Json(nullptr)
                          : Json(displacement_sum_ / static_cast<double>(displacements_));
  std::string text = object.text(-1);
  return "\n], " + text.substr(1);
}

std::string SeriesSummary::text(const SeriesSetting& setting, const std::vector<std::string>& files,
                                double seconds) const {
  const auto& t = largest_.translation;
  const auto& r = largest_.rotation_deg;
  std::string text = report_line("series", setting.series) +
                     report_line("reference", setting.reference + ", " + setting.motion) +
                     report_line("volumes", fmt::format("{} ok, {} unreliable, {} failed", ok_,
                                                        unreliable_, failed_));
  if (ok_ > 0) {
    text += report_line("motion",
                        fmt::format("at most ({:.3f}, {:.3f}, {:.3f}) {} and ({:.3f}, "
                                    "{:.3f}, {:.3f}) degrees, {}",
                                    t[0], t[1], t[2], unit_, r[0], r[1], r[2], setting.world));
  }
  text += deformation_line(deformations_.overall());
  if (displacements_ > 0) {
    std::string displacement = fmt::format("mean {:.3f} {}, at most {:.3f} {}",
                                           displacement_sum_ / static_cast<double>(displacements_),
                                           unit_, displacement_max_, unit_);
    if (unit_ == "mm") {
      displacement += fmt::format(", above {} mm in {} volumes", displacement_limit, above_limit_);
    }
    text += report_line("FD", displacement);
  }
  for (const std::string& note : setting.notes) text += report_line("note", note);
  for (const std::string& file : files) text += report_line("wrote", file);
  text +=
      report_line("device", fmt::format("{} ({})", setting.device.name, setting.device.backend));
  return text + report_line("time", fmt::format("{:.2f} s, {:.1f} volumes a second", seconds,
                                                static_cast<double>(volumes()) / seconds));
}

}  // namespace warpalign::program

// The reports of a series of volumes: the table, JSON, the plot, and text.
#pragma once

#include "reports/deformation_report.hpp"
#include "reports/svg_plot.hpp"
#include "reports/volume_motion.hpp"

#include <warpalign/device.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace warpalign::program {

/// What is known of a series before its first volume.
struct SeriesSetting {
  std::string series;       ///< the file's name and a description of its contents
  std::string reference;    ///< "volume 0", "the mean", or a file's name
  std::string motion;       ///< "rigid"
  Shape shape;              ///< of the volumes
  std::string world;        ///< what the axes of translations are
  std::string unit = "mm";  ///< of lengths
  double radius = 50;       ///< of framewise displacement
  std::vector<std::string> notes;
  DeviceInfo device;
};

/// The table of a series: a header, and a line for each volume. `separator`: a tab or a comma.
[[nodiscard]] std::string series_table_header(char separator);
[[nodiscard]] std::string series_table_line(const SeriesRow& row, char separator);

/// One JSON object, as described in docs/reference/program-output.md: its start, a line for each
/// volume, and its end.
[[nodiscard]] std::string series_json_start(const SeriesSetting& setting);
[[nodiscard]] std::string series_json_line(const SeriesRow& row, bool is_first,
                                           const std::string& unit);

/// What the text and the plot tell of all volumes. Long series are thinned out, so that memory does
/// not grow with them.
class SeriesSummary {
 public:
  /// `unit`: of lengths.
  explicit SeriesSummary(std::string unit = "mm") : unit_(std::move(unit)) {}

  void add(const SeriesRow& row);
  [[nodiscard]] std::size_t volumes() const { return ok_ + unreliable_ + failed_; }
  [[nodiscard]] std::size_t unreliable() const { return unreliable_; }
  [[nodiscard]] std::size_t failed() const { return failed_; }
  /// Translations, rotations and framewise displacement over the volumes, as SVG.
  [[nodiscard]] std::string draw() const;
  /// The end of series_json_start(). `ended_early`: empty if the series is whole.
  [[nodiscard]] std::string json_end(const std::string& ended_early) const;
  [[nodiscard]] std::string text(const SeriesSetting& setting,
                                 const std::vector<std::string>& files, double seconds) const;

 private:
  struct Point {
    std::size_t index = 0;
    RigidParameters parameters;
    double displacement = 0;
  };
  template <class Number>
  [[nodiscard]] PlotLine line(const std::string& label, std::size_t colour,
                              const Number& number) const;

  std::string unit_;
  std::size_t ok_ = 0, unreliable_ = 0, failed_ = 0;
  std::vector<Point> points_;
  std::size_t step_ = 1;
  double widest_ = 0;  // of the drawn displacement since thinning
  RigidParameters largest_;
  double displacement_sum_ = 0, displacement_max_ = 0;
  std::size_t displacements_ = 0, above_limit_ = 0;
  DeformationSummary deformations_;
};

}  // namespace warpalign::program

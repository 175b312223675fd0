// The report of a local registration as JSON, as text and as a page.
#include "reports/local_report.hpp"

#include "io/markup.hpp"
#include "io/terminal.hpp"
#include "reports/field_arrows.hpp"
#include "reports/html_page.hpp"
#include "reports/json.hpp"
#include "reports/mean_pictures.hpp"
#include "reports/orientation.hpp"
#include "reports/report_lines.hpp"

#include <fmt/format.h>

#include <cmath>

namespace warpalign::program {
namespace {

/// JSON has no infinity; null also states that the value is unknown.
Json number_or_null(double number) { return std::isfinite(number) ? Json(number) : Json(); }

Json window_json(const FrameMotion& motion, std::size_t i) {
  const WindowShift& window = motion.shifts[i];
  Json object;
  object["centre"] = {window.centre.x, window.centre.y};
  object["shift"] = {number_or_null(window.shift.x), number_or_null(window.shift.y)};
  object["uncertainty"] = number_or_null(window.uncertainty);
  object["correlation"] = number_or_null(window.correlation);
  object["significance"] = number_or_null(window.significance);
  object["reliable"] = window.reliable;
  object["outlier"] = static_cast<bool>(motion.outliers[i]);
  return object;
}

Json field_json(const FrameMotion& motion) {
  if (!motion.field) return {};
  const FieldSummary field = summary_of(motion);
  Json object;
  object["mean"] = {field.mean.x, field.mean.y};
  object["spread"] = field.spread;
  object["largest"] = field.largest;
  object["rms"] = field.rms;
  object["overlap"] = field.inside;
  return object;
}

std::string windows_text(const FrameMotion& motion) {
  return fmt::format("{} x {}: {} used, {} outliers, {} not reliable", motion.windows_x,
                     motion.windows_y, motion.count_used(), motion.count_outliers(),
                     motion.shifts.size() - motion.count_used() - motion.count_outliers());
}

std::string field_text(const FieldSummary& field) {
  return fmt::format("mean ({:.3f}, {:.3f}) pixels, spread {:.3f} (at most {:.3f}) pixels",
                     field.mean.x, field.mean.y, field.spread, field.largest);
}

std::string fit_text(const FieldSummary& field) {
  return fmt::format(
      "windows differ from the field by {:.4f} pixels (root mean square); median uncertainty "
      "{:.4f}, "
      "correlation {:.4f}, significance {:.1f}",
      field.rms, field.uncertainty, field.correlation, field.significance);
}

std::string headline(const FrameMotion& motion) {
  if (!motion.field) {
    return fmt::format("{}: no window has a reliable shift; larger windows may (--window)\n",
                       coloured("No reliable fit", Colour::red));
  }
  const std::string field = field_text(summary_of(motion));
  if (motion.reliable()) {
    return fmt::format("{}: {}\n", coloured("The images fit", Colour::green), field);
  }
  return fmt::format("{}: only {} of {} windows agree; at best {}\n",
                     coloured("No reliable fit", Colour::red), motion.count_used(),
                     motion.shifts.size(), field);
}

}  // namespace

std::string json_text(const LocalReport& report) {
  const FrameMotion& motion = report.motion;
  Json object;
  object["status"] = motion.reliable() ? "ok" : "unreliable";
  object["motion"] = "local";
  object["field"] = field_json(motion);
  object["windows"] = {motion.windows_x, motion.windows_y};
  object["used"] = motion.count_used();
  object["outliers"] = motion.count_outliers();
  object["shifts"] = Json::array();
  for (std::size_t i = 0; i < motion.shifts.size(); ++i) {
    object["shifts"].push_back(window_json(motion, i));
  }
  object["missing"] = missing_json(report.missing);
  add_orientation(object, report.reference_orientation, report.moving_orientation);
  object["device"] = report.device.name;
  object["backend"] = report.device.backend;
  return object.text();
}

std::string human_text(const LocalReport& report) {
  const FrameMotion& motion = report.motion;
  std::string text =
      headline(motion) + "\n" +
      report_line("reference",
                  fmt::format("{} ({})", report.reference, report.reference_description)) +
      report_line("moving", fmt::format("{} ({})", report.moving, report.moving_description)) +
      report_line("windows", windows_text(motion)) + missing_line(report.missing, "pixels");
  if (motion.field) {
    const FieldSummary field = summary_of(motion);
    text += report_line("field", field_text(field)) + report_line("fit", fit_text(field));
  }
  for (const std::string& name : report.unwritten) {
    text += report_line("unwritten", name + ": there is no field");
  }
  return text + closing_lines(report.device, report.files, report.seconds, {});
}

std::string html_text(const LocalReport& report, const LoadedImage& reference,
                      const LoadedImage& overlay) {
  const FrameMotion& motion = report.motion;
  const FieldSummary field = summary_of(motion);
  std::string body = fmt::format(
      "<h1>warpalign register</h1>\n<p class=\"lead\">{} to {}, local motion<br>windows {}<br>{}"
      "<br>{}<br>{} ({}, {})</p>\n",
      escaped(report.moving), escaped(report.reference), windows_text(motion), field_text(field),
      fit_text(field), escaped(report.device.name), escaped(report.device.id),
      escaped(report.device.platform));
  body += "<h2>The field over the reference</h2>\n" +
          draw_field_arrows(gray_picture(reference), motion) +
          fmt::format("<p class=\"note\">{}</p>\n", escaped(field_arrows_words(motion)));
  body += "<h2>How well the images fit</h2>\n<figure style=\"max-width:100%\">" +
          html_image(overlay, "overlay") +
          "<figcaption>Left: the reference in green over the aligned image in magenta, gray where "
          "they agree. Right: a checkerboard of the two.</figcaption></figure>\n";
  return html_page("warpalign register", body);
}

}  // namespace warpalign::program

// The report of a template as text and JSON.
#include "reports/template_report.hpp"

#include "io/terminal.hpp"
#include "reports/option_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

namespace warpalign::program {
namespace {

std::size_t count_used(const Template& found) {
  return static_cast<std::size_t>(std::ranges::count_if(
      found.transforms, [](const auto& transform) { return transform.has_value(); }));
}

Json shape_json(const TemplateReport& report) {
  const Shape& shape = report.found.shape;
  if (report.are_volumes) return {shape.width, shape.height, shape.depth};
  return {shape.width, shape.height};
}

Json images_json(const TemplateReport& report) {
  Json images = Json::array();
  for (std::size_t i = 0; i < report.images.size(); ++i) {
    Json image;
    image["file"] = report.images[i];
    image["mask"] = report.masks.empty() ? Json(nullptr) : Json(report.masks[i]);
    image["used"] = report.found.transforms[i].has_value();
    image["confidence"] = report.found.confidences[i];
    image["transform"] = report.transforms[i] ? Json(*report.transforms[i]) : Json(nullptr);
    images.push_back(image);
  }
  return images;
}

std::string left_out_lines(const TemplateReport& report) {
  std::string lines;
  for (std::size_t i = 0; i < report.images.size(); ++i) {
    if (report.found.transforms[i]) continue;
    lines += report_line("left out", fmt::format("{}: confidence {:.2f}, 0.5 is needed",
                                                 report.images[i], report.found.confidences[i]));
  }
  return lines;
}

}  // namespace

bool uses_all(const Template& found) { return count_used(found) == found.transforms.size(); }

std::string json_text(const TemplateReport& report) {
  Json changes = Json::array();
  for (const double change : report.found.changes) changes.push_back(change);
  Json object;
  object["status"] = uses_all(report.found) ? "ok" : "unreliable";
  object["motion"] = name_of(report.motion);
  object["modality"] = name_of(report.modality);
  object["shape"] = shape_json(report);
  object["changes"] = changes;
  object["images"] = images_json(report);
  object["device"] = report.device.name;
  object["backend"] = report.device.backend;
  return object.text();
}

std::string human_text(const TemplateReport& report) {
  const Template& found = report.found;
  const char* const things = report.are_volumes ? "volumes" : "images";
  const std::string headline =
      fmt::format("Template of {} of {} {}", count_used(found), found.transforms.size(), things);
  return fmt::format("{}\n\n", coloured(headline, uses_all(found) ? Colour::green : Colour::red)) +
         report_line("motion",
                     fmt::format("{}, {} rounds", name_of(report.motion), found.changes.size())) +
         report_line("size", fmt::format("{} {}", to_string(found.shape),
                                         report.are_volumes ? "voxels" : "pixels")) +
         report_line("moved by",
                     fmt::format("{:.3g} {} in each round", fmt::join(found.changes, ", "),
                                 report.are_volumes ? "voxels" : "pixels")) +
         left_out_lines(report) + closing_lines(report.device, report.files, report.seconds, {});
}

}  // namespace warpalign::program

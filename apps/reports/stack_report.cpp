// What the program says about a stack: CSV, JSON, a plot, and text for people.
#include "reports/stack_report.hpp"

#include "reports/json.hpp"
#include "reports/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpalign::program {
namespace {

/// In quotes where a reader could take it for more than one field (RFC 4180).
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string csv_numbers(const FramePlace& place, bool fast) {
  const Similarity& drift = place.similarity;
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{}",
                     place.reference ? std::to_string(*place.reference) : "", drift.rotation_deg,
                     drift.scale, drift.translation.x, drift.translation.y, place.confidence,
                     place.reliable, fast ? "" : fmt::format("{}", place.overlap),
                     place.correlation, place.significance, place.refined);
}

Json frame_json(const StackFrame& frame, std::size_t index, bool fast) {
  Json object;
  object["frame"] = index;
  object["file"] = frame.file;
  object["status"] = frame.status();
  if (!frame.trouble.empty()) {
    object["reason"] = frame.trouble;
    return object;
  }
  const FramePlace& place = frame.place;
  const Affine& m = place.matrix;
  object["reference"] = place.reference ? Json(*place.reference) : Json();
  object["matrix"] = {{m.a, m.b, m.c}, {m.d, m.e, m.f}};
  object["rotation_deg"] = place.similarity.rotation_deg;
  object["scale"] = place.similarity.scale;
  object["translation"] = {place.similarity.translation.x, place.similarity.translation.y};
  object["confidence"] = place.confidence;
  object["reliable"] = place.reliable;
  object["overlap"] = fast ? Json() : Json(place.overlap);
  object["correlation"] = place.correlation;
  object["significance"] = place.significance;
  object["refined"] = place.refined;
  object["aligned"] = frame.aligned.empty() ? Json() : Json(frame.aligned);
  return object;
}

/// One number of every frame that is ok.
template <typename Number>
PlotLine line_of(const StackReport& report, const std::string& label, std::size_t colour,
                 Number&& number) {
  PlotLine line{label, plot_colour(colour), {}};
  for (std::size_t i = 0; i < report.frames.size(); ++i) {
    const FramePlace& place = report.frames[i].place;
    if (!place.reliable) continue;
    line.points.push_back({static_cast<double>(i), number(place.similarity)});
  }
  return line;
}

std::string frame_line(const StackFrame& frame, std::size_t index) {
  if (!frame.trouble.empty()) return fmt::format("  {:>5}  FAILED: {}\n", index, frame.trouble);
  const Similarity& drift = frame.place.similarity;
  return fmt::format("  {:>5} {:>10.4f} {:>10.6f} {:>10.3f} {:>10.3f}  {:>10.2f}  {}{}\n", index,
                     drift.rotation_deg, drift.scale, drift.translation.x, drift.translation.y,
                     frame.place.confidence, frame.file,
                     frame.place.reliable ? "" : "  NOT RELIABLE");
}

}  // namespace

const char* StackFrame::status() const {
  if (!trouble.empty()) return "failed";
  return place.reliable ? "ok" : "unreliable";
}

std::size_t StackReport::count(const std::string& status) const {
  return static_cast<std::size_t>(
      std::count_if(frames.begin(), frames.end(),
                    [&](const StackFrame& frame) { return frame.status() == status; }));
}

std::string drift_csv(const StackReport& report) {
  std::string csv =
      "frame,file,status,reference,rotation_deg,scale,translation_x,translation_y,confidence,"
      "reliable,overlap,correlation,significance,refined,reason\n";
  const std::string nothing(10, ',');
  for (std::size_t i = 0; i < report.frames.size(); ++i) {
    const StackFrame& frame = report.frames[i];
    csv += fmt::format("{},{},{},{},{}\n", i, csv_field(frame.file), frame.status(),
                       frame.trouble.empty() ? csv_numbers(frame.place, report.fast) : nothing,
                       csv_field(frame.trouble));
  }
  return csv;
}

std::string drift_json(const StackReport& report) {
  Json object;
  object["to"] = name_of(report.to);
  object["width"] = report.shape.width;
  object["height"] = report.shape.height;
  object["device"] = report.device.name;
  object["backend"] = report.device.backend;
  for (const char* status : {"ok", "unreliable", "failed"}) object[status] = report.count(status);
  object["frames"] = Json::array();
  for (std::size_t i = 0; i < report.frames.size(); ++i) {
    object["frames"].push_back(frame_json(report.frames[i], i, report.fast));
  }
  return object.text();
}

std::string drift_plot(const StackReport& report) {
  Plot shift{"Translation from frame 0", "frame", "pixels", {}};
  shift.lines.push_back(
      line_of(report, "x", 0, [](const Similarity& drift) { return drift.translation.x; }));
  shift.lines.push_back(
      line_of(report, "y", 1, [](const Similarity& drift) { return drift.translation.y; }));
  Plot rotation{"Rotation from frame 0", "frame", "degrees", {}};
  rotation.lines.push_back(
      line_of(report, "", 2, [](const Similarity& drift) { return drift.rotation_deg; }));
  Plot growth{"Growth from frame 0", "frame", "per cent", {}};
  growth.lines.push_back(
      line_of(report, "", 3, [](const Similarity& drift) { return 100 * (drift.scale - 1); }));
  return draw_plots({shift, rotation, growth});
}

std::string drift_text(const StackReport& report) {
  std::string text = fmt::format("  {:>5} {:>10} {:>10} {:>10} {:>10}  {:>10}  {}\n", "frame",
                                 "degrees", "scale", "x", "y", "confidence", "file");
  for (std::size_t i = 0; i < report.frames.size(); ++i) text += frame_line(report.frames[i], i);
  text +=
      fmt::format("\n  {} frames of {}, registered to the {}: {} ok, {} not reliable, {} failed\n",
                  report.frames.size(), to_string(report.shape),
                  report.to == StackReference::mean ? "running mean"
                                                    : std::string(name_of(report.to)) + " frame",
                  report.count("ok"), report.count("unreliable"), report.count("failed"));
  for (const std::string& file : report.files) text += fmt::format("  written    {}\n", file);
  return text + fmt::format("  device     {} ({}, {})\n  time       {:.2f} s\n", report.device.name,
                            report.device.id, report.device.platform, report.seconds);
}

}  // namespace warpalign::program

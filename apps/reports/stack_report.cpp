// The reports of a stack: CSV, JSON, and text.
#include "reports/stack_report.hpp"

#include "reports/ambiguity.hpp"
#include "reports/json.hpp"

#include <fmt/format.h>

namespace warpalign::program {
namespace {

/// Quotes a field if a reader could take it for several (RFC 4180).
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string csv_numbers(const FrameAlignment& place, bool fast) {
  const Similarity& drift = place.similarity;
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{}",
                     place.reference ? std::to_string(*place.reference) : "", drift.rotation_deg,
                     drift.scale, drift.translation.x, drift.translation.y, place.confidence,
                     place.reliable, fast ? "" : fmt::format("{}", place.overlap),
                     place.correlation, place.significance, place.refined);
}

Json frame_json(const StackFrame& frame, bool fast) {
  Json object;
  object["frame"] = frame.index;
  object["file"] = frame.file;
  object["status"] = frame.status();
  if (!frame.trouble.empty()) {
    object["reason"] = frame.trouble;
    return object;
  }
  const FrameAlignment& place = frame.place;
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
  add_ambiguity(object, place.period, place.undetermined_direction);
  if (place.spread) object["spread"] = *place.spread;
  object["aligned"] = frame.aligned.empty() ? Json() : Json(frame.aligned);
  if (!frame.note.empty()) object["reason"] = frame.note;
  return object;
}

}  // namespace

namespace {

Json lines_json(const UndoneLines& lines) {
  const LineOffset& offset = lines.offset;
  Json object;
  object["pixels"] = offset.pixels;
  object["standard_error"] = lines.is_found ? Json(offset.standard_error) : Json();
  object["confidence"] = lines.is_found ? Json(offset.confidence) : Json();
  object["frames"] = offset.frames;
  object["undone"] = offset.reliable;
  return object;
}

Json channels_json(const std::vector<ChannelTransform>& channels) {
  Json list = Json::array();
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const Affine& m = channels[i].matrix;
    Json channel;
    channel["channel"] = i;
    channel["matrix"] = {{m.a, m.b, m.c}, {m.d, m.e, m.f}};
    channel["confidence"] = channels[i].confidence ? Json(*channels[i].confidence) : Json();
    list.push_back(channel);
  }
  return list;
}

std::string text_of_lines(const UndoneLines& lines) {
  const LineOffset& offset = lines.offset;
  if (!offset.reliable) {
    return fmt::format("no reliable offset of the odd lines (confidence {:.2f}); left as they are",
                       offset.confidence);
  }
  const std::string found = lines.is_found
                                ? fmt::format(" (standard error {:.3f}, confidence {:.2f})",
                                              offset.standard_error, offset.confidence)
                                : "";
  return fmt::format("odd lines were {:.3f} pixels to the right; undone{}", offset.pixels, found);
}

std::string text_of_use(const LeftOutPattern& pattern) {
  if (!pattern.has_scene) return "there is no scene";
  if (!pattern.is_clear) return "not distinguished from a scene that moves so little";
  if (!pattern.reference_gain) return "left out";
  return *pattern.reference_gain != 0 ? "left out, of the reference too"
                                      : "left out; the reference does not show it";
}

}  // namespace

void StackTotals::count(const StackFrame& frame) {
  if (!frame.trouble.empty()) {
    ++failed;
  } else if (frame.place.reliable) {
    ++ok;
  } else {
    ++unreliable;
  }
}

std::string text_of_reference(const StackSetting& setting) {
  if (setting.to == StackReference::mean) return "the running mean";
  if (setting.to == StackReference::previous) return "the previous frame";
  if (setting.to == StackReference::known) return "the reference of " + setting.origin.file;
  const std::optional<std::size_t> frame = setting.origin.frame;
  if (setting.origin.reason == DriftOrigin::Reason::none) return "nothing";
  if (frame == 0) return "the first frame";
  return frame ? fmt::format("frame {}", *frame) : setting.origin.file;
}

std::string text_of_origin(const StackSetting& setting) {
  const DriftOrigin& origin = setting.origin;
  const std::string reason = text_of(origin.reason);
  if (origin.reason == DriftOrigin::Reason::none) return "none: " + reason;
  const std::string name =
      origin.frame ? fmt::format("frame {} ({})", *origin.frame, origin.file) : origin.file;
  return fmt::format("{}, {}", name, reason);
}

std::string csv_header(const StackSetting& setting) {
  return fmt::format(
      "frame,file,status,reference,rotation_deg,scale,translation_x,translation_y,confidence,"
      "reliable,overlap,correlation,significance,refined,reason{}{}\n",
      csv_ambiguity_columns, setting.has_spread ? ",spread" : "");
}

std::string csv_line(const StackFrame& frame, const StackSetting& setting) {
  const std::string nothing(10, ',');
  std::string line =
      fmt::format("{},{},{},{},{}", frame.index, csv_field(frame.file), frame.status(),
                  frame.trouble.empty() ? csv_numbers(frame.place, setting.fast) : nothing,
                  csv_field(frame.trouble.empty() ? frame.note : frame.trouble)) +
      csv_ambiguity(frame.place.period, frame.place.undetermined_direction);
  if (setting.has_spread) line += ',';
  if (frame.place.spread) line += fmt::format("{}", *frame.place.spread);
  return line + '\n';
}

std::string json_start(const StackSetting& setting) {
  Json object;
  object["to"] = name_of(setting.to);
  const DriftOrigin& origin = setting.origin;
  Json& reference = object["reference"];
  reference["frame"] = origin.frame ? Json(*origin.frame) : Json();
  reference["file"] = origin.file.empty() ? Json() : Json(origin.file);
  reference["reason"] = text_of(origin.reason);
  object["width"] = setting.shape.width;
  object["height"] = setting.shape.height;
  object["device"] = setting.device.name;
  object["backend"] = setting.device.backend;
  if (setting.lines) object["line_offset"] = lines_json(*setting.lines);
  if (setting.pattern) {
    Json& pattern = object["fixed_pattern"];
    pattern["rms"] = setting.pattern->rms;
    pattern["frames"] = setting.pattern->frames;
    pattern["scene"] = setting.pattern->has_scene;
    pattern["clear"] = setting.pattern->is_clear;
    if (setting.pattern->reference_gain) {
      pattern["reference_gain"] = *setting.pattern->reference_gain;
    }
  }
  if (!setting.channels.empty()) object["channels"] = channels_json(setting.channels);
  const std::string text = object.text();
  return text.substr(0, text.rfind("\n}")) + ",\n  \"frames\": [";
}

std::string json_line(const StackFrame& frame, const StackSetting& setting, bool is_first) {
  std::string text = frame_json(frame, setting.fast).text(-1);
  text.pop_back();  // its newline
  return (is_first ? "\n    " : ",\n    ") + text;
}

std::string json_end(const StackTotals& totals, const MeanPictures* means) {
  Json object;
  object["ok"] = totals.ok;
  object["unreliable"] = totals.unreliable;
  object["failed"] = totals.failed;
  object["ended_early"] = totals.ended_early.empty() ? Json() : Json(totals.ended_early);
  object["sharpness"] =
      means == nullptr ? Json() : Json{means->sharpness_before, means->sharpness_after};
  return "\n  ],\n" + object.text().substr(2);
}

std::string text_header(const StackSetting& setting) {
  if (setting.local) {
    return fmt::format("  {:>5} {:>10} {:>10} {:>10}  {:>10}  {}\n", "frame", "x", "y", "spread",
                       "confidence", "file");
  }
  const std::string spread = setting.has_spread ? fmt::format(" {:>10}", "spread") : "";
  return fmt::format("  {:>5} {:>10} {:>10} {:>10} {:>10}{}  {:>10}  {}\n", "frame", "degrees",
                     "scale", "x", "y", spread, "confidence", "file");
}

std::string text_line(const StackFrame& frame, const StackSetting& setting) {
  if (!frame.trouble.empty()) {
    return fmt::format("  {:>5}  FAILED: {}\n", frame.index, frame.trouble);
  }
  const Similarity& drift = frame.place.similarity;
  const std::string shape =
      setting.local ? "" : fmt::format(" {:>10.4f} {:>10.6f}", drift.rotation_deg, drift.scale);
  const std::string spread =
      setting.has_spread ? fmt::format(" {:>10.3f}", frame.place.spread.value_or(0)) : "";
  return fmt::format("  {:>5}{} {:>10.3f} {:>10.3f}{}  {:>10.2f}  {}{}\n", frame.index, shape,
                     drift.translation.x, drift.translation.y, spread, frame.place.confidence,
                     frame.file,
                     frame.place.reliable    ? ""
                     : frame.place.ambiguous ? "  AMBIGUOUS"
                                             : "  NOT RELIABLE");
}

std::string text_end(const StackSetting& setting, const StackTotals& totals) {
  std::string text =
      fmt::format("\n  {} frames of {}, registered to {}: {} ok, {} not reliable, {} failed\n",
                  totals.frames(), to_string(setting.shape), text_of_reference(setting), totals.ok,
                  totals.unreliable, totals.failed);
  const bool is_known = setting.to == StackReference::known;
  if (!setting.origin.is_usual() && !is_known)
    text += fmt::format("  reference  {}\n", text_of_origin(setting));
  if (setting.lines) text += fmt::format("  lines      {}\n", text_of_lines(*setting.lines));
  if (setting.pattern) {
    text +=
        fmt::format("  pattern    fixed to the sensor, rms {:.3g}, found in {} frames; {}\n",
                    setting.pattern->rms, setting.pattern->frames, text_of_use(*setting.pattern));
  }
  for (std::size_t i = 0; i < setting.channels.size(); ++i) {
    const ChannelTransform& channel = setting.channels[i];
    if (!channel.confidence) continue;
    text += fmt::format("  channel    {}: shifted by {:.3f}, {:.3f} pixels, confidence {:.2f}\n", i,
                        channel.matrix.c, channel.matrix.f, *channel.confidence);
  }
  if (!totals.ended_early.empty()) text += fmt::format("  cut short  {}\n", totals.ended_early);
  for (const std::string& file : totals.files) text += fmt::format("  written    {}\n", file);
  return text + fmt::format("  device     {} ({}, {})\n  time       {:.2f} s\n",
                            setting.device.name, setting.device.id, setting.device.platform,
                            totals.seconds);
}

}  // namespace warpalign::program

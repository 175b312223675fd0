// The report of a stack as one HTML page.
#include "reports/stack_page.hpp"

#include "io/markup.hpp"
#include "reports/ambiguity.hpp"
#include "reports/field_arrows.hpp"
#include "reports/html_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warpalign::program {
namespace {

constexpr std::size_t max_bad_frames = 200;

/// The number with the larger absolute value.
double larger(double a, double b) { return std::abs(b) > std::abs(a) ? b : a; }

std::string figure(const LoadedImage& picture, const std::string& words) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", html_image(picture, words),
                     escaped(words));
}

std::string header(const StackSetting& setting, const StackTotals& totals) {
  std::string html = fmt::format(
      "<h1>warpalign stack</h1>\n<p class=\"lead\">{} frames of {}, registered to {}: {} ok, "
      "{} not reliable, {} failed<br>{} ({}, {})</p>\n",
      totals.frames(), to_string(setting.shape), escaped(text_of_reference(setting)), totals.ok,
      totals.unreliable, totals.failed, escaped(setting.device.name), escaped(setting.device.id),
      escaped(setting.device.platform));
  if (!setting.origin.is_usual()) {
    html += fmt::format("<p>Reference: {}</p>\n", escaped(text_of_origin(setting)));
  }
  if (!totals.ended_early.empty()) {
    html += fmt::format("<p class=\"bad\">{}</p>\n", escaped(totals.ended_early));
  }
  return html;
}

std::string mean_section(const MeanPictures& means) {
  std::string html = "<h2>Mean of the frames that are ok</h2>\n";
  html += figure(means.before, fmt::format("before: sharpness {:.4g}", means.sharpness_before));
  html += figure(means.after, fmt::format("after: sharpness {:.4g}", means.sharpness_after));
  const std::string change = means.sharpness_before > 0
                                 ? fmt::format(" It is {:.3g} times what it was.",
                                               means.sharpness_after / means.sharpness_before)
                                 : "";
  return html + fmt::format(
                    "<p class=\"note\">Sharpness is the root mean square of the gradient, in gray "
                    "levels (of 256) a pixel, where at least half of the frames show something.{} "
                    "Both pictures have the same scale of brightness.</p>\n",
                    change);
}

std::string motion_section(const MeanPictures& means, const FrameMotion* widest) {
  if (widest == nullptr) return {};
  return "<h2>Local motion of the frame where it is largest, over the mean</h2>\n" +
         draw_field_arrows(means.after, *widest) +
         fmt::format("<p class=\"note\">{}</p>\n", escaped(field_arrows_words(*widest)));
}

/// Why a frame is not reliable.
std::string text_of(const FrameAlignment& place) {
  if (!place.ambiguous) return fmt::format("not reliable: confidence {:.2f}", place.confidence);
  return "ambiguous: it matches at other shifts as well" +
         ambiguity_text(place.period, place.undetermined_direction);
}

}  // namespace

void StackPage::add(const StackFrame& frame) {
  if (!frame.trouble.empty() || !frame.place.reliable) {
    if (bad_.size() < max_bad_frames) bad_.push_back(frame);
    return;
  }
  const Similarity& drift = frame.place.similarity;
  largest_.translation.x = larger(largest_.translation.x, drift.translation.x);
  largest_.translation.y = larger(largest_.translation.y, drift.translation.y);
  largest_.rotation_deg = larger(largest_.rotation_deg, drift.rotation_deg);
  if (std::abs(drift.scale - 1) > std::abs(largest_.scale - 1)) largest_.scale = drift.scale;
}

std::string StackPage::extremes(const DriftOrigin& origin) const {
  return fmt::format(
      "<p>Farthest from {}: x {:.3f} and y {:.3f} pixels, {:.4f} degrees, scale {:.6f}.</p>\n",
      origin.frame ? fmt::format("frame {}", *origin.frame) : "the reference",
      largest_.translation.x, largest_.translation.y, largest_.rotation_deg, largest_.scale);
}

std::string StackPage::bad_frames(const StackTotals& totals) const {
  if (bad_.empty()) return {};
  std::string html =
      "<h2>Frames that are not ok</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>frame</th>"
      "<th class=\"w\">file</th><th class=\"w\">why</th></tr></thead>\n<tbody>\n";
  for (const StackFrame& frame : bad_) {
    const std::string why = frame.trouble.empty() ? text_of(frame.place) : frame.trouble;
    html += fmt::format("<tr><td>{}</td><td class=\"w\">{}</td><td class=\"w\">{}</td></tr>\n",
                        frame.index, escaped(frame.file), escaped(why));
  }
  html += "</tbody></table></div>\n";
  const std::size_t more = totals.unreliable + totals.failed - bad_.size();
  return more == 0 ? html : html + fmt::format("<p class=\"note\">And {} more.</p>\n", more);
}

std::string StackPage::html(const StackSetting& setting, const StackTotals& totals,
                            const DriftPlot& drift, const MeanPictures& means,
                            const FrameMotion* widest) const {
  return html_page("warpalign stack", header(setting, totals) + "<h2>Drift</h2>\n" + drift.draw() +
                                          extremes(setting.origin) + mean_section(means) +
                                          motion_section(means, widest) + bad_frames(totals));
}

}  // namespace warpalign::program

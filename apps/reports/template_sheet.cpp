// A picture of the images of a template, of their mean, and of the template.
#include "reports/template_sheet.hpp"

#include "io/gray_levels.hpp"
#include "reports/contact_sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace warpalign::program {
namespace {

constexpr std::size_t max_shown_images = 10;
constexpr std::size_t columns = 4;
constexpr std::int64_t max_cell_side = 400;
// The share of the darkest and of the brightest samples that are black and white.
constexpr double clipped_share = 0.005;

std::vector<float> finite_of(const std::vector<float>& samples) {
  std::vector<float> finite;
  std::ranges::copy_if(samples, std::back_inserter(finite),
                       [](float sample) { return std::isfinite(sample); });
  return finite;
}

float sample_at(std::vector<float>& samples, double share) {
  const auto last = static_cast<double>(samples.size() - 1);
  const auto nth = samples.begin() + static_cast<std::ptrdiff_t>(std::lround(share * last));
  std::ranges::nth_element(samples, nth);
  return *nth;
}

}  // namespace

TemplateSheet::TemplateSheet(std::int64_t width, std::int64_t height)
    : width_(width),
      height_(height),
      sum_(static_cast<std::size_t>(width * height)),
      count_(sum_.size()) {}

std::vector<float> TemplateSheet::placed(const Array& plane) const {
  std::vector<float> samples(sum_.size(), std::numeric_limits<float>::quiet_NaN());
  const auto from = plane.samples<float>();
  const std::int64_t height = std::min(height_, plane.extents[0]);
  const std::int64_t width = std::min(width_, plane.extents[1]);
  for (std::int64_t y = 0; y < height; ++y) {
    const auto row = from.subspan(static_cast<std::size_t>(y * plane.extents[1]),
                                  static_cast<std::size_t>(width));
    std::ranges::copy(row, samples.begin() + y * width_);
  }
  return samples;
}

void TemplateSheet::add_to_mean(const std::vector<float>& samples) {
  double count = 0;
  double sum = 0;
  double squares = 0;
  for (const float sample : samples) {
    if (!std::isfinite(sample)) continue;
    const auto value = static_cast<double>(sample);
    count += 1;
    sum += value;
    squares += value * value;
  }
  const double mean = count > 0 ? sum / count : 0;
  const double deviation = count > 0 ? std::sqrt(std::max(0.0, squares / count - mean * mean)) : 0;
  if (!(deviation > 0)) return;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!std::isfinite(samples[i])) continue;
    sum_[i] += (static_cast<double>(samples[i]) - mean) / deviation;
    count_[i] += 1;
  }
}

void TemplateSheet::add(const Array& plane) {
  const std::vector<float> samples = placed(plane);
  if (first_.size() < max_shown_images) first_.push_back(picture_of(samples));
  add_to_mean(samples);
}

LoadedImage TemplateSheet::picture_of(const std::vector<float>& samples) const {
  std::vector<float> levels(samples.size(), 0.0F);
  std::vector<float> finite = finite_of(samples);
  if (!finite.empty()) {
    const float black = sample_at(finite, clipped_share);
    const float white = sample_at(finite, 1 - clipped_share);
    const float gain = white > black ? 255.0F / (white - black) : 0.0F;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (std::isfinite(samples[i])) levels[i] = gain * (samples[i] - black);
    }
  }
  return gray_image(levels, {width_, height_, 1});
}

LoadedImage TemplateSheet::draw(const Array& found, const std::vector<bool>& used) const {
  std::vector<SheetCell> cells;
  for (std::size_t i = 0; i < first_.size(); ++i) {
    cells.push_back({fmt::format("{}{}", i, used[i] ? "" : " (LEFT OUT)"), first_[i]});
  }
  std::vector<float> mean(sum_.size(), std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    if (count_[i] > 0) mean[i] = static_cast<float>(sum_[i] / count_[i]);
  }
  cells.push_back({"MEAN BEFORE", picture_of(mean)});
  cells.push_back({"TEMPLATE", picture_of(placed(found))});
  return draw_contact_sheet(cells, columns, max_cell_side);
}

}  // namespace warpalign::program

// Measures the shifts of windows again, in frames from which a field has removed most of the
// motion.
#include "registration/local/field/field_rounds.hpp"

#include "device/lanes.hpp"
#include "registration/local/field/field_interior.hpp"
#include "registration/local/field/outliers.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

constexpr int max_rounds = 3;
// The rounds end when one changes the shifts by no more than this fraction of their uncertainties
// (root mean square over the windows). Another round would change them even less.
constexpr double small_change = 0.25;
// In pixels. Smaller uncertainties describe the fit, not the motion.
constexpr double min_uncertainty = 0.004;

ResampleSpec resample_spec(PixelType type, const Shape& frame) {
  ResampleSpec spec;
  spec.images.shape = frame;
  spec.output = frame;
  spec.input = type;
  return spec;
}

double square_of_change(const WindowShift& before, const WindowShift& now) {
  const double x = now.shift.x - before.shift.x;
  const double y = now.shift.y - before.shift.y;
  return (x * x + y * y) / std::pow(std::max(now.uncertainty, min_uncertainty), 2);
}

}  // namespace

FieldRounds::FieldRounds(const Device& on, PixelType type, const Shape& frame,
                         const WindowGrid& grid)
    : frame_(frame),
      grid_(grid),
      resample_(on, resample_spec(type, frame)),
      coordinates_(on, frame),
      raw_(on.make_image(type, frame)),
      pixels_(on.make_image(PixelType::f32, frame)),
      means_(on.make_buffer(grid.origins.size() * sizeof(float))),
      steps_(on, frame, 1, grid) {}

// Fits the fields of the frames in parallel, because the device waits for them.
void FieldRounds::fit_fields(std::span<const WindowShift> shifts) {
  const std::size_t windows = grid_.origins.size();
  run_in_lanes(std::min(frames_.size(), host_threads()), frames_.size(),
               [&](std::size_t, std::size_t number) {
                 if (!frames_[number].active) return;
                 frames_[number].field = fit_field(shifts.subspan(number * windows, windows));
               });
}

// Returns nothing if the shifts do not determine a field. A later call of DisplacementField::fit()
// reports the reason.
std::optional<DisplacementField> FieldRounds::fit_field(std::span<const WindowShift> shifts) const {
  const std::vector<bool> outliers = find_outliers(shifts, grid_.across, grid_.down);
  try {
    return DisplacementField::fit_means(frame_, grid_.window, shifts, outliers, grid_.across,
                                        grid_.down);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void FieldRounds::resample(StageClock& clock, const HostImage& image,
                           const DisplacementField& field) {
  Stream& stream = clock.stream();
  clock.run("upload", [&] { stream.upload(image, raw_); });
  clock.run("field", [&] { coordinates_.make(stream, field); });
  clock.run("resample",
            [&] { resample_.execute(stream, raw_, coordinates_.coordinates(), pixels_); });
}

bool FieldRounds::measure(StageClock& clock, const WindowReference& reference,
                          const HostImage& image, const DisplacementField& field,
                          std::span<const float> means, std::span<const WindowFit> fits,
                          std::span<WindowShift> shifts) {
  resample(clock, image, field);
  clock.stream().upload(means.data(), means.size_bytes(), means_);
  const PixelRange inside = interior_of(field);
  fits_.clear();
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    fits_.push_back(is_usable(shifts[i]) ? fits[i].again(inside)
                                         : WindowFit(grid_.window, grid_.origins[i]));
  }
  steps_.run(clock, pixels_, reference.pixels, means_, reference.means, fits_);
  double change = 0;  // mean square, in uncertainties
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    WindowShift found = fits_[i].result();
    if (!found.reliable) continue;
    const Point mean = field.mean(found.centre, grid_.window);
    found.shift = {mean.x + found.shift.x, mean.y + found.shift.y};
    change += square_of_change(shifts[i], found) / static_cast<double>(shifts.size());
    shifts[i] = found;
  }
  return change > small_change * small_change;
}

void FieldRounds::run(StageClock& clock, const WindowReference& reference,
                      std::span<const HostImage> frames, const Buffer& means,
                      std::span<const WindowFit> fits, std::span<WindowShift> shifts) {
  const std::size_t windows = grid_.origins.size();
  downloaded_means_.resize(frames.size() * windows);
  clock.stream().download(means, downloaded_means_.data(),
                          downloaded_means_.size() * sizeof(float));
  frames_.assign(frames.size(), {});
  for (int round = 0; round < max_rounds; ++round) {
    fit_fields(shifts);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      Frame& frame = frames_[i];
      frame.active =
          frame.field &&
          measure(clock, reference, frames[i], *frame.field,
                  std::span(downloaded_means_).subspan(i * windows, windows),
                  fits.subspan(i * windows, windows), shifts.subspan(i * windows, windows));
      frame.field.reset();
    }
  }
}

}  // namespace warpalign::detail

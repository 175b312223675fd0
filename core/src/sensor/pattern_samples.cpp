// Frames of a stack in host memory, and what they show at the same pixels.
#include "sensor/pattern_samples.hpp"

#include "device/host_rows.hpp"
#include "registration/numerics/box_sum.hpp"
#include "registration/numerics/host_numbers.hpp"
#include "registration/numerics/upper_median.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warpalign::detail {

namespace {

constexpr std::int64_t background_radius = 10;
constexpr std::int64_t blocks = 8;  // along each axis
// Typical wavelengths, in pixels, of what a box of 3 x 3 pixels removes, and of what a box leaves
// and the next one removes, in sides of the box.
constexpr double shortest_wavelength = 3;
constexpr double wavelength_of_box = 2.2;
constexpr std::int64_t band_radii[] = {1, 2, 4, 8, 16};

/// Reads an image and forgets the pixels that are not finite.
Plane plane_of(const HostImage& image, std::vector<std::uint8_t>& known) {
  const auto columns = static_cast<std::size_t>(image.width);
  std::vector<double> line(columns);
  Plane plane(known.size());
  const auto* bytes = static_cast<const std::byte*>(image.data);
  for (std::size_t y = 0, i = 0; y < static_cast<std::size_t>(image.height); ++y) {
    read_line(image.type, bytes + y * pitch_of(image), line);
    for (std::size_t x = 0; x < columns; ++x, ++i) {
      const auto value = static_cast<float>(line[x]);
      if (!std::isfinite(value)) known[i] = 0;
      plane[i] = std::isfinite(value) ? value : 0;
    }
  }
  return plane;
}

void subtract_mean(Plane& plane, std::span<const std::uint8_t> known) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < plane.size(); ++i) {
    if (known[i] == 0) continue;
    sum += static_cast<double>(plane[i]);
    ++count;
  }
  const auto mean = static_cast<float>(count > 0 ? sum / count : 0);
  for (std::size_t i = 0; i < plane.size(); ++i) plane[i] = known[i] != 0 ? plane[i] - mean : 0;
}

/// The mean square of an image after a binomial filter of 3 x 3 samples was applied twice, and the
/// mean square of the white noise in it.
struct Energies {
  double smooth = 0, noise = 0;
};

// The variances of white noise after the binomial filter and after the second difference along both
// axes (Immerkaer 1996).
constexpr double smooth_noise = (35.0 / 128) * (35.0 / 128);
constexpr double difference_noise = 36;

Energies energies_of(const PatternSamples& samples, const Plane& image) {
  static constexpr double weights[5] = {0.0625, 0.25, 0.375, 0.25, 0.0625};
  const std::int64_t width = samples.width;
  Plane along(image.size());
  for (std::int64_t y = 0; y < samples.height; ++y) {
    for (std::int64_t x = 2; x < width - 2; ++x) {
      const float* at = image.data() + y * width + x;
      along[static_cast<std::size_t>(y * width + x)] =
          0.0625F * (at[-2] + at[2]) + 0.25F * (at[-1] + at[1]) + 0.375F * at[0];
    }
  }
  double smooth = 0, noise = 0, count = 0;
  for (std::int64_t y = 2; y < samples.height - 2; ++y) {
    for (std::int64_t x = 2; x < width - 2; ++x) {
      const std::int64_t i = y * width + x;
      if (samples.known[static_cast<std::size_t>(i)] == 0) continue;
      double value = 0;
      for (int k = 0; k < 5; ++k) {
        value +=
            weights[k] * static_cast<double>(along[static_cast<std::size_t>(i + (k - 2) * width)]);
      }
      const float* at = image.data() + i;
      const auto second = [width](const float* p) { return p[-width] - 2 * p[0] + p[width]; };
      const auto difference = static_cast<double>(second(at - 1) - 2 * second(at) + second(at + 1));
      smooth += value * value;
      noise += difference * difference;
      ++count;
    }
  }
  if (count == 0) return {};
  return {smooth / count, noise / count / difference_noise};
}

}  // namespace

PatternSamples::PatternSamples(std::span<const HostImage> images, const HostImage* mask)
    : width(images.front().width), height(images.front().height) {
  known.assign(static_cast<std::size_t>(images.front().shape().plane()), 1);
  if (mask != nullptr) {
    const Plane shown = plane_of(*mask, known);
    for (std::size_t i = 0; i < known.size(); ++i) known[i] = shown[i] != 0 ? 1 : 0;
  }
  for (const HostImage& image : images) frames.push_back(plane_of(image, known));
  for (Plane& frame : frames) subtract_mean(frame, known);
}

Plane smoothed(const PatternSamples& samples, const Plane& image, std::int64_t radius) {
  Plane sum = image;
  Plane count(samples.known.begin(), samples.known.end());
  BoxSum box;
  box.apply(sum, samples.width, samples.height, radius);
  box.apply(count, samples.width, samples.height, radius);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = samples.known[i] != 0 ? sum[i] / count[i] : 0;
  }
  return sum;
}

Plane without_background(const PatternSamples& samples, const Plane& image) {
  Plane rest = smoothed(samples, image, background_radius);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = image[i] - rest[i];
  return rest;
}

void limit_to_white(const PatternSamples& samples, Plane& image) {
  Plane result(image.size());
  Plane finer = image;
  double finest = 0;       // its mean square, as a part of that of white noise
  double finer_noise = 1;  // the variance of white noise in it
  const auto add_band = [&](const Plane& band, double noise) {
    const double energy = moments_of(band, band, samples.known).first;
    if (finest == 0) finest = energy / noise;
    const auto factor = static_cast<float>(energy > finest * noise ? finest * noise / energy : 1);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += factor * band[i];
  };
  for (const std::int64_t radius : band_radii) {
    Plane coarser = smoothed(samples, image, radius);
    for (std::size_t i = 0; i < finer.size(); ++i) finer[i] -= coarser[i];
    const double noise = 1 / static_cast<double>((2 * radius + 1) * (2 * radius + 1));
    add_band(finer, finer_noise - noise);
    finer = std::move(coarser);
    finer_noise = noise;
  }
  add_band(finer, finer_noise);
  image = std::move(result);
}

void make_orthogonal(const PatternSamples& samples, Plane& image, const Plane& other,
                     double shortest) {
  Plane result(image.size());
  Plane finer = image, other_finer = other;
  double wavelength = shortest_wavelength;
  const auto add_band = [&](const Plane& band, const Plane& other_band) {
    const PlaneMoments moments = moments_of(band, other_band, samples.known);
    const bool is_compared = wavelength >= shortest && moments.second > moments.first;
    const auto part = static_cast<float>(is_compared ? moments.product / moments.second : 0);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += band[i] - part * other_band[i];
  };
  for (const std::int64_t radius : band_radii) {
    Plane coarser = smoothed(samples, image, radius);
    Plane other_coarser = smoothed(samples, other, radius);
    for (std::size_t i = 0; i < finer.size(); ++i) {
      finer[i] -= coarser[i];
      other_finer[i] -= other_coarser[i];
    }
    add_band(finer, other_finer);
    wavelength = wavelength_of_box * static_cast<double>(2 * radius + 1);
    finer = std::move(coarser);
    other_finer = std::move(other_coarser);
  }
  add_band(finer, other_finer);
  image = std::move(result);
}

PlaneMoments moments_of(const Plane& a, const Plane& b, std::span<const std::uint8_t> known) {
  PlaneMoments moments;
  double count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (known[i] == 0) continue;
    const auto first = static_cast<double>(a[i]);
    const auto second = static_cast<double>(b[i]);
    moments.first += first * first;
    moments.second += second * second;
    moments.product += first * second;
    ++count;
  }
  if (count == 0) return {};
  return {moments.first / count, moments.second / count, moments.product / count};
}

double PlaneMoments::correlation() const {
  const double both = std::sqrt(first * second);
  return both > 0 ? product / both : 0;
}

double structure_of(const PatternSamples& samples, const Plane& image) {
  const Plane rest = without_background(samples, image);
  return moments_of(rest, rest, samples.known).first;
}

Plane temporal_median(const PatternSamples& samples) {
  Plane median(samples.pixels());
  std::vector<float> values(samples.frames.size());
  for (std::size_t i = 0; i < median.size(); ++i) {
    if (samples.known[i] == 0) continue;
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = samples.frames[k][i];
    median[i] = upper_median(std::span(values));
  }
  return median;
}

Change change_between(const PatternSamples& samples) {
  Plane mean(samples.pixels());
  const auto count = static_cast<float>(samples.frames.size());
  for (const Plane& frame : samples.frames) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += frame[i] / count;
  }
  Change change;
  const Energies shown = energies_of(samples, without_background(samples, mean));
  change.structure = shown.smooth;
  for (const Plane& frame : samples.frames) {
    Plane difference = frame;
    for (std::size_t i = 0; i < mean.size(); ++i) difference[i] -= mean[i];
    const Energies found = energies_of(samples, without_background(samples, difference));
    change.changed += std::max(0.0, found.smooth - smooth_noise * found.noise);
    change.noise += found.noise;
  }
  change.changed /= static_cast<double>(samples.frames.size());
  change.noise /= static_cast<double>(samples.frames.size());
  return change;
}

double spread_over_blocks(const PatternSamples& samples, const Plane& image) {
  std::vector<double> energy(blocks * blocks);
  for (std::int64_t y = 0; y < samples.height; ++y) {
    const std::int64_t row = y * blocks / samples.height;
    for (std::int64_t x = 0; x < samples.width; ++x) {
      const auto value =
          static_cast<double>(image[static_cast<std::size_t>(y * samples.width + x)]);
      energy[static_cast<std::size_t>(row * blocks + x * blocks / samples.width)] += value * value;
    }
  }
  double sum = 0, squares = 0;
  for (const double block : energy) {
    sum += block;
    squares += block * block;
  }
  return squares > 0 ? sum * sum / squares : 0;
}

}  // namespace warpalign::detail

// Fourier transforms, magnitudes, log-polar grids and phase correlation.
#include "properties/trial.hpp"
#include "reference/fft/fft.hpp"
#include "reference/spectrum/autocorrelation_peaks.hpp"
#include "reference/spectrum/log_polar.hpp"
#include "reference/spectrum/magnitude.hpp"
#include "reference/spectrum/radial_whitening.hpp"
#include "support/compare.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/spectrum/autocorrelation_peaks.hpp>
#include <warpalign/backend/stages/spectrum/log_polar_spectra.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/log_polar.hpp>
#include <warpalign/stages/magnitude.hpp>
#include <warpalign/stages/phase_correlation.hpp>

#include <algorithm>
#include <cmath>

namespace properties {

namespace {

using namespace warpalign;

// Few sizes, because each one compiles an FFT plan.
test::Size some_size(Random& random) {
  static const std::vector<test::Size> sizes{{64, 48}, {60, 49}, {32, 32}, {37, 26}};
  return random.one_of(sizes);
}

/// The largest error seen, as in tests/stages/fft/test_fft.cpp.
constexpr double forward_tolerance = 2e-6;
constexpr double round_trip_tolerance = 4e-6;

/// The transform of an image, of several at once, or of a volume.
RealFftSpec some_transform(Random& random) {
  const test::Size size = some_size(random);
  if (random.chance(0.5)) return {{size.width, size.height, 1}};
  if (random.chance(0.5)) return {{size.width, size.height, random.integer(2, 3)}};
  return {random.one_of<Shape>({{12, 10, 8}, {17, 11, 5}, {1, 6, 5}, {16, 8, 1}}), 3};
}

reference::ComplexVolume transformed(const reference::Volume& real, const RealFftSpec& spec) {
  if (spec.dimensions == 3) return reference::forward(real);
  const Shape half = RealFftPlan::half_spectrum(spec.shape);
  reference::ComplexVolume spectra(half.width, half.height, half.depth);
  auto next = spectra.values.begin();
  for (std::int64_t i = 0; i < real.depth; ++i) {
    const auto spectrum = reference::forward(test::slice_of(real, i));
    next = std::copy(spectrum.values.begin(), spectrum.values.end(), next);
  }
  return spectra;
}

/// Checks forward and back, with a plan for both directions or one for each.
void check_transform(Trial& trial) {
  const RealFftSpec spec = some_transform(trial.random);
  const bool apart = trial.random.chance(0.3);
  trial.describe(spec.shape, ", ", spec.dimensions, " dimensions", apart ? ", two plans" : "");
  const auto samples = test::random_volume(spec.shape, -1, 1, trial.random.seed());
  const auto expected = transformed(samples, spec);
  reference::Volume scaled = samples;
  const std::int64_t at_once = spec.dimensions == 3 ? spec.shape.pixels() : spec.shape.plane();
  for (double& value : scaled.values) value *= static_cast<double>(at_once);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image real = test::to_device(device, stream, samples);
    Image spectrum = device.make_image(PixelType::c32, RealFftPlan::half_spectrum(spec.shape));
    Image back = device.make_image(PixelType::f32, spec.shape);
    test::poison(stream, spectrum);
    test::poison(stream, back);
    const auto plan_for = [&](FftDirections directions) {
      return RealFftPlan(device,
                         {spec.shape, spec.dimensions, apart ? directions : FftDirections::both});
    };
    plan_for(FftDirections::forward).forward(stream, real, spectrum);
    const auto found = test::complex_volume_from_device(stream, spectrum);
    plan_for(FftDirections::inverse).inverse(stream, spectrum, back);
    const auto returned = test::volume_from_device(stream, back);
    test::WorstError worst;
    worst.add(test::relative_error(found.values, expected.values) / forward_tolerance);
    worst.add(test::relative_error(returned.values, scaled.values) / round_trip_tolerance);
    return worst.value();
  });
}

void check_magnitude(Trial& trial) {
  const test::Size size = some_size(trial.random);
  const auto exponent = static_cast<float>(trial.random.real(0.1, 2));
  trial.describe(test::to_string(size), ", exponent ", exponent);
  const auto spectrum = test::random_spectrum(size.width, size.height, trial.random.seed());
  const auto expected = reference::magnitude(spectrum, static_cast<double>(exponent));
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, spectrum);
    Image output = device.make_image(PixelType::f32, input.shape());
    test::poison(stream, output);
    MagnitudePlan(device, {{size.width, size.height, 1}, exponent}).execute(stream, input, output);
    // OpenCL's powr may be off by 16 ulp (9.5e-7), and is called twice, with a few more roundings.
    return test::max_relative_difference(test::from_device(stream, output), expected) / 3e-6;
  });
}

void check_log_polar(Trial& trial) {
  const test::Size size = some_size(trial.random);
  const auto radii = trial.random.integer(1, 80);
  const auto angles = trial.random.integer(1, 80);
  trial.describe(test::to_string(size), ", ", radii, " radii, ", angles, " angles");
  const Shape image{size.width, size.height, 1};
  const Shape half = RealFftPlan::half_spectrum(image);
  const auto magnitude = test::random_plane(half.width, half.height, 0, 1, trial.random.seed());
  const auto expected = reference::log_polar(magnitude, size.width, radii, angles);
  // As in tests/stages/spectrum/test_log_polar.cpp.
  const double off = 2e-6 * static_cast<double>(std::max(size.width, size.height)) + 2e-6;
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, magnitude);
    Image output = device.make_image(PixelType::f32, {radii, angles, 1});
    test::poison(stream, output);
    LogPolarPlan(device, {image, {radii, angles, 1}}).execute(stream, input, output);
    const auto found = test::from_device(stream, output);
    test::WorstError worst;
    for (std::int64_t j = 0; j < angles; ++j) {
      for (std::int64_t i = 0; i < radii; ++i) {
        // At the very edge of the spectrum, rounding decides whether a value is 0.
        const double from_edge =
            reference::log_polar_edge_distance(size.width, size.height, radii, angles, i, j);
        if (std::abs(from_edge) < 2 * off) continue;
        const double error = std::abs(found.at(i, j) - expected.at(i, j)) / (2 * off);
        worst.add(error);
      }
    }
    return worst.value();
  });
}

/// Whether all points of a column are farther from the edge of the spectrum than their error. At
/// the edge, rounding decides whether a value is 0, and the column's mean depends on it.
bool is_clear(const LogPolarSpectraSpec& spec, std::int64_t column, double off) {
  for (std::int64_t row = 0; row < spec.output.height; ++row) {
    const double from_edge = reference::log_polar_edge_distance(
        spec.image.width, spec.image.height, spec.output.width, spec.output.height, column, row);
    if (std::abs(from_edge) < 2 * off) return false;
  }
  return true;
}

void check_log_polar_spectra(Trial& trial) {
  Random& random = trial.random;
  const test::Size size = some_size(random);
  const LogPolarSpectraSpec spec{{size.width, size.height, 1},
                                 {random.integer(1, 70), random.integer(1, 70), 1},
                                 random.integer(1, 3),
                                 static_cast<float>(random.real(0.2, 1))};
  trial.describe(spec.images, " images, ", test::to_string(size), ", ", spec.output.width,
                 " radii, ", spec.output.height, " angles, exponent ", spec.exponent);
  const Shape half = RealFftPlan::half_spectrum(spec.image);
  const auto spectra =
      test::random_complex_volume(test::stack_of(spec.images, half), random.seed());
  // As in tests/stages/spectrum/test_log_polar_spectra.cpp.
  const auto side = static_cast<double>(std::max(size.width, size.height));
  const double off = 2e-6 * side + 2e-6, allowed = 1e-5 * side / 64 + 1e-5;
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, spectra);
    Image output = device.make_image(PixelType::f32, test::stack_of(spec.images, spec.output));
    test::poison(stream, output);
    LogPolarSpectraPlan(device, spec).execute(stream, input, output);
    test::WorstError worst;
    for (std::int64_t i = 0; i < spec.images; ++i) {
      const auto magnitude =
          reference::magnitude(test::slice_of(spectra, i), static_cast<double>(spec.exponent));
      const auto expected = reference::radially_whitened(
          reference::log_polar(magnitude, size.width, spec.output.width, spec.output.height));
      const auto found = test::from_device(stream, output, i);
      for (std::int64_t x = 0; x < expected.width; ++x) {
        if (!is_clear(spec, x, off)) continue;
        for (std::int64_t y = 0; y < expected.height; ++y) {
          worst.add(std::abs(found.at(x, y) - expected.at(x, y)) / allowed);
        }
      }
    }
    return worst.value();
  });
}

/// The phase correlation of a periodically shifted image finds the whole-pixel shift, with a peak
/// of 1.
void check_phase_correlation(Trial& trial) {
  const test::Size size = some_size(trial.random);
  const std::int64_t dx = trial.random.integer(-(size.width - 1) / 2, (size.width - 1) / 2);
  const std::int64_t dy = trial.random.integer(-(size.height - 1) / 2, (size.height - 1) / 2);
  trial.describe(test::to_string(size), ", shifted by ", dx, ", ", dy);
  const auto moving = test::random_plane(size.width, size.height, -1, 1, trial.random.seed());
  reference::Plane reference(size.width, size.height);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      reference.at(x, y) =
          moving.at((x - dx + size.width) % size.width, (y - dy + size.height) % size.height);
    }
  }
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image a = test::to_device(device, stream, reference);
    const Image b = test::to_device(device, stream, moving);
    Image surface = device.make_image(PixelType::f32, a.shape());
    PhaseCorrelationPlan plan(device, {a.shape()});
    plan.execute(stream, a, b, surface);
    const CorrelationPeak peak = plan.find_peak();
    const double shift =
        std::hypot(peak.shift.x - static_cast<double>(dx), peak.shift.y - static_cast<double>(dy));
    // The surface is 1 at the shift and rounding errors elsewhere, so the parabola's vertex moves
    // by half of the difference of two such errors. A coefficient close to 0 has a random phase,
    // which lowers the peak.
    test::WorstError worst;
    worst.add(shift / 1e-3);
    worst.add(std::abs(peak.height - 1) / 1e-3);
    return worst.value();
  });
}

void check_autocorrelation_peaks(Trial& trial) {
  Random& random = trial.random;
  const Shape image{random.integer(3, 30), random.integer(3, 24), 1};
  const Shape surface{image.width + image.width / 2 + 2 + random.integer(0, 9),
                      image.height + image.height / 2 + 2 + random.integer(0, 9), 1};
  trial.describe(image, " in ", surface);
  const auto pixels = test::random_plane(image.width, image.height, -1, 1, random.seed());
  const auto sums = reference::autocorrelation(pixels, surface.width, surface.height);
  const std::vector<double> expected = reference::autocorrelation_peaks(pixels);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, sums);
    const AutocorrelationPeaksPlan plan(device, {image, surface});
    std::vector<float> found(static_cast<std::size_t>(plan.rows()));
    Buffer peaks = device.make_buffer(found.size() * sizeof(float));
    plan.execute(stream, input, peaks);
    stream.download(peaks, found.data(), found.size() * sizeof(float));
    test::WorstError worst;
    for (std::size_t i = 0; i < found.size(); ++i) {
      // Sums and two divisions in single precision, of coefficients up to about 2.
      worst.add(std::abs(static_cast<double>(found[i]) - expected[i]) / 4e-6);
    }
    return worst.value();
  });
}

}  // namespace

std::vector<Property> spectrum_properties() {
  return {{"fft", "as FFTW has it, and back", &check_transform},
          {"magnitude", "as the oracle has it", &check_magnitude},
          {"log_polar", "as the oracle has it", &check_log_polar},
          {"log_polar_spectra", "as the oracles of its steps have it", &check_log_polar_spectra},
          {"autocorrelation_peaks", "as the oracle has it", &check_autocorrelation_peaks},
          {"phase_correlation", "a shift is found", &check_phase_correlation}};
}

}  // namespace properties

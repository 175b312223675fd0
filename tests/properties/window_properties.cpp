// Windows that are cut from frames, and the cross-power spectra of such windows, against the
// oracle. The stages' own tests derive the tolerances.
#include "properties/trial.hpp"
#include "reference/filter/apodize.hpp"
#include "reference/filter/cut_windows.hpp"
#include "reference/filter/sobel.hpp"
#include "reference/spectrum/window_cross_power.hpp"
#include "support/compare.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/filter/cut_windows.hpp>
#include <warpalign/backend/stages/spectrum/window_cross_power.hpp>
#include <warpalign/stages/fft.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;

constexpr double infinity = std::numeric_limits<double>::infinity();

CutWindowsSpec some_windows(Random& random) {
  CutWindowsSpec spec;
  spec.frame = random.one_of<Shape>({{83, 57, 1}, {64, 48, 1}});
  spec.frames = random.integer(1, 3);
  spec.window = random.one_of<Shape>({{16, 16, 1}, {33, 20, 1}, {50, 41, 1}, {1, 48, 1}});
  if (random.chance(0.5)) {
    spec.padded = {spec.window.width + random.one_of<std::int64_t>({0, 3, 14}),
                   spec.window.height + random.one_of<std::int64_t>({0, 4, 7}), 1};
  }
  for (auto left = random.integer(1, 4); left > 0; --left) {
    const auto x = random.integer(0, spec.frame.width - spec.window.width);
    const auto y = random.integer(0, spec.frame.height - spec.window.height);
    spec.origins.push_back({static_cast<std::int32_t>(x), static_cast<std::int32_t>(y)});
  }
  spec.weights = random.one_of<Window>({Window::hann, Window::none});
  spec.signal = random.one_of<Signal>({Signal::pixels, Signal::gradient});
  return spec;
}

void describe(Trial& trial, const CutWindowsSpec& spec, const WindowRange& range) {
  trial.describe(spec.frames, " frames of ", spec.frame, ", ", spec.origins.size(), " windows of ",
                 spec.window, " padded to ", spec.padded, ", weights ",
                 static_cast<int>(spec.weights), ", signal ", static_cast<int>(spec.signal),
                 ", from ", range.first, " on ", range.count);
}

/// The content of window number `number`, counted over all frames, before it is weighted.
reference::Plane signal_of(const reference::Volume& frames, const CutWindowsSpec& spec,
                           std::int64_t number) {
  const auto windows = static_cast<std::int64_t>(spec.origins.size());
  const WindowOrigin& origin = spec.origins[static_cast<std::size_t>(number % windows)];
  const auto window = reference::part_of(test::slice_of(frames, number / windows), origin.x,
                                         origin.y, spec.window.width, spec.window.height);
  return spec.signal == Signal::gradient ? reference::sobel(window) : window;
}

void check_cut_windows(Trial& trial) {
  Random& random = trial.random;
  const CutWindowsSpec spec = some_windows(random);
  const auto all = spec.frames * static_cast<std::int64_t>(spec.origins.size());
  WindowRange range;
  range.first = random.chance(0.5) ? 0 : random.integer(0, all - 1);
  range.count = random.integer(1, all - range.first);
  describe(trial, spec, range);
  auto frames = test::random_volume({spec.frame.width, spec.frame.height, spec.frames}, 900, 1100,
                                    random.seed());
  for (auto left = random.integer(0, 3); left > 0; --left) {
    frames.values[static_cast<std::size_t>(random.integer(0, spec.frame.plane() - 1))] =
        random.one_of<double>({std::nan(""), infinity});
  }
  const double allowed = spec.signal == Signal::gradient ? 2e-3 : 1e-3;
  const Shape slice = backend::slice_of(spec);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, frames);
    std::vector<float> means(static_cast<std::size_t>(range.count));
    Buffer on_device = device.make_buffer(means.size() * sizeof(float));
    Image output = device.make_image(PixelType::f32, {slice.width, slice.height, range.count});
    test::poison(stream, output);
    CutWindowsPlan(device, spec).execute(stream, input, range, on_device, output);
    stream.download(on_device, means.data(), means.size() * sizeof(float));
    test::WorstError worst;
    for (std::int64_t i = 0; i < range.count; ++i) {
      const auto signal = signal_of(frames, spec, range.first + i);
      const double mean = reference::finite_mean(signal);
      worst.add(std::abs(static_cast<double>(means[static_cast<std::size_t>(i)]) - mean) / allowed);
      const auto expected =
          reference::apodize(signal, mean, slice.width, slice.height, spec.weights == Window::hann);
      worst.add(test::max_difference(test::from_device(stream, output, i), expected) / allowed);
    }
    return worst.value();
  });
}

void check_window_cross_power(Trial& trial) {
  Random& random = trial.random;
  WindowCrossPowerSpec spec;
  spec.window = random.one_of<Shape>({{16, 16, 1}, {33, 20, 1}, {24, 17, 1}, {1, 9, 1}});
  spec.windows = random.integer(1, 3);
  spec.frames = random.integer(1, 3);
  spec.sigma = random.one_of<float>({0.0F, 0.2F, 0.5F, 1.0F});
  spec.whitened = random.chance(0.7);
  const bool in_place = random.chance(0.5);
  trial.describe(spec.frames, " frames with ", spec.windows, " windows of ", spec.window,
                 ", sigma ", spec.sigma, spec.whitened ? "" : ", not whitened",
                 in_place ? ", in place" : "");
  const Shape half = RealFftPlan::half_spectrum(spec.window);
  const Shape stack{half.width, half.height, spec.windows * spec.frames};
  auto known = test::random_complex_volume({half.width, half.height, spec.windows}, random.seed());
  const auto frames = test::random_complex_volume(stack, random.seed());
  known.values[static_cast<std::size_t>(random.integer(0, half.plane() - 1))] = 0;
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image reference = test::to_device(device, stream, known);
    Image moving = test::to_device(device, stream, frames);
    Image other = device.make_image(PixelType::c32, stack);
    test::poison(stream, other);
    Image& output = in_place ? moving : other;
    WindowCrossPowerPlan(device, spec).execute(stream, reference, moving, output);
    test::WorstError worst;
    for (std::int64_t i = 0; i < stack.depth; ++i) {
      const auto a = test::slice_of(frames, i), b = test::slice_of(known, i % spec.windows);
      const auto sigma = static_cast<double>(spec.sigma);
      const auto expected = spec.whitened
                                ? reference::window_cross_power(a, b, spec.window.width, sigma)
                                : reference::weighted_product(a, b, spec.window.width, sigma);
      const auto found = test::spectrum_from_device(stream, output, i);
      worst.add(test::max_difference(found, expected) / (2e-6 * test::largest(expected)));
    }
    return worst.value();
  });
}

}  // namespace

std::vector<Property> window_properties() {
  return {{"cut_windows", "as the oracle has it", &check_cut_windows},
          {"window_cross_power", "as the oracle has it", &check_window_cross_power}};
}

}  // namespace properties

// Measures registrations of images that are on the device already: wall time for each pair, and the
// paper's breakdown by stage. Not a test; docs/verified.md records what it printed.
//
//   measure [--fast] device[,device...] [size...]   e.g. measure cuda:0,opencl:nvidia 512 1024 2048
//   measure --batch device[,device...] [size...]    e.g. measure --batch cuda:0,cuda:1 512
//
// --fast: the registration paper's pipeline. --batch: pairs per second of align_batch, on each
// device and on all of them together.
#include "measurement.hpp"
#include "support/corners.hpp"
#include "support/photographs.hpp"

#include <warpalign/batch.hpp>
#include <warpalign/error.hpp>
#include <warpalign/registrar.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

namespace {

using warpalign::Image;
using warpalign::PixelType;

constexpr int moving_images = 4;  // rotated through, so that small ones are not timed out of cache

Image on_device(const warpalign::Device& device, const reference::Plane& plane) {
  const auto pixels = test::rounded<std::uint8_t>(plane);
  auto stream = device.make_stream();
  auto image = device.make_image(PixelType::u8, {plane.width, plane.height, 1});
  stream.upload(warpalign::HostImage{pixels.data(), PixelType::u8, plane.width, plane.height, 0},
                image);
  stream.finish();
  return image;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<test::Pair> pairs_of(std::int64_t size) {
  const auto photograph = test::photograph("retina.jpg");
  const double pixel = std::min(1.5, 1000.0 / static_cast<double>(size));
  std::vector<test::Pair> pairs;
  for (int i = 0; i < moving_images; ++i) {
    pairs.push_back(test::cut(photograph, {{size, size, 1},
                                           {size, size, 1},
                                           {20.0 + 30 * i, 1.0 + 0.1 * i, {7.0 * i, -5.0 * i}},
                                           pixel}));
  }
  return pairs;
}

void verify(const warpalign::RegistrationResult& found, const test::Pair& pair) {
  const warpalign::Shape shape{pair.reference.width, pair.reference.height, 1};
  const double error = test::max_corner_distance(found.matrix, pair.truth, shape);
  if (found.reliable && error < 0.01 * static_cast<double>(shape.width)) return;
  std::printf("  WRONG: corner error %.2f px, confidence %.3f\n", error, found.confidence);
  std::exit(1);
}

void measure(const warpalign::Device& device, warpalign::RegistrationOptions options,
             const std::vector<test::Pair>& pairs) {
  const Image reference = on_device(device, pairs[0].reference);
  std::vector<Image> moving;
  for (const auto& pair : pairs) moving.push_back(on_device(device, pair.moving));

  warpalign::Registrar registrar(device, options);
  const auto before = std::chrono::steady_clock::now();
  registrar.set_reference(reference);
  for (std::size_t i = 0; i < moving.size(); ++i) verify(registrar.align(moving[i]), pairs[i]);
  const std::chrono::duration<double> first = std::chrono::steady_clock::now() - before;

  std::vector<double> both;
  std::vector<double> kept;
  const int runs = first.count() > 2 ? 5 : 50;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    registrar.set_reference(reference);
    (void)registrar.align(moving[static_cast<std::size_t>(i % moving_images)]);
    const auto middle = std::chrono::steady_clock::now();
    (void)registrar.align(moving[static_cast<std::size_t>((i + 1) % moving_images)]);
    const auto end = std::chrono::steady_clock::now();
    both.push_back(std::chrono::duration<double, std::milli>(middle - start).count());
    kept.push_back(std::chrono::duration<double, std::milli>(end - middle).count());
  }
  std::printf(
      "  wall time, median of %d: a new pair %.3f ms, a moving image %.3f ms; first use %.2f s\n",
      runs, median(both), median(kept), first.count());

  options.collect_timings = true;
  warpalign::Registrar timed(device, options);
  timed.set_reference(reference);
  (void)timed.align(moving[0]);
  std::vector<std::vector<double>> stages;
  std::vector<std::string> names;
  for (int i = 0; i < runs; ++i) {
    const auto result = timed.align(moving[static_cast<std::size_t>(i % moving_images)]);
    stages.resize(result.timings.size());
    names.clear();
    for (std::size_t k = 0; k < stages.size(); ++k) {
      stages[k].push_back(result.timings[k].milliseconds);
      names.push_back(result.timings[k].stage);
    }
  }
  double total = 0;
  std::printf("  device time of a moving image:");
  for (std::size_t k = 0; k < stages.size(); ++k) {
    total += median(stages[k]);
    std::printf(" %s %.4f", names[k].c_str(), median(stages[k]));
  }
  std::printf(", sum %.4f ms\n", total);
}

/// Pairs from host memory, the same few again and again.
class Batch {
 public:
  explicit Batch(std::int64_t size) : truths_(pairs_of(size)) {
    for (const auto& pair : truths_) {
      pixels_.push_back(test::rounded<std::uint8_t>(pair.reference));
      pixels_.push_back(test::rounded<std::uint8_t>(pair.moving));
    }
    for (std::size_t i = 0; i < pairs_per_call; ++i) {
      const std::size_t k = i % truths_.size();
      pairs_.push_back({view(2 * k, size), view(2 * k + 1, size)});
    }
  }

  void measure(std::span<const warpalign::Device> devices, int streams) const {
    warpalign::BatchOptions options;
    options.streams_per_device = streams;
    std::vector<double> seconds;
    std::vector<std::size_t> of_device(devices.size());
    for (int run = 0; run < 4; ++run) {  // the first one makes kernels and FFT plans
      const auto start = std::chrono::steady_clock::now();
      const auto results = warpalign::align_batch(devices, pairs_, {}, options);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i].error) throw warpalign::Error(*results[i].error);
        verify(*results[i].result, truths_[i % truths_.size()]);
        if (run > 0) ++of_device[results[i].device];
      }
      if (run > 0) seconds.push_back(took.count());
    }
    std::printf("  %d streams a device: %.0f pairs a second, shared out", streams,
                static_cast<double>(pairs_.size()) / median(seconds));
    for (const std::size_t count : of_device) {
      std::printf(" %.0f %%", 100.0 * static_cast<double>(count) /
                                  static_cast<double>(pairs_.size() * seconds.size()));
    }
    std::printf("\n");
  }

 private:
  static constexpr std::size_t pairs_per_call = 256;

  [[nodiscard]] warpalign::HostImage view(std::size_t i, std::int64_t size) const {
    return {pixels_[i].data(), PixelType::u8, size, size, 0};
  }

  std::vector<test::Pair> truths_;
  std::vector<std::vector<std::uint8_t>> pixels_;
  std::vector<warpalign::HostPair> pairs_;
};

void measure_batches(const std::vector<warpalign::Device>& devices, std::int64_t size) {
  const Batch batch(size);
  const auto print = [&](const std::string& names, std::span<const warpalign::Device> on) {
    std::printf("%lld x %lld, batches on %s\n", static_cast<long long>(size),
                static_cast<long long>(size), names.c_str());
    for (const int streams : {1, 2, 4, 8}) batch.measure(on, streams);
  };
  for (const auto& device : devices) print(device.info().id, std::span(&device, 1));
  if (devices.size() > 1) print("all together", devices);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  warpalign::RegistrationOptions options;
  options.fast = std::erase(arguments, "--fast") > 0;
  const bool batches = std::erase(arguments, "--batch") > 0;
  if (arguments.empty()) {
    std::fprintf(stderr, "usage: measure [--fast | --batch] device[,device...] [size...]\n");
    return 2;
  }
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 1; i < arguments.size(); ++i) sizes.push_back(std::stoll(arguments[i]));
  if (sizes.empty()) sizes = {512, 1024, 2048};
  if (batches) {
    const std::vector<warpalign::Device> devices = tools::open_devices(arguments[0]);
    for (const std::int64_t size : sizes) measure_batches(devices, size);
    return 0;
  }
  for (const std::int64_t size : sizes) {
    const auto pairs = pairs_of(size);
    for (const std::string& name : tools::split(arguments[0])) {
      try {
        const auto device = warpalign::open_device(name);
        std::printf("%lld x %lld on %s (%s, %s, %s)\n", static_cast<long long>(size),
                    static_cast<long long>(size), name.c_str(), device.info().name.c_str(),
                    device.info().driver.c_str(), device.info().fft.c_str());
        measure(device, options, pairs);
      } catch (const warpalign::Error& error) {
        std::printf("%s: %s\n", name.c_str(), error.what());
      }
      std::fflush(stdout);
    }
  }
  return 0;
}

// Registers small pairs of mixed sizes, types, motions and failures for a given time or number,
// and records the resources that the process holds.
//
// The device is one of tests/backend_faulty, so that from time to time a call of the driver fails.
#include "endurance/surveillance.hpp"
#include "faults/fault_points.hpp"
#include "support/blobs.hpp"
#include "support/rotated_volumes.hpp"
#include "support/volume_pairs.hpp"

#include <warpalign/warpalign.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>

namespace {

using namespace warpalign;
using Clock = std::chrono::steady_clock;

struct Options {
  std::uint64_t registrations = 10000;
  double seconds = 0;          ///< 0: no limit
  std::uint64_t every = 1000;  ///< registrations between two samples
  /// Only pairs of up to 64 x 64 pixels by the fast pipeline: hundreds a second instead of a few.
  bool small = false;
  std::uint32_t seed = 1;
  std::string device = "faulty:portable";
  std::string output = "endurance";  ///< plus .csv and .svg
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--registrations") {
      options.registrations = std::stoull(value);
    } else if (name == "--seconds") {
      options.seconds = std::stod(value);
    } else if (name == "--every") {
      options.every = std::stoull(value);
    } else if (name == "--seed") {
      options.seed = static_cast<std::uint32_t>(std::stoul(value));
    } else if (name == "--work") {
      if (value != "mixed" && value != "small") throw std::invalid_argument("--work " + value);
      options.small = value == "small";
    } else if (name == "--device") {
      options.device = value;
    } else if (name == "--output") {
      options.output = value;
    } else {
      throw std::invalid_argument("unknown option " + std::string(name));
    }
  }
  if (argc % 2 == 0) throw std::invalid_argument("the last option has no value");
  return options;
}

/// An image in the types that a registration accepts.
struct Typed {
  explicit Typed(test::BlobImage image) : u8(std::move(image)) {
    for (const std::uint8_t pixel : u8.pixels) {
      u16.push_back(static_cast<std::uint16_t>(pixel * 200));
      f32.push_back(static_cast<float>(pixel) / 255);
    }
  }
  [[nodiscard]] HostImage view(PixelType type) const {
    const void* data = type == PixelType::u8    ? static_cast<const void*>(u8.pixels.data())
                       : type == PixelType::u16 ? static_cast<const void*>(u16.data())
                                                : static_cast<const void*>(f32.data());
    return {data, type, u8.shape.width, u8.shape.height, 0};
  }
  test::BlobImage u8;
  std::vector<std::uint16_t> u16;
  std::vector<float> f32;
};

struct Pair {
  Typed reference, moving;
};

std::vector<Pair> draw_pairs() {
  std::vector<Pair> pairs;
  std::uint32_t scene = 1;
  for (const Shape& shape : {Shape{32, 32, 1}, Shape{48, 40, 1}, Shape{40, 48, 1}, Shape{61, 43, 1},
                             Shape{64, 64, 1}, Shape{96, 80, 1}, Shape{128, 96, 1}}) {
    const Affine moved = Similarity{5, 1.04, {2, -1}}.matrix(shape, shape);
    pairs.push_back(
        {Typed(test::draw_blobs(shape, {}, scene)), Typed(test::draw_blobs(shape, moved, scene))});
    ++scene;
  }
  return pairs;
}

class Endurance {
 public:
  explicit Endurance(const Options& options)
      : options_(options), random_(options.seed), device_(open()), pairs_(draw_pairs()) {}

  void run() {
    begin_ = last_ = Clock::now();
    while (done_ < options_.registrations && !is_over()) {
      // A small pair has some hundred points, other pairs have thousands.
      if (random_() % 20 == 0) faults::fail_at(random_() % (options_.small ? 150 : 1500));
      try {
        register_something();
      } catch (const Error& error) {
        if (faults::failed() == nullptr && error.kind() != ErrorKind::invalid_image) throw;
        ++failures_;
      }
      faults::stop();
      if (++done_ % options_.every == 0) take_sample();
    }
  }

  int report() const {
    if (samples_.size() < 8) {
      std::printf("too few registrations for a trend: %llu\n",
                  static_cast<unsigned long long>(done_));
      return 1;
    }
    const double hours = std::chrono::duration<double>(Clock::now() - begin_).count() / 3600;
    const std::string title = std::to_string(done_) + " registrations, " +
                              std::to_string(failures_) + " failed as they were to, on " +
                              device_.info().name;
    endurance::write_csv(options_.output + ".csv", samples_);
    endurance::write_plot(options_.output + ".svg", samples_, title);
    std::printf("%s, in %.2f h\n", title.c_str(), hours);
    using endurance::Sample;
    const auto host = endurance::trend_of(samples_, &Sample::host_megabytes);
    const auto on_device = endurance::trend_of(samples_, &Sample::device_megabytes);
    const auto time = endurance::trend_of(samples_, &Sample::milliseconds);
    std::printf("a million more would add %.1f MB host, %.3f MB device memory and %.2f ms\n",
                host.per_million, on_device.per_million, time.per_million);
    std::printf("open files: %zu in the first sample, %zu in the last\n",
                samples_.front().descriptors, samples_.back().descriptors);
    return 0;
  }

 private:
  Device open() const {
    Config config = default_config();
    if (options_.device.starts_with("faulty")) config.backends = {"faulty"};
    return open_device(options_.device, config);
  }
  [[nodiscard]] bool is_over() const {
    return options_.seconds > 0 &&
           std::chrono::duration<double>(Clock::now() - begin_).count() > options_.seconds;
  }

  void register_something() {
    const auto kind = random_() % 40;
    if (kind < 6 && options_.small) registrar_.reset();
    if (options_.small) return register_pair();
    if (kind == 0) return register_volume();
    if (kind == 1) return register_windows();
    if (kind == 2) return register_constant();
    if (kind == 3) return register_frames();
    if (kind == 4) return register_volume_that_turns();
    if (kind < 8) registrar_.reset();  // creates a new one, with other options
    register_pair();
  }

  /// Keeps one size for a while, as in a stack, because a device keeps the FFTs of few sizes.
  void register_pair() {
    if (random_() % 30 == 0) present_ = random_() % (options_.small ? 5 : pairs_.size());
    const Pair& pair = pairs_[present_];
    static constexpr std::array types{PixelType::u8, PixelType::u16, PixelType::f32};
    const PixelType type = types[random_() % types.size()];
    if (!registrar_) registrar_ = std::make_unique<Registrar>(device_, some_options());
    registrar_->set_reference(pair.reference.view(type));
    static_cast<void>(registrar_->align(pair.moving.view(type)));
  }

  RegistrationOptions some_options() {
    static constexpr std::array motions{Motion::similarity, Motion::rigid,  Motion::translation,
                                        Motion::rotation,   Motion::affine, Motion::homography,
                                        Motion::automatic};
    RegistrationOptions options;
    options.fast = options_.small || random_() % 4 == 0;
    if (!options.fast) options.motion = motions[random_() % motions.size()];
    if (!options.fast && random_() % 4 == 0) search_otherwise(options);
    return options;
  }

  /// Uses gradient orientations or all proposers on fine grids, within narrow limits on the free
  /// parameters, because these searches are slow.
  void search_otherwise(RegistrationOptions& options) {
    if (random_() % 2 == 0) {
      options.modality = Modality::other;
    } else {
      options.search = Effort::thorough;
    }
    if (options.motion == Motion::translation) return;
    options.min_angle = -10;
    options.max_angle = 10;
    if (options.motion == Motion::rotation || options.motion == Motion::rigid) return;
    options.min_scale = 0.9;
    options.max_scale = 1.1;
  }

  void register_frames() {
    const Pair& pair = pairs_[4 + random_() % 3];
    RegistrationOptions options;
    options.motion = Motion::translation;
    FrameRegistrar registrar(device_, options, 2);
    registrar.set_reference(pair.reference.view(PixelType::u8));
    const std::array<HostImage, 2> frames{pair.moving.view(PixelType::u8),
                                          pair.reference.view(PixelType::u8)};
    for (const BatchResult& one : registrar.align(frames)) {
      if (one.error) throw Error(*one.error);
    }
  }

  void register_volume_that_turns() {
    test::RotatedPairSpec spec;
    spec.reference = spec.moving = {16, 16, 14};
    spec.transform = test::turn({1, 2, 3}, 5, {0.5, -0.25, 1});
    const auto pair = test::draw_rotated_pair(spec);
    VolumeRegistrationOptions options;
    options.motion = random_() % 2 == 0 ? Motion::rigid : Motion::affine;
    options.max_rotation = 15;
    static_cast<void>(register_volumes(device_, test::view_of(pair.reference, spec.reference),
                                       test::view_of(pair.moving, spec.moving), options));
  }

  void register_volume() {
    test::VolumePairSpec spec;
    spec.reference = spec.moving = {16 + 4 * static_cast<std::int64_t>(random_() % 3), 16, 14};
    spec.shift = {1.5, -1, 0.5};
    const auto pair = test::draw_pair(spec);
    static_cast<void>(register_volumes(device_, test::view_of(pair.reference, spec.reference),
                                       test::view_of(pair.moving, spec.moving)));
  }

  void register_windows() {
    const Pair& pair = pairs_[4 + random_() % 3];
    WindowOptions options;
    options.width = options.height = 32;
    WindowRegistrar windows(device_, PixelType::u8, pair.reference.u8.shape, options);
    windows.set_reference(pair.reference.view(PixelType::u8));
    const std::array<HostImage, 1> frames{pair.moving.view(PixelType::u8)};
    static_cast<void>(windows.align(frames));
  }

  /// The registration fails with Error(invalid_image).
  void register_constant() {
    static const std::vector<std::uint8_t> grey(64 * 64, 100);
    Registrar registrar(device_);
    registrar.set_reference({grey.data(), PixelType::u8, 64, 64, 0});
  }

  void take_sample() {
    const auto now = Clock::now();
    const faults::Alive alive = faults::alive();
    endurance::Sample sample;
    sample.registrations = done_;
    sample.failures = failures_;
    sample.milliseconds = std::chrono::duration<double, std::milli>(now - last_).count() /
                          static_cast<double>(options_.every);
    sample.host_megabytes = endurance::resident_megabytes();
    sample.device_megabytes = static_cast<double>(alive.bytes) / 1e6;
    sample.device_objects = alive.objects;
    sample.descriptors = endurance::open_descriptors();
    samples_.push_back(sample);
    last_ = now;
    endurance::write_csv(options_.output + ".csv", samples_);
    std::printf("%8llu: %.2f ms, %.1f MB host, %.2f MB device, %zu files\n",
                static_cast<unsigned long long>(done_), sample.milliseconds, sample.host_megabytes,
                sample.device_megabytes, sample.descriptors);
    std::fflush(stdout);
  }

  Options options_;
  std::mt19937 random_;
  Device device_;
  std::vector<Pair> pairs_;
  std::size_t present_ = 0;
  std::unique_ptr<Registrar> registrar_;
  std::uint64_t done_ = 0;
  std::uint64_t failures_ = 0;
  std::vector<endurance::Sample> samples_;
  Clock::time_point begin_, last_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    Endurance endurance(parse(argc, argv));
    endurance.run();
    return endurance.report();
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "endurance: %s\n", exception.what());
    return 2;
  }
}

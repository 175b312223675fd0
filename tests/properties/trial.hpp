// One case of a property: its random numbers, the devices, and the errors found.
#pragma once

#include <warpalign/device.hpp>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace properties {

/// Random numbers that are the same on every machine, which the standard library's distributions
/// do not guarantee.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// From `low` to `high`, both included.
  [[nodiscard]] std::int64_t integer(std::int64_t low, std::int64_t high) {
    const auto count = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<std::int64_t>(engine_() % count);
  }
  [[nodiscard]] double real(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11U) * 0x1p-53;
  }
  [[nodiscard]] bool chance(double probability) { return real(0, 1) < probability; }
  [[nodiscard]] std::uint32_t seed() { return static_cast<std::uint32_t>(engine_()); }
  template <class T>
  [[nodiscard]] T one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(
        integer(0, static_cast<std::int64_t>(values.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

class Trial {
 public:
  Trial(std::uint64_t seed, const std::vector<warpalign::Device>& devices)
      : random(seed), devices_(devices) {}

  Random random;

  /// Appends to the description of the case.
  template <class... Parts>
  void describe(const Parts&... parts) {
    (add(parts), ...);
  }
  [[nodiscard]] const std::string& description() const { return description_; }

  /// Runs body(device) on all devices at once, each on its own thread. The body returns its error
  /// divided by the tolerance: at most 1 if all is right. NaN counts as wrong.
  void on_every_device(const std::function<double(const warpalign::Device&)>& body);
  /// Records another failure.
  void fail(const std::string& wrong) { wrong_ += (wrong_.empty() ? "" : "; ") + wrong; }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  /// The largest error of all devices.
  [[nodiscard]] double worst() const { return worst_; }

 private:
  void add(const char* text) { description_ += text; }
  void add(const std::string& text) { description_ += text; }
  void add(const warpalign::Shape& shape) { description_ += to_string(shape); }
  template <class Number>
  void add(const Number& number) {
    description_ += std::to_string(number);
  }

  const std::vector<warpalign::Device>& devices_;
  std::string description_;
  std::string wrong_;
  double worst_ = 0;
};

/// A statement that holds for every case.
struct Property {
  std::string stage;  ///< the name for --stage NAME
  std::string name;
  std::function<void(Trial&)> check;
};

[[nodiscard]] std::vector<Property> filter_properties();
[[nodiscard]] std::vector<Property> smoothing_properties();
[[nodiscard]] std::vector<Property> window_properties();
[[nodiscard]] std::vector<Property> overlap_properties();
[[nodiscard]] std::vector<Property> common_frames_properties();
[[nodiscard]] std::vector<Property> spline_properties();
[[nodiscard]] std::vector<Property> interpolation_properties();
[[nodiscard]] std::vector<Property> spectrum_properties();
[[nodiscard]] std::vector<Property> signal_properties();
[[nodiscard]] std::vector<Property> correlation_properties();
[[nodiscard]] std::vector<Property> refinement_properties();
[[nodiscard]] std::vector<Property> illumination_properties();
[[nodiscard]] std::vector<Property> fit_step_properties();
[[nodiscard]] std::vector<Property> frame_sums_properties();
[[nodiscard]] std::vector<Property> warp_properties();
[[nodiscard]] std::vector<Property> volume_stage_properties();
[[nodiscard]] std::vector<Property> volume_sums_properties();
[[nodiscard]] std::vector<Property> features_properties();
[[nodiscard]] std::vector<Property> registration_properties();
[[nodiscard]] std::vector<Property> any_pair_properties();

}  // namespace properties

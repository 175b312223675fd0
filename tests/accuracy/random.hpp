// Random numbers that are the same on every machine: only the engine is the standard library's.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <random>

namespace accuracy {

class Random {
 public:
  /// The numbers depend on every one of the seeds and on their order.
  explicit Random(std::initializer_list<std::uint64_t> seeds) {
    std::uint64_t state = 0;
    for (const std::uint64_t seed : seeds) state = mixed(state + seed + 0x9e3779b97f4a7c15U);
    engine_.seed(state);
  }

  /// Uniform in [low, high).
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  /// Log-uniform.
  double log_between(double low, double high) {
    return std::exp(between(std::log(low), std::log(high)));
  }
  /// 0 to count - 1.
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(between(0, static_cast<double>(count)));
  }
  double sign() { return between(0, 1) < 0.5 ? -1 : 1; }

  /// Standard normal, by Box and Muller.
  double normal() {
    if (spare_) {
      spare_ = false;
      return next_;
    }
    const double radius = std::sqrt(-2 * std::log(1 - between(0, 1)));
    const double angle = between(0, 2 * std::numbers::pi);
    next_ = radius * std::sin(angle);
    spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  /// The finaliser of SplitMix64.
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
  }

  std::mt19937_64 engine_;
  double next_ = 0;
  bool spare_ = false;
};

}  // namespace accuracy

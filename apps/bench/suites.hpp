// All suites by name.
#pragma once

#include "bench/descriptor.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program::bench {

/// The sides of square images and of cubic volumes. Each suite has default sizes.
struct Sizes {
  std::optional<std::vector<std::int64_t>> sides;
  std::optional<std::vector<std::int64_t>> volumes;

  [[nodiscard]] std::vector<std::int64_t> sides_or(std::initializer_list<std::int64_t> own) const {
    return sides ? *sides : std::vector<std::int64_t>(own);
  }
  [[nodiscard]] std::vector<std::int64_t> volumes_or(
      std::initializer_list<std::int64_t> own) const {
    return volumes ? *volumes : std::vector<std::int64_t>(own);
  }
};

struct Suite {
  const char* name;
  const char* title;
  std::vector<Case> (*cases)(const Sizes& sizes);
};

/// All suites in the order of execution.
[[nodiscard]] const std::vector<Suite>& suites();
/// The named suites in the order of suites(), or all of them if none is named. Throws UsageError,
/// listing the known names.
[[nodiscard]] std::vector<Suite> suites_named(const std::vector<std::string>& names);

// Each file of suites/ defines one of these.
[[nodiscard]] std::vector<Case> batch_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> window_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> complex_bilinear_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> deformation_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> fft_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> interpolation_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> prefilter_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> registration_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> rotation_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> search_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> sobel_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> stack_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> tile_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> tricubic_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> truncation_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> volume_cases(const Sizes& sizes);
[[nodiscard]] std::vector<Case> zoom_cases(const Sizes& sizes);

/// A copy of an f32 image on the device, the reference for every case.
[[nodiscard]] Case copy_case(const Shape& shape);

}  // namespace warpalign::program::bench

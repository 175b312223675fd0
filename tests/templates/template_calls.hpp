// What tests of templates share: images of one shape, and checks of results and errors.
#pragma once

#include <warpalign/error.hpp>
#include <warpalign/template.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace test {

inline constexpr warpalign::Shape frame{150, 160, 1};

inline warpalign::HostImage view_of(const std::vector<float>& pixels,
                                    const warpalign::Shape& shape = frame) {
  return {pixels.data(), warpalign::PixelType::f32, shape.width, shape.height, 0};
}

inline warpalign::TemplateOptions rounds(int count) {
  warpalign::TemplateOptions options;
  options.rounds = count;
  return options;
}

inline std::vector<warpalign::Transform> used_of(const warpalign::Template& found) {
  std::vector<warpalign::Transform> used;
  for (const auto& transform : found.transforms) {
    if (transform) used.push_back(*transform);
  }
  return used;
}

/// The correlation of two arrays where both are known, away from the edges.
inline double correlation(const std::vector<float>& a, const std::vector<float>& b,
                          const warpalign::Shape& shape) {
  const std::int64_t margin = shape.depth > 1 ? 7 : 12;
  const std::int64_t deep = shape.depth > 1 ? margin : 0;
  double n = 0, sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
  for (std::int64_t z = deep; z < shape.depth - deep; ++z) {
    for (std::int64_t y = margin; y < shape.height - margin; ++y) {
      for (std::int64_t x = margin; x < shape.width - margin; ++x) {
        const auto i = static_cast<std::size_t>((z * shape.height + y) * shape.width + x);
        const auto u = static_cast<double>(a[i]);
        const auto v = static_cast<double>(b[i]);
        if (!std::isfinite(u) || !std::isfinite(v)) continue;
        n += 1;
        sa += u;
        sb += v;
        saa += u * u;
        sbb += v * v;
        sab += u * v;
      }
    }
  }
  return (sab - sa * sb / n) / std::sqrt((saa - sa * sa / n) * (sbb - sb * sb / n));
}

template <class Work>
std::optional<warpalign::Error> error_of(const Work& work) {
  try {
    static_cast<void>(work());
  } catch (const warpalign::Error& error) {
    return error;
  }
  return {};
}

#define CHECK_ERROR(kind_, part, work)                                              \
  do {                                                                              \
    const auto error = test::error_of([&] { return work; });                        \
    REQUIRE(error);                                                                 \
    CHECK(error->kind() == warpalign::ErrorKind::kind_);                            \
    CHECK_MESSAGE(error->message().find(part) != std::string::npos, error->what()); \
  } while (false)

}  // namespace test

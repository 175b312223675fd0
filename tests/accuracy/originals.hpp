// The originals that pairs are drawn from: some for tuning, the others for reporting.
#pragma once

#include "accuracy/scene.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace accuracy {

enum class Use { tune, report, all };

/// Photographs of tests/data and synthetic scenes, created on first use and then kept.
class Originals {
 public:
  /// The originals for `use`; synthetic ones are large enough for images of up to `side` pixels.
  Originals(Use use, std::int64_t side);

  /// The indices of those with texture everywhere, or of those with hardly any.
  [[nodiscard]] std::vector<std::size_t> textured() const;
  [[nodiscard]] std::vector<std::size_t> faint() const;

  [[nodiscard]] const std::string& name(std::size_t number) const;
  [[nodiscard]] const Scene& scene(std::size_t number) const;

 private:
  struct Entry {
    std::string name;
    bool faint = false;
    mutable std::unique_ptr<Scene> scene;
  };
  [[nodiscard]] std::vector<std::size_t> those(bool faint) const;

  std::vector<Entry> entries_;
  std::int64_t raster_side_;
};

}  // namespace accuracy

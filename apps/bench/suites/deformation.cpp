// Suite: deformable registration of images and of volumes, from host memory.
#include "bench/bent_scene.hpp"
#include "bench/stage_work.hpp"
#include "bench/suites.hpp"

#include <warpalign/registrar.hpp>
#include <warpalign/volume_registrar.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>

namespace warpalign::program::bench {
namespace {

/// The greatest error allowed, as a root mean square in pixels: the noise of 16 bits is far below
/// it, and the field's control points follow sines of these periods to a few hundredths.
constexpr double tolerance = 0.1;
constexpr std::int64_t margin = 8;  // pixels whose windows reach beyond the edge are left out

/// The error of the transform over a grid of points.
double rms_error(const Transform& transform, const BentField& field) {
  const std::int64_t step = std::max<std::int64_t>(1, field.side / 40);
  const std::int64_t planes = field.axes == 3 ? field.side - margin : margin + 1;
  double sum = 0;
  double count = 0;
  for (std::int64_t z = margin; z < planes; z += step) {
    for (std::int64_t y = margin; y < field.side - margin; y += step) {
      for (std::int64_t x = margin; x < field.side - margin; x += step) {
        const std::array<double, 3> p{static_cast<double>(x), static_cast<double>(y),
                                      field.axes == 3 ? static_cast<double>(z) : 0};
        const auto truth = field(p);
        const Point3 found = transform(Point3{p[0], p[1], p[2]});
        sum += std::pow(found.x - truth[0], 2) + std::pow(found.y - truth[1], 2) +
               std::pow(found.z - truth[2], 2);
        count += 1;
      }
    }
  }
  return std::sqrt(sum / count);
}

/// Registers a pair from host memory: each run uploads both and computes everything, but keeps the
/// plans. `Registrar_`: Registrar or VolumeRegistrar.
template <class Registrar_, class Options, class View>
class DeformationWork final : public StageWork {
 public:
  DeformationWork(const Device& device, const Shape& shape, const BentPair& pair)
      : StageWork(device,
                  {{PixelType::u16, shape, pair.reference}, {PixelType::u16, shape, pair.moving}},
                  {}),
        field_(pair.field) {}

  void make_plans() override {
    registrar_.reset();  // frees its memory before the new one allocates
    Options options;
    options.motion = Motion::deformable;
    registrar_.emplace(device(), options);
  }

  [[nodiscard]] bool waits() const override { return true; }

  Verdict verify(Stream& /*stream*/) override {
    Verdict verdict{std::numeric_limits<double>::infinity(), tolerance,
                    "the pair's true deformation: root mean square in pixels"};
    if (const auto deformation = align()) {
      verdict.error = rms_error(deformation->transform, field_);
    }
    return verdict;
  }

 private:
  void run_on(Stream& /*stream*/, Set& /*set*/) override { static_cast<void>(align()); }

  std::optional<Deformation> align() {
    registrar_->set_reference(view(0));
    return registrar_->align(view(1)).deformation;
  }

  [[nodiscard]] View view(std::size_t i) const {
    const Slot& slot = input(i);
    if constexpr (std::is_same_v<View, HostVolume>) {
      return {slot.pixels->data(), slot.type, slot.shape};
    } else {
      return {slot.pixels->data(), slot.type, slot.shape.width, slot.shape.height, 0};
    }
  }

  BentField field_;
  std::optional<Registrar_> registrar_;
};

using ImageWork = DeformationWork<Registrar, RegistrationOptions, HostImage>;
using VolumeWork = DeformationWork<VolumeRegistrar, VolumeRegistrationOptions, HostVolume>;

template <class Work>
Case case_of(std::int64_t side, int axes) {
  const Shape shape{side, side, axes == 3 ? side : 1};
  const auto pixels = static_cast<std::size_t>(shape.pixels());
  Case made;
  made.suite = "deformation";
  made.name = axes == 3 ? "volumes, affine and deformable" : "images, affine and deformable";
  made.size = shape;
  made.unit = "pairs";
  made.operations = 1;
  made.bytes = 4.0 * static_cast<double>(pixels);
  made.max_allocation = 3 * pixels * sizeof(float);
  made.memory_bytes = 24 * pixels * sizeof(float);
  made.on_device = [shape, side, axes](const Device& device) {
    return std::make_unique<Work>(device, shape, bent_pair(side, axes));
  };
  return made;
}

}  // namespace

std::vector<Case> deformation_cases(const Sizes& sizes) {
  constexpr std::int64_t min_side = 64;  // a smaller side holds fewer than two periods of the field
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({512, 2048})) {
    if (side >= min_side) cases.push_back(case_of<ImageWork>(side, 2));
  }
  for (const std::int64_t side : sizes.volumes_or({128, 192})) {
    if (side >= min_side) cases.push_back(case_of<VolumeWork>(side, 3));
  }
  return cases;
}

}  // namespace warpalign::program::bench

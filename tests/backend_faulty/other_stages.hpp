// The stages that have more than one function.
#pragma once

#include "stage.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::faulty {

/// The class that wraps `Stage`: the template that deduces enqueue()'s arguments, or one of this
/// file.
template <class Stage>
struct Wrapper {
  using Type = Faulty<Stage>;
};

class RealFft final : public Wrapped<backend::RealFft> {
 public:
  using Wrapped::Wrapped;
  void enqueue_forward(backend::Queue& queue, const backend::Memory& real,
                       backend::Memory& spectrum) override {
    reach().enqueue_forward(inner_of(queue), inner_of(real), inner_of(spectrum));
  }
  void enqueue_inverse(backend::Queue& queue, backend::Memory& spectrum,
                       backend::Memory& real) override {
    reach().enqueue_inverse(inner_of(queue), inner_of(spectrum), inner_of(real));
  }
};

class ImpulseFilter final : public Wrapped<backend::ImpulseFilter> {
 public:
  using Wrapped::Wrapped;
  void enqueue_extremes(backend::Queue& queue, const backend::Memory& input, int step,
                        backend::Memory& rows) override {
    reach().enqueue_extremes(inner_of(queue), inner_of(input), step, inner_of(rows));
  }
  void enqueue_isolated(backend::Queue& queue, const backend::Memory& input, int step,
                        const ImpulseStatistics& statistics, backend::Memory& rows) override {
    reach().enqueue_isolated(inner_of(queue), inner_of(input), step, statistics, inner_of(rows));
  }
  void enqueue(backend::Queue& queue, const backend::Memory& input,
               const ImpulseStatistics& statistics, backend::Memory& output) override {
    reach().enqueue(inner_of(queue), inner_of(input), statistics, inner_of(output));
  }
};

class DoubleAngle final : public Wrapped<backend::DoubleAngle> {
 public:
  using Wrapped::Wrapped;
  void enqueue(backend::Queue& queue, const backend::DoubleAngleMemory& memory,
               std::span<const backend::DoubleAngleFactors> slices,
               std::int64_t first_slice) override {
    reach().enqueue(inner_of(queue), inner_of(memory), slices, first_slice);
  }
  void enqueue_rotated(backend::Queue& queue, const backend::RotatedMemory& memory, float cosine,
                       float sine) override {
    reach().enqueue_rotated(inner_of(queue), inner_of(memory), cosine, sine);
  }
};

class OverlapPeaks final : public Wrapped<backend::OverlapPeaks> {
 public:
  using Wrapped::Wrapped;
  void enqueue(backend::Queue& queue, const backend::Memory& surfaces,
               const backend::Memory& overlaps, std::span<const OverlapLimits> limits,
               backend::Memory& records) override {
    reach().enqueue(inner_of(queue), inner_of(surfaces), inner_of(overlaps), limits,
                    inner_of(records));
  }
  void enqueue_outlines(backend::Queue& queue, const backend::Memory& surfaces,
                        std::span<const backend::OutlineEdges> outlines,
                        std::span<const OverlapLimits> limits, backend::Memory& records) override {
    reach().enqueue_outlines(inner_of(queue), inner_of(surfaces), outlines, limits,
                             inner_of(records));
  }
};

class DoubleSpline final : public Wrapped<backend::DoubleSpline> {
 public:
  using Wrapped::Wrapped;
  void prefilter(backend::Queue& queue, const backend::Memory& images,
                 backend::Memory& coefficients) override {
    reach().prefilter(inner_of(queue), inner_of(images), inner_of(coefficients));
  }
  void enqueue(backend::Queue& queue, const backend::Memory& images,
               const backend::DoublePoints& points, std::uint64_t outside,
               backend::Memory& output) override {
    reach().enqueue(inner_of(queue), inner_of(images), inner_of(points), outside, inner_of(output));
  }
};

class MapPoints final : public Wrapped<backend::MapPoints> {
 public:
  using Wrapped::Wrapped;
  void enqueue_grid(backend::Queue& queue, const PointGrid& grid,
                    const backend::PointsInMemory& points) override {
    reach().enqueue_grid(inner_of(queue), grid, inner_of(points));
  }
  void enqueue_displacements(backend::Queue& queue, const PointGrid& grid,
                             const backend::PointsInMemory& points) override {
    reach().enqueue_displacements(inner_of(queue), grid, inner_of(points));
  }
  void enqueue_matrix(backend::Queue& queue, const HomogeneousMatrix& matrix,
                      const backend::PointsInMemory& points) override {
    reach().enqueue_matrix(inner_of(queue), matrix, inner_of(points));
  }
  void enqueue_field(backend::Queue& queue, const backend::FieldInMemory& field,
                     OutsideField outside, const backend::PointsInMemory& points) override {
    reach().enqueue_field(inner_of(queue), inner_of(field), outside, inner_of(points));
  }
  void enqueue_inverse(backend::Queue& queue, const backend::FieldInMemory& field, double tolerance,
                       OutsideField outside, const backend::PointsInMemory& points) override {
    reach().enqueue_inverse(inner_of(queue), inner_of(field), tolerance, outside, inner_of(points));
  }
};

class FillMissing final : public Wrapped<backend::FillMissing> {
 public:
  using Wrapped::Wrapped;
  [[nodiscard]] std::int64_t parts() const noexcept override { return inner().parts(); }
  void enqueue_find(backend::Queue& queue, const backend::Memory& values,
                    std::optional<float> nodata, backend::Memory& known,
                    backend::Memory& counts) override {
    reach().enqueue_find(inner_of(queue), inner_of(values), nodata, inner_of(known),
                         inner_of(counts));
  }
  void enqueue_layer(backend::Queue& queue, int layer, const backend::Memory& from,
                     backend::Memory& to, backend::Memory& values) override {
    reach().enqueue_layer(inner_of(queue), layer, inner_of(from), inner_of(to), inner_of(values));
  }
  void enqueue_furthest(backend::Queue& queue, const backend::Memory& states,
                        backend::Memory& furthest) override {
    reach().enqueue_furthest(inner_of(queue), inner_of(states), inner_of(furthest));
  }
  void enqueue_start_nearest(backend::Queue& queue, const backend::Memory& states,
                             backend::Memory& nearest) override {
    reach().enqueue_start_nearest(inner_of(queue), inner_of(states), inner_of(nearest));
  }
  void enqueue_step_nearest(backend::Queue& queue, int step, const backend::Memory& from,
                            backend::Memory& to) override {
    reach().enqueue_step_nearest(inner_of(queue), step, inner_of(from), inner_of(to));
  }
  void enqueue_copy_nearest(backend::Queue& queue, const backend::Memory& nearest,
                            backend::Memory& values, backend::Memory& states) override {
    reach().enqueue_copy_nearest(inner_of(queue), inner_of(nearest), inner_of(values),
                                 inner_of(states));
  }
  void enqueue_equations(backend::Queue& queue, const backend::Memory& states,
                         const backend::Memory& values, backend::Memory& roles,
                         backend::Memory& links, backend::Memory& residual,
                         backend::Memory& direction) override {
    reach().enqueue_equations(inner_of(queue), inner_of(states), inner_of(values), inner_of(roles),
                              inner_of(links), inner_of(residual), inner_of(direction));
  }
  void enqueue_counts(backend::Queue& queue, const backend::Memory& links,
                      backend::Memory& counts) override {
    reach().enqueue_counts(inner_of(queue), inner_of(links), inner_of(counts));
  }
  void enqueue_lists(backend::Queue& queue, const backend::Memory& links,
                     const backend::Memory& offsets, backend::Memory& smoothed,
                     backend::Memory& equations) override {
    reach().enqueue_lists(inner_of(queue), inner_of(links), inner_of(offsets), inner_of(smoothed),
                          inner_of(equations));
  }
  void enqueue_iteration(backend::Queue& queue, float momentum, float rate,
                         const backend::HoleEquations& of) override {
    reach().enqueue_iteration(inner_of(queue), momentum, rate, inner_of(of));
  }
  void enqueue_add(backend::Queue& queue, const backend::HoleEquations& of,
                   backend::Memory& values) override {
    reach().enqueue_add(inner_of(queue), inner_of(of), inner_of(values));
  }
  void enqueue_mark(backend::Queue& queue, const MissingResults& how, float least,
                    backend::Memory& shares, backend::Memory& results) override {
    reach().enqueue_mark(inner_of(queue), how, least, inner_of(shares), inner_of(results));
  }
};

class LocalCorrelation final : public Wrapped<backend::LocalCorrelation> {
 public:
  using Wrapped::Wrapped;
  [[nodiscard]] int parts() const noexcept override { return inner().parts(); }
  void enqueue_statistics(backend::Queue& queue, const backend::Memory& reference, float floor,
                          backend::Memory& statistics) override {
    reach().enqueue_statistics(inner_of(queue), inner_of(reference), floor, inner_of(statistics));
  }
  void enqueue_curvatures(backend::Queue& queue, const backend::Memory& reference,
                          const backend::Memory& statistics, CurvatureEntries entries,
                          backend::Memory& curvatures) override {
    reach().enqueue_curvatures(inner_of(queue), inner_of(reference), inner_of(statistics), entries,
                               inner_of(curvatures));
  }
  void enqueue_forces(backend::Queue& queue, const backend::Memory& reference,
                      const backend::Memory& statistics, const backend::Memory& samples,
                      float floor, backend::Memory& partials, backend::Memory& forces) override {
    reach().enqueue_forces(inner_of(queue), inner_of(reference), inner_of(statistics),
                           inner_of(samples), floor, inner_of(partials), inner_of(forces));
  }
  void enqueue_noise_samples(backend::Queue& queue, const backend::Memory& image,
                             const Shape& shape, std::int64_t every, std::int64_t count,
                             backend::Memory& samples) override {
    reach().enqueue_noise_samples(inner_of(queue), inner_of(image), shape, every, count,
                                  inner_of(samples));
  }
};

class DeformationGrid final : public Wrapped<backend::DeformationGrid> {
 public:
  using Wrapped::Wrapped;
  void enqueue_field(backend::Queue& queue, const backend::Memory& coefficients,
                     backend::Memory& field) override {
    reach().enqueue_field(inner_of(queue), inner_of(coefficients), inner_of(field));
  }
  void enqueue_warp(backend::Queue& queue, const backend::Memory& coefficients,
                    const backend::Memory& moving, const backend::Memory& pose,
                    const backend::Memory* reference_mask, const backend::Memory* moving_mask,
                    backend::Memory& samples) override {
    reach().enqueue_warp(inner_of(queue), inner_of(coefficients), inner_of(moving), inner_of(pose),
                         inner_of(reference_mask), inner_of(moving_mask), inner_of(samples));
  }
  void enqueue_sums(backend::Queue& queue, int planes, const backend::Memory& volumes,
                    backend::Memory& sums) override {
    reach().enqueue_sums(inner_of(queue), planes, inner_of(volumes), inner_of(sums));
  }
  void enqueue_determinants(backend::Queue& queue, const backend::Memory& coefficients,
                            backend::Memory& determinants) override {
    reach().enqueue_determinants(inner_of(queue), inner_of(coefficients), inner_of(determinants));
  }
  void enqueue_extremes(backend::Queue& queue, const backend::Memory& determinants, float low,
                        float high, backend::Memory& extremes) override {
    reach().enqueue_extremes(inner_of(queue), inner_of(determinants), low, high,
                             inner_of(extremes));
  }
  void enqueue_marks(backend::Queue& queue, const backend::Memory& determinants, float lowest,
                     backend::Memory& marks) override {
    reach().enqueue_marks(inner_of(queue), inner_of(determinants), lowest, inner_of(marks));
  }
};

class Blobs final : public Wrapped<backend::Blobs> {
 public:
  using Wrapped::Wrapped;
  void enqueue_deviations(backend::Queue& queue, const backend::Memory& octave,
                          const backend::Memory& planes, backend::Memory& deviations) override {
    reach().enqueue_deviations(inner_of(queue), inner_of(octave), inner_of(planes),
                               inner_of(deviations));
  }
  void enqueue(backend::Queue& queue, const backend::Memory& octave, const backend::Memory& planes,
               const backend::Memory& deviations, std::int32_t number, backend::Memory& count,
               backend::Memory& blobs) override {
    reach().enqueue(inner_of(queue), inner_of(octave), inner_of(planes), inner_of(deviations),
                    number, inner_of(count), inner_of(blobs));
  }
};

class Descriptors final : public Wrapped<backend::Descriptors> {
 public:
  using Wrapped::Wrapped;
  void enqueue_directions(backend::Queue& queue, const backend::Memory& octave,
                          const backend::Memory& planes, const backend::Memory& places,
                          const KeypointRange& range, backend::Memory& radians) override {
    reach().enqueue_directions(inner_of(queue), inner_of(octave), inner_of(planes),
                               inner_of(places), range, inner_of(radians));
  }
  void enqueue_descriptors(backend::Queue& queue, const backend::Memory& octave,
                           const backend::Memory& planes, const backend::Memory& places,
                           const KeypointRange& range, backend::Memory& descriptors) override {
    reach().enqueue_descriptors(inner_of(queue), inner_of(octave), inner_of(planes),
                                inner_of(places), range, inner_of(descriptors));
  }
};

class Smooth final : public Wrapped<backend::Smooth> {
 public:
  using Wrapped::Wrapped;
  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& output) override {
    reach().enqueue(inner_of(queue), inner_of(input), inner_of(output));
  }
  void enqueue(backend::Queue& queue, const backend::Memory& input, const backend::Memory& mask,
               backend::Memory& output, backend::Memory& weight) override {
    reach().enqueue(inner_of(queue), inner_of(input), inner_of(mask), inner_of(output),
                    inner_of(weight));
  }
};

class SimilaritySums final : public Wrapped<backend::SimilaritySums> {
 public:
  using Wrapped::Wrapped;
  [[nodiscard]] std::size_t groups() const noexcept override { return inner().groups(); }
  void enqueue(backend::Queue& queue, const backend::SimilarityMemory& images,
               std::span<const SimilarityState> states, backend::Memory& partials,
               std::size_t first) override {
    reach().enqueue(inner_of(queue), inner_of(images), states, inner_of(partials), first);
  }
  void enqueue_resident(backend::Queue& queue, std::span<const backend::ResidentSums> sums,
                        const backend::Memory& states, backend::Memory& partials) override {
    std::vector<backend::ResidentSums> of_inner;
    for (const backend::ResidentSums& one : sums) {
      of_inner.push_back({&static_cast<SimilaritySums*>(one.stage)->inner(), inner_of(one.images),
                          one.first_state, one.count, one.first, one.length});
    }
    reach().enqueue_resident(inner_of(queue), of_inner, inner_of(states), inner_of(partials));
  }
};

class SpectrumSums final : public Wrapped<backend::SpectrumSums> {
 public:
  using Wrapped::Wrapped;
  [[nodiscard]] std::size_t groups() const noexcept override { return inner().groups(); }
  void enqueue(backend::Queue& queue, const backend::Memory& a, const backend::Memory& b,
               std::int64_t result, backend::Memory& partials) override {
    reach().enqueue(inner_of(queue), inner_of(a), inner_of(b), result, inner_of(partials));
  }
};

class CommonFrames final : public Wrapped<backend::CommonFrames> {
 public:
  using Wrapped::Wrapped;
  [[nodiscard]] std::size_t groups() const noexcept override { return inner().groups(); }
  void enqueue(backend::Queue& queue, const backend::CommonFramesMemory& memory,
               const backend::CommonFramesTerms& terms, std::int64_t result,
               backend::Memory& partials) override {
    reach().enqueue(inner_of(queue), inner_of(memory), terms, result, inner_of(partials));
  }
};

class VolumeSums final : public Wrapped<backend::VolumeSums> {
 public:
  using Wrapped::Wrapped;
  [[nodiscard]] std::size_t groups() const noexcept override { return inner().groups(); }
  void enqueue_moments(backend::Queue& queue, const backend::Memory& reference,
                       const backend::Memory& moving, const backend::VolumeBox& box,
                       std::size_t slot, backend::Memory& partials) override {
    reach().enqueue_moments(inner_of(queue), inner_of(reference), inner_of(moving), box, slot,
                            inner_of(partials));
  }
  void enqueue_step(backend::Queue& queue, const backend::Memory& reference,
                    const backend::Memory& moving, const backend::VolumeBox& box,
                    const std::array<float, 3>& fraction, backend::Memory& partials) override {
    reach().enqueue_step(inner_of(queue), inner_of(reference), inner_of(moving), box, fraction,
                         inner_of(partials));
  }
};

class AffineVolumeSums final : public Wrapped<backend::AffineVolumeSums> {
 public:
  using Wrapped::Wrapped;
  [[nodiscard]] int parts() const noexcept override { return inner().parts(); }
  void enqueue(backend::Queue& queue, const backend::AffineVolumeSumsMemory& memory,
               std::int64_t states, backend::Memory& partials) override {
    reach().enqueue(inner_of(queue), inner_of(memory), states, inner_of(partials));
  }
};

template <>
struct Wrapper<backend::RealFft> {
  using Type = RealFft;
};
template <>
struct Wrapper<backend::ImpulseFilter> {
  using Type = ImpulseFilter;
};
template <>
struct Wrapper<backend::DoubleAngle> {
  using Type = DoubleAngle;
};
template <>
struct Wrapper<backend::OverlapPeaks> {
  using Type = OverlapPeaks;
};
template <>
struct Wrapper<backend::DoubleSpline> {
  using Type = DoubleSpline;
};
template <>
struct Wrapper<backend::MapPoints> {
  using Type = MapPoints;
};
template <>
struct Wrapper<backend::FillMissing> {
  using Type = FillMissing;
};
template <>
struct Wrapper<backend::LocalCorrelation> {
  using Type = LocalCorrelation;
};
template <>
struct Wrapper<backend::DeformationGrid> {
  using Type = DeformationGrid;
};
template <>
struct Wrapper<backend::Blobs> {
  using Type = Blobs;
};
template <>
struct Wrapper<backend::Descriptors> {
  using Type = Descriptors;
};
template <>
struct Wrapper<backend::Smooth> {
  using Type = Smooth;
};
template <>
struct Wrapper<backend::SimilaritySums> {
  using Type = SimilaritySums;
};
template <>
struct Wrapper<backend::SpectrumSums> {
  using Type = SpectrumSums;
};
template <>
struct Wrapper<backend::CommonFrames> {
  using Type = CommonFrames;
};
template <>
struct Wrapper<backend::VolumeSums> {
  using Type = VolumeSums;
};
template <>
struct Wrapper<backend::AffineVolumeSums> {
  using Type = AffineVolumeSums;
};

}  // namespace warpalign::faulty

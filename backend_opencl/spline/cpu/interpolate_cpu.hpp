// Evaluation on CPUs, sixteen neighbouring pixels at a time.
#pragma once

#include "device/kernel.hpp"
#include "spline/array_parameters.hpp"
#include "spline/interpolate_points.hpp"
#include "spline/transform_evaluation.hpp"

#include <warpalign/backend/stages/spline/interpolate.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace warpalign::opencl {

/// The entry of interpolate_cpu.cl's table.
struct RowsOfArray {
  cl_long4 fixed_x, fixed_y, fixed_z;
  cl_float4 row_x, row_y, row_z, rest_x, rest_y, rest_z;
};

/// Whether all points of a transform fit fixed-point coordinates.
[[nodiscard]] bool all_near(const HomogeneousMatrix& transform, const Shape& output);
/// An axis of a transform in fixed point. Coordinates count from the first coefficient, `shift`
/// before the first sample. `m`: three matrix entries and the translation.
[[nodiscard]] cl_long4 fixed_row(const double* m, double shift);

class CpuEvaluation final : public TransformEvaluation {
 public:
  /// The spec and the details of bilinear interpolation with zeros outside the image, for stages
  /// that do not evaluate splines.
  [[nodiscard]] static InterpolateSpec bilinear(const Shape& image, const Shape& output,
                                                PixelType pixels);
  static constexpr backend::InterpolateDetails zero_padded{
      .points = backend::InterpolateDetails::Points::free,
      .extension = backend::Extension::fill,
      .margin = 0};

  /// Whether this class can serve a plan: on CPUs with vectors, if the spline is large enough to
  /// contain a neighbourhood. `stored` is the shape of the coefficients.
  [[nodiscard]] static bool serves(const Context& context, const InterpolateSpec& spec,
                                   const Shape& stored);

  enum class From { transform, field };
  CpuEvaluation(Context& context, const char* stage, From points, const InterpolateSpec& spec,
                const backend::InterpolateDetails& details, const Shape& stored);

  /// For objects made with From::transform. Returns false if a transform is not affine or maps too
  /// far away.
  bool enqueue(cl_command_queue queue, cl_mem coefficients,
               std::span<const HomogeneousMatrix> transforms,
               const backend::Memory& output) override {
    return enqueue(queue, coefficients, transforms, output, 0);
  }
  /// Writes to the part of the memory that begins at pixel `first`.
  bool enqueue(cl_command_queue queue, cl_mem coefficients,
               std::span<const HomogeneousMatrix> transforms, const backend::Memory& output,
               std::int64_t first);

  /// For objects made with From::field: coordinates[i][i * axis_stride + p] is the coordinate of
  /// pixel p along axis i.
  void enqueue(cl_command_queue queue, cl_mem coefficients,
               const std::array<cl_mem, 3>& coordinates, std::int64_t axis_stride,
               const backend::Memory& output);

 private:
  [[nodiscard]] RowsOfArray rows_of(const HomogeneousMatrix& transform) const;

  InterpolateSpec spec_;
  backend::InterpolateDetails details_;
  Shape stored_;
  Grid grid_;
  Kernel kernel_;
  std::optional<ArrayParameters<RowsOfArray>> table_;
};

}  // namespace warpalign::opencl

// Evaluation on CPUs, sixteen neighbouring pixels at a time.
#pragma once

#include "device/kernel.hpp"
#include "spline/interpolate_points.hpp"

#include <warpalign/backend/stages/spline/interpolate.hpp>

#include <array>
#include <cstdint>

namespace warpalign::opencl {

class RowEvaluation {
 public:
  /// Bilinear interpolation of images to which zeros are added on all sides, as stages that are no
  /// evaluation of splines ask for it: spec and details.
  [[nodiscard]] static InterpolateSpec bilinear(const Shape& image, const Shape& output,
                                                PixelType pixels);
  static constexpr backend::InterpolateDetails amid_zeros{
      .points = backend::InterpolateDetails::Points::free,
      .extension = backend::Extension::fill,
      .margin = 0};

  /// Whether a plan may be served so: CPUs with vectors, splines with room for a neighbourhood.
  /// `stored`: the shape of the coefficients.
  [[nodiscard]] static bool serves(const Context& context, const InterpolateSpec& spec,
                                   const Shape& stored);

  enum class From { transform, field };
  RowEvaluation(Context& context, const char* stage, From points, const InterpolateSpec& spec,
                const backend::InterpolateDetails& details, const Shape& stored);

  /// Made from a transform. False where the transform is not affine, or leads too far away: nothing
  /// was enqueued.
  bool enqueue(cl_command_queue queue, cl_mem coefficients, const Transform& transform,
               const backend::Memory& output);

  /// Made from a field: axis i of pixel p is coordinates[i][i apart + p].
  void enqueue(cl_command_queue queue, cl_mem coefficients,
               const std::array<cl_mem, 3>& coordinates, std::int64_t apart,
               const backend::Memory& output);

 private:
  InterpolateSpec spec_;
  backend::InterpolateDetails details_;
  Shape stored_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace warpalign::opencl

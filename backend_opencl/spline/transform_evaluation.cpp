// The implementations of evaluation under transforms, in order of preference.
#include "spline/transform_evaluation.hpp"

#include "spline/cpu/interpolate_cpu.hpp"
#include "spline/interpolate_linear.hpp"
#include "spline/interpolate_tiled.hpp"
#include "spline/interpolate_volume.hpp"

#include <array>

namespace warpalign::opencl {
namespace {

using Evaluation = std::unique_ptr<TransformEvaluation>;

Evaluation cubic_volumes(Context& context, const EvaluationRequest& request) {
  const auto& [spec, details, stored, by_texture] = request;
  if (!VolumeEvaluation::serves(context, spec, details)) return nullptr;
  return std::make_unique<VolumeEvaluation>(context, spec, details, stored);
}

Evaluation on_cpus(Context& context, const EvaluationRequest& request) {
  const auto& [spec, details, stored, by_texture] = request;
  if (by_texture || !CpuEvaluation::serves(context, spec, stored)) return nullptr;
  return std::make_unique<CpuEvaluation>(context, "interpolate", CpuEvaluation::From::transform,
                                         spec, details, stored);
}

Evaluation in_tiles(Context& context, const EvaluationRequest& request) {
  const auto& [spec, details, stored, by_texture] = request;
  if (!TiledEvaluation::serves(context, spec, details)) return nullptr;
  return std::make_unique<TiledEvaluation>(context, spec, details, stored);
}

Evaluation of_degree_1(Context& context, const EvaluationRequest& request) {
  const auto& [spec, details, stored, by_texture] = request;
  if (!LinearEvaluation::serves(context, spec, details)) return nullptr;
  return std::make_unique<LinearEvaluation>(context, spec, details);
}

constexpr std::array implementations{cubic_volumes, on_cpus, in_tiles, of_degree_1};

}  // namespace

Evaluation make_transform_evaluation(Context& context, const EvaluationRequest& request) {
  for (const auto make : implementations) {
    if (Evaluation evaluation = make(context, request)) return evaluation;
  }
  return nullptr;
}

}  // namespace warpalign::opencl

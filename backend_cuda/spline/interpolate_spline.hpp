// The parameters of interpolation kernels: the spline, its rules, the points and the output. Plain
// data.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/stages/spline/interpolate.hpp>

#include <cuda_runtime_api.h>

namespace warpalign::cuda {

using PointRule = backend::InterpolateDetails::Points;

struct SplineRules {
  PointRule points = PointRule::free;
  int extension = 0;  // numbered as in formulas/boundary.h
  int margin = 0;
  int reach = 0;  // clamp_to_margin: the maximum distance of a point from the samples
  float cval = 0;
};

/// The axes are x, y and z. Axes beyond the spline's dimensions have 1 sample and no margin.
struct SplineGeometry {
  int samples[3];
  int stored[3];  // numbers of coefficients: samples and margins
  SplineRules rules;
};

[[nodiscard]] SplineGeometry geometry_of(const InterpolateSpec& spec,
                                         const backend::InterpolateDetails& details,
                                         const CallSite& site);

enum class PointKind { affine, projective, field, log_polar };

struct PointSource {
  PointKind kind = PointKind::affine;
  double m[16] = {};             // affine, projective: row-major
  const float* field = nullptr;  // field: all x, then all y, then all z
  long long field_plane = 0;     // pixels of the output
  LogPolarSampling polar;        // angles in units of pi
};

[[nodiscard]] PointSource points_of(const HomogeneousMatrix& transform);

struct OutputImage {
  void* pixels = nullptr;
  PixelType type = PixelType::f32;
  int width = 1, height = 1, depth = 1;
  float* gradient = nullptr;     // ds/dx, then ds/dy, then ds/dz
  long long gradient_plane = 0;  // the distance from one to the next, in pixels
};

/// All parameters of a kernel except the coefficients.
struct Evaluation {
  SplineGeometry spline;
  PointSource points;
  OutputImage output;
};

template <class Value>
using InterpolateKernel = void (*)(const Value*, Evaluation);

// The kernels by number of dimensions, each in its own file, so that they compile in parallel.
template <class Value>
InterpolateKernel<Value> interpolate_kernel_1d(int degree);
template <class Value>
InterpolateKernel<Value> interpolate_kernel_2d(int degree);
template <class Value>
InterpolateKernel<Value> interpolate_kernel_3d(int degree);
InterpolateKernel<float> gradient_kernel(int dimensions, int degree);

/// The textures that evaluation through the texture unit reads.
struct TextureSources {
  cudaTextureObject_t coefficients = 0;
  cudaTextureObject_t table = 0;  // Sigg and Hadwiger's, see LookupTable
};
/// Kernels for degree 3 in two or three dimensions, and for degree 1 in two.
using TextureKernel = void (*)(TextureSources, const float*, Evaluation);
TextureKernel texture_kernel(int dimensions, int degree, bool by_table);

}  // namespace warpalign::cuda

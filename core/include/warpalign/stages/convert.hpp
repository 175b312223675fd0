// Stage: conversion of pixel types.
#pragma once

#include <warpalign/device.hpp>

#include <memory>

namespace warpalign {

namespace backend {
class Convert;
}

/// What a ConvertPlan is made for.
struct ConvertSpec {
  Shape shape;                        ///< of input and output
  PixelType input = PixelType::f32;   ///< any type but c32
  PixelType output = PixelType::f32;  ///< any type but c32
  /// Whether to convert through double precision, which holds values of all types. Needs a device
  /// with DeviceInfo::double_precision.
  bool in_double = false;
};

/// Converts pixels through single precision, unless the spec says otherwise: u32, i32 and f64 are
/// first rounded to the nearest f32 (a double out of range becomes infinite). For an integer
/// output, values are rounded to the nearest integer (halves away from zero) and saturated, and NaN
/// becomes 0, as in SciPy.
class WARPALIGN_API ConvertPlan {
 public:
  /// Throws Error(invalid_argument) for c32, and for doubles on a device that does not support
  /// them.
  ConvertPlan(const Device& device, const ConvertSpec& spec);
  /// Enqueues the conversion. Throws Error(invalid_argument) unless input and output have the
  /// spec's types and shape, and if `output` is `input`.
  void execute(Stream& stream, const Image& input, Image& output) const;

 private:
  Device device_;
  ConvertSpec spec_;
  std::shared_ptr<backend::Convert> kernel_;
};

}  // namespace warpalign

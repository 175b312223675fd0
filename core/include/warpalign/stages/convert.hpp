// Stage: conversion of pixels from one type to another.
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
};

/// Converts pixels by way of single precision: u32, i32 and f64 are rounded to the nearest f32
/// first (a double beyond its range becomes infinite). Integers are rounded to the nearest, halves
/// away from zero, and saturated; NaN becomes 0 there. This is how SciPy writes its results.
class WARPALIGN_API ConvertPlan {
 public:
  /// Throws Error(invalid_argument) for c32.
  ConvertPlan(const Device& device, const ConvertSpec& spec);
  /// Input and output have the spec's types and shape. Throws Error(invalid_argument) for others,
  /// and where `output` is `input`.
  void execute(Stream& stream, const Image& input, Image& output) const;

 private:
  Device device_;
  ConvertSpec spec_;
  std::shared_ptr<backend::Convert> kernel_;
};

}  // namespace warpalign

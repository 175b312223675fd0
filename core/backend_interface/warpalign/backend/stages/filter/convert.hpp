// The backend's interface of the stage: conversion of pixel types.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/stages/convert.hpp>

namespace warpalign::backend {

class Convert : public Stage {
 public:
  using Setup = ConvertSpec;

  virtual void enqueue(Queue& queue, const Memory& input, Memory& output) = 0;
};

/// All real types. The index of a type is its number in kernels.
inline constexpr PixelType real_types[] = {PixelType::u8,  PixelType::i8,  PixelType::u16,
                                           PixelType::i16, PixelType::u32, PixelType::i32,
                                           PixelType::f16, PixelType::f32, PixelType::f64};

}  // namespace warpalign::backend

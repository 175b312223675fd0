// What a backend implements for the stage: conversion of pixels from one type to another.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/stages/convert.hpp>

namespace warpalign::backend {

class Convert : public Stage {
 public:
  using Setup = ConvertSpec;

  virtual void enqueue(Queue& queue, const Memory& input, Memory& output) = 0;
};

/// Every real type, for what names them to kernels by numbers.
inline constexpr PixelType real_types[] = {PixelType::u8,  PixelType::i8,  PixelType::u16,
                                           PixelType::i16, PixelType::u32, PixelType::i32,
                                           PixelType::f16, PixelType::f32, PixelType::f64};

}  // namespace warpalign::backend

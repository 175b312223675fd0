// Stage: conversion of pixels from one type to another.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "formulas/double_bits.h"
#include "shared/kernel_language.h"

#include <warpalign/backend/stages/filter/convert.hpp>

#include <cuda_fp16.h>

namespace warpalign::cuda {
namespace {

#define GROUP 256
#define CHUNK 4
#define TYPE_U8 static_cast<int>(PixelType::u8)
#define TYPE_I8 static_cast<int>(PixelType::i8)
#define TYPE_U16 static_cast<int>(PixelType::u16)
#define TYPE_I16 static_cast<int>(PixelType::i16)
#define TYPE_U32 static_cast<int>(PixelType::u32)
#define TYPE_I32 static_cast<int>(PixelType::i32)
#define TYPE_F16 static_cast<int>(PixelType::f16)
#define TYPE_F64 static_cast<int>(PixelType::f64)
#include "shared/convert.cl"

class ConvertStage final : public backend::Convert {
 public:
  ConvertStage(const Context& context, const ConvertSpec& spec)
      : site_{context, "convert"}, spec_(spec) {
    load(&convert, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& output) override {
    const auto pixels = static_cast<unsigned long long>(spec_.shape.pixels());
    const auto groups = static_cast<unsigned>(divide_up(spec_.shape.pixels(), GROUP * CHUNK));
    launch_early(site_, queue, dim3(groups), dim3(GROUP), &convert, data<unsigned char>(input),
                 static_cast<int>(spec_.input), pixels, data<unsigned char>(output),
                 static_cast<int>(spec_.output));
  }

 private:
  CallSite site_;
  ConvertSpec spec_;
};

}  // namespace

template <>
std::unique_ptr<backend::Convert> make(const Context& context, const ConvertSpec& spec) {
  return std::make_unique<ConvertStage>(context, spec);
}

}  // namespace warpalign::cuda

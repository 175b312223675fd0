// Stage: conversion of pixels from one type to another.
#include "device/common_stage.hpp"

#include <warpalign/backend/stages/filter/convert.hpp>

#include <cctype>
#include <optional>
#include <string>
#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "convert";

#define GROUP 256
#define CHUNK 4
#ifdef __CUDACC__
#include "shared/double_convert.cl"
#define TYPE_U8 static_cast<int>(PixelType::u8)
#define TYPE_I8 static_cast<int>(PixelType::i8)
#define TYPE_U16 static_cast<int>(PixelType::u16)
#define TYPE_I16 static_cast<int>(PixelType::i16)
#define TYPE_U32 static_cast<int>(PixelType::u32)
#define TYPE_I32 static_cast<int>(PixelType::i32)
#define TYPE_F16 static_cast<int>(PixelType::f16)
#define TYPE_F64 static_cast<int>(PixelType::f64)
#include "shared/convert.cl"
#endif

KernelOptions options(int group, int chunk) {
  KernelOptions options;
  options.set("GROUP", group).set("CHUNK", chunk);
  for (const PixelType type : backend::real_types) {
    std::string name = std::string("TYPE_") + name_of(type);
    name[5] = static_cast<char>(std::toupper(name[5]));
    options.set(name.c_str(), static_cast<int>(type));
  }
  return options;
}

class ConvertStage final : public backend::Convert {
 public:
  ConvertStage(DeviceContext& context, const ConvertSpec& spec)
      : from_(static_cast<int>(spec.input)),
        to_(static_cast<int>(spec.output)),
        pixels_(static_cast<std::uint64_t>(spec.shape.pixels())),
        group_(is_cpu(context) ? 1 : group_of_at_most(context, GROUP)),
        chunk_(is_cpu(context) ? 64 : CHUNK),
        groups_(groups_over(spec.shape.pixels(), std::int64_t{group_} * chunk_)),
        convert_(context, stage, WA_KERNEL_OF(convert, convert), options(group_, chunk_)) {
    if (!spec.in_double) return;
    in_double_.emplace(context, stage, WA_KERNEL_OF(double_convert, convert_doubles),
                       KernelOptions().set("GROUP", group_).set("CHUNK", chunk_));
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& output) override {
    if (in_double_) {
      in_double_->launch(queue, {groups_, 1, {group_}}, input, from_, pixels_, output, to_);
    } else {
      convert_.launch(queue, {groups_, 1, {group_}}, input, from_, pixels_, output, to_);
    }
  }

 private:
  int from_, to_;
  std::uint64_t pixels_;
  int group_, chunk_;
  std::int64_t groups_;
  WA_LAUNCHER_OF(convert) convert_;
  std::optional<WA_LAUNCHER_OF(convert_doubles)> in_double_;
};

}  // namespace

template <>
std::unique_ptr<backend::Convert> make(DeviceContext& context, const ConvertSpec& spec) {
  return std::make_unique<ConvertStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

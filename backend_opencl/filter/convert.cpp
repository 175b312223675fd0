// Stage: conversion of pixels from one type to another.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/filter/convert.hpp>

#include <cctype>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "convert";

std::string options(std::size_t group, std::size_t chunk) {
  std::string text =
      int_option("GROUP", static_cast<int>(group)) + int_option("CHUNK", static_cast<int>(chunk));
  for (const PixelType type : backend::real_types) {
    std::string name = std::string("TYPE_") + name_of(type);
    name[5] = static_cast<char>(std::toupper(name[5]));
    text += int_option(name.c_str(), static_cast<int>(type));
  }
  return text;
}

class Convert final : public backend::Convert {
 public:
  Convert(Context& context, const ConvertSpec& spec)
      : from_(static_cast<cl_int>(spec.input)),
        to_(static_cast<cl_int>(spec.output)),
        pixels_(spec.shape.pixels()),
        group_(context.is_cpu() ? 1 : reduction_group(context)),
        chunk_(context.is_cpu() ? 64 : 4),
        kernel_(context, stage, kernels::convert, "convert", options(group_, chunk_)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& output) override {
    const auto groups =
        static_cast<std::size_t>(divide_up(pixels_, static_cast<std::int64_t>(group_ * chunk_)));
    kernel_.launch(queue_of(queue), {{groups * group_, 1}, {group_, 1}}, input, from_,
                   static_cast<cl_ulong>(pixels_), output, to_);
  }

 private:
  cl_int from_, to_;
  std::int64_t pixels_;
  std::size_t group_, chunk_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::Convert> make(Context& context, const ConvertSpec& spec) {
  return std::make_unique<Convert>(context, spec);
}

}  // namespace warpalign::opencl

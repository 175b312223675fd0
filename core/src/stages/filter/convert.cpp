// Stage: conversion of pixel types.
#include <warpalign/stages/convert.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <warpalign/backend/stages/filter/convert.hpp>

namespace warpalign {

namespace {

constexpr const char* convert_stage = "convert";

ConvertSpec checked(const Device& device, const ConvertSpec& spec) {
  detail::check_array(convert_stage, "the image", spec.shape);
  if (spec.input == PixelType::c32 || spec.output == PixelType::c32) {
    detail::refuse(convert_stage, "conversion from or to c32 is not supported");
  }
  if (spec.in_double && !device.info().double_precision) {
    detail::refuse(convert_stage,
                   "the device " + device.info().id + " does not support double precision");
  }
  return spec;
}

}  // namespace

ConvertPlan::ConvertPlan(const Device& device, const ConvertSpec& spec)
    : device_(device),
      spec_(checked(device, spec)),
      kernel_(detail::Access::driver(device).make(spec)) {}

void ConvertPlan::execute(Stream& stream, const Image& input, Image& output) const {
  detail::check_stream(convert_stage, device_, stream);
  detail::check_image(convert_stage, "the input", device_, input, spec_.input, spec_.shape);
  detail::check_image(convert_stage, "the output", device_, output, spec_.output, spec_.shape);
  detail::check_distinct(convert_stage, input, output);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input),
                   detail::Access::memory(output));
}

}  // namespace warpalign

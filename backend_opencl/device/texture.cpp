// Creates the images that the texture unit reads.
#include "device/texture.hpp"

#include "device/device_list.hpp"

#include <algorithm>
#include <array>

namespace warpalign::opencl {

namespace {

cl_image_format format_of(const TextureKind& kind) {
  return {static_cast<cl_channel_order>(kind.channels == 2 ? CL_RG : CL_R), CL_FLOAT};
}

cl_mem_object_type type_of(const TextureKind& kind) {
  return kind.dimensions == 3 ? CL_MEM_OBJECT_IMAGE3D : CL_MEM_OBJECT_IMAGE2D;
}

bool has_format(const Context& context, const TextureKind& kind, cl_mem_flags access) {
  std::array<cl_image_format, 256> formats{};
  cl_uint count = 0;
  if (clGetSupportedImageFormats(context.handle().get(), access, type_of(kind),
                                 static_cast<cl_uint>(formats.size()), formats.data(),
                                 &count) != CL_SUCCESS) {
    return false;
  }
  const cl_image_format wanted = format_of(kind);
  return std::any_of(formats.begin(), formats.begin() + std::min<std::size_t>(count, 256),
                     [&](const cl_image_format& format) {
                       return format.image_channel_order == wanted.image_channel_order &&
                              format.image_channel_data_type == wanted.image_channel_data_type;
                     });
}

}  // namespace

bool fits_texture(const Context& context, const TextureKind& kind) {
  const auto within = [&](std::int64_t extent, cl_device_info limit) {
    return static_cast<std::size_t>(extent) <= device_value<std::size_t>(context.id(), limit);
  };
  const Shape& shape = kind.shape;
  const bool fits = kind.dimensions == 2 ? within(shape.width, CL_DEVICE_IMAGE2D_MAX_WIDTH) &&
                                               within(shape.height, CL_DEVICE_IMAGE2D_MAX_HEIGHT)
                                         : within(shape.width, CL_DEVICE_IMAGE3D_MAX_WIDTH) &&
                                               within(shape.height, CL_DEVICE_IMAGE3D_MAX_HEIGHT) &&
                                               within(shape.depth, CL_DEVICE_IMAGE3D_MAX_DEPTH);
  return fits && has_format(context, kind, CL_MEM_READ_ONLY);
}

bool can_be_written(const Context& context, const TextureKind& kind) {
  return kind.dimensions == 2 && has_format(context, kind, CL_MEM_READ_WRITE);
}

Texture make_texture(const Context& context, const TextureKind& kind, const std::string& stage) {
  const CallSite site = context.call_site(stage);
  const cl_image_format format = format_of(kind);
  cl_image_desc desc{};
  desc.image_type = type_of(kind);
  desc.image_width = static_cast<std::size_t>(kind.shape.width);
  desc.image_height = static_cast<std::size_t>(kind.shape.height);
  desc.image_depth = kind.dimensions == 3 ? static_cast<std::size_t>(kind.shape.depth) : 0;
  cl_int status = CL_SUCCESS;
  const cl_mem_flags access = can_be_written(context, kind) ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY;
  const cl_mem image =
      clCreateImage(context.handle().get(), access, &format, &desc, nullptr, &status);
  check(status, "clCreateImage", site);
  context.count_allocation();
  Texture texture{adopt(image), {}};
  const cl_sampler sampler =
      clCreateSampler(context.handle().get(), CL_FALSE, CL_ADDRESS_CLAMP, kind.filter, &status);
  check(status, "clCreateSampler", site);
  texture.sampler = adopt(sampler);
  return texture;
}

}  // namespace warpalign::opencl

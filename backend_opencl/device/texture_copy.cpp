// A texture that holds a copy of a stage's input.
#include "device/texture_copy.hpp"

#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <array>

namespace warpalign::opencl {

TextureCopy::TextureCopy(Context& context, const TextureKind& kind, const std::string& stage)
    : site_(context.call_site(stage)),
      shape_(kind.shape),
      pixel_bytes_(sizeof(cl_float) * static_cast<std::size_t>(kind.channels)),
      texture_(make_texture(context, kind, stage)),
      grid_(covering(context, kind.shape.width, kind.shape.height)) {
  if (!can_be_written(context, kind)) return;
  kernel_.emplace(context, stage.c_str(), kernels::texture_fill, "texture_fill",
                  kind.channels == 2 ? "-D COMPLEX" : "");
}

void TextureCopy::fill(cl_command_queue queue, cl_mem source, std::int64_t array) {
  const auto first = static_cast<std::size_t>(array * shape_.pixels());
  if (kernel_) {
    kernel_->launch(queue, grid_, source, texture_.image, static_cast<cl_int>(shape_.width),
                    static_cast<cl_int>(shape_.height), static_cast<cl_ulong>(first));
    return;
  }
  const std::array<std::size_t, 3> origin{0, 0, 0};
  const std::array<std::size_t, 3> region{static_cast<std::size_t>(shape_.width),
                                          static_cast<std::size_t>(shape_.height),
                                          static_cast<std::size_t>(shape_.depth)};
  check(clEnqueueCopyBufferToImage(queue, source, texture_.image.get(), first * pixel_bytes_,
                                   origin.data(), region.data(), 0, nullptr, nullptr),
        "clEnqueueCopyBufferToImage", site_);
}

}  // namespace warpalign::opencl

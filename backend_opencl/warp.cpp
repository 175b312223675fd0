// Stage: bilinear resampling under an affine transform, by the texture unit or by loads.
#include "kernel.hpp"
#include "kernel_texts.hpp"
#include "queue.hpp"
#include "queue_order.hpp"
#include "stages.hpp"
#include "texture.hpp"

#include <array>
#include <cmath>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "warp";

/// One row of a transform as formulas/affine.h takes it: its coefficients rounded to float, and
/// what the rounding lost.
struct Row {
  cl_float4 nearest{};
  cl_float4 rest{};
};

/// The one place where the double transform becomes floats. `at_centre` is the row's value at the
/// output's central pixel, which coordinates are counted from, so that they stay small.
Row to_row(double along_x, double along_y, double at_centre) {
  const std::array values{along_x, along_y, at_centre};
  Row row;
  for (std::size_t i = 0; i < values.size(); ++i) {
    row.nearest.s[i] = static_cast<cl_float>(values[i]);
    const double lost = values[i] - static_cast<double>(row.nearest.s[i]);
    row.rest.s[i] = std::isfinite(lost) ? static_cast<cl_float>(lost) : 0;
  }
  return row;
}

class Warp final : public backend::Warp {
 public:
  Warp(OpenedDevice& device, const WarpSpec& spec)
      : place_(device.place(stage)),
        width_(to_int(spec.input.width, place_)),
        height_(to_int(spec.input.height, place_)),
        output_width_(to_int(spec.output.width, place_)),
        output_height_(to_int(spec.output.height, place_)),
        by_texture_(device.info().sampling == Sampling::texture &&
                    fits_texture(device, width_, height_)),
        grid_(covering(device, output_width_, output_height_)),
        kernel_(device, stage, kernels::warp, "warp", by_texture_ ? "-D TEXTURE" : "") {
    if (by_texture_) texture_ = make_texture(device, width_, height_, stage);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input, const Affine& map,
               backend::Memory& output) override {
    const cl_int centre_x = output_width_ / 2;
    const cl_int centre_y = output_height_ / 2;
    const double x = centre_x;
    const double y = centre_y;
    const Row x_row = to_row(map.a, map.b, map.a * x + map.b * y + map.c);
    const Row y_row = to_row(map.d, map.e, map.d * x + map.e * y + map.f);
    const cl_command_queue commands = queue_of(queue);
    const auto launch = [&](const auto&... source) {
      kernel_.launch(commands, grid_, source..., width_, height_, x_row.nearest, x_row.rest,
                     y_row.nearest, y_row.rest, centre_x, centre_y, output, output_width_,
                     output_height_);
    };
    if (!by_texture_) return launch(input);
    fill_texture(commands, input);
    launch(texture_.image, texture_.linear.get());
  }

 private:
  void fill_texture(cl_command_queue commands, const backend::Memory& input) {
    order_.enter(commands, stage);
    const std::array<std::size_t, 3> origin{0, 0, 0};
    const std::array<std::size_t, 3> region{static_cast<std::size_t>(width_),
                                            static_cast<std::size_t>(height_), 1};
    check(clEnqueueCopyBufferToImage(commands, buffer_of(input), texture_.image.get(), 0,
                                     origin.data(), region.data(), 0, nullptr, nullptr),
          "clEnqueueCopyBufferToImage", place_);
  }

  Place place_;
  cl_int width_, height_, output_width_, output_height_;
  bool by_texture_;
  Grid grid_;
  Kernel kernel_;
  Texture texture_;
  QueueOrder order_;
};

}  // namespace

std::unique_ptr<backend::Warp> make_warp(OpenedDevice& device, const WarpSpec& spec) {
  return std::make_unique<Warp>(device, spec);
}

}  // namespace warpalign::opencl

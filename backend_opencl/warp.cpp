// Stage: bilinear resampling under an affine transform, by the texture unit or by loads.
#include "kernel.hpp"
#include "kernel_texts.hpp"
#include "queue.hpp"
#include "queue_order.hpp"
#include "stages.hpp"
#include "texture.hpp"
#include "two_floats.hpp"

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "warp";

class Warp final : public backend::Warp {
 public:
  Warp(OpenedDevice& device, const WarpSpec& spec)
      : place_(device.place(stage)),
        width_(to_int(spec.input.width, place_)),
        height_(to_int(spec.input.height, place_)),
        output_width_(to_int(spec.output.width, place_)),
        output_height_(to_int(spec.output.height, place_)),
        by_texture_(device.info().sampling == Sampling::texture &&
                    fits_texture(device, {.shape = spec.input})),
        grid_(covering(device, output_width_, output_height_)),
        kernel_(device, stage, kernels::warp, "warp", by_texture_ ? "-D TEXTURE" : "") {
    if (by_texture_) texture_ = make_texture(device, {.shape = spec.input}, stage);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input, const Affine& map,
               backend::Memory& output) override {
    const cl_int centre_x = output_width_ / 2;
    const cl_int centre_y = output_height_ / 2;
    const double x = centre_x;
    const double y = centre_y;
    const TwoFloats x_row = to_two_floats({map.a, map.b, map.a * x + map.b * y + map.c, 0});
    const TwoFloats y_row = to_two_floats({map.d, map.e, map.d * x + map.e * y + map.f, 0});
    const cl_command_queue commands = queue_of(queue);
    const auto launch = [&](const auto&... source) {
      kernel_.launch(commands, grid_, source..., width_, height_, x_row.nearest, x_row.rest,
                     y_row.nearest, y_row.rest, centre_x, centre_y, output, output_width_,
                     output_height_);
    };
    if (!by_texture_) return launch(input);
    order_.enter(commands, stage);
    fill_texture(commands, buffer_of(input), texture_, {width_, height_, 1}, place_);
    launch(texture_.image, texture_.sampler.get());
  }

 private:
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

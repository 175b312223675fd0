// Prefilter, method `exact`: the recursive filter, each run warmed up over a halo of extended
// samples, so that every size and every boundary rule is right and any place can be computed apart.
//
// Two-dimensional real images are one kernel; volumes add a pass along z, complex ones take a pass
// for each axis.
#include "memory.hpp"
#include "prefilter_method.hpp"
#include "prefilter_plane.cuh"

#include <optional>

namespace warpalign::cuda {
namespace {

// Halos: where |z|^halo, of the slower pole, and what the other adds fall below single precision.
constexpr int halo_one_pole = 12;  // degrees 2 and 3: 0.268^12 = 1.4e-7, of a start that is
                                   // itself off by less than 0.3 of the samples' range
constexpr int halo_degree_4 = 20;  // 0.361^20 = 1.4e-9
constexpr int halo_degree_5 = 24;  // 0.431^24 = 1.6e-9

constexpr int longest_strip = 192;

template <class Pixel>
using PlaneKernel = void (*)(const Pixel*, float*, Plane, Recursion);
using AxisKernel = void (*)(const float*, float*, AxisPass, Recursion, int, float);

template <class Pixel, int halo, int poles>
struct Kernels {
  static constexpr PlaneKernel<Pixel> plane = &plane_kernel<Pixel, halo, poles>;
  static constexpr PlaneKernel<Pixel> row = &row_kernel<Pixel, halo, poles>;
  static constexpr AxisKernel axis = &axis_kernel<halo, poles>;
};
// Complex planes go axis by axis.
template <int halo, int poles>
struct Kernels<float2, halo, poles> {
  static constexpr PlaneKernel<float2> plane = nullptr;
  static constexpr PlaneKernel<float2> row = &row_kernel<float2, halo, poles>;
  static constexpr AxisKernel axis = &axis_kernel<halo, poles>;
};

template <class Pixel>
struct KernelSet {
  PlaneKernel<Pixel> plane;
  PlaneKernel<Pixel> row;
  AxisKernel axis;
  int halo;
};

template <class Pixel, int halo, int poles>
KernelSet<Pixel> kernel_set() {
  using Chosen = Kernels<Pixel, halo, poles>;
  return {Chosen::plane, Chosen::row, Chosen::axis, halo};
}

template <class Pixel>
KernelSet<Pixel> kernels_for(int degree) {
  if (degree == 4) return kernel_set<Pixel, halo_degree_4, 2>();
  if (degree == 5) return kernel_set<Pixel, halo_degree_5, 2>();
  return kernel_set<Pixel, halo_one_pole, 1>();
}

template <class Pixel>
class ExactPrefilter final : public backend::Prefilter {
  static constexpr bool is_complex = components_of<Pixel> == 2;

 public:
  ExactPrefilter(const Context& context, const PrefilterSpec& spec,
                 const backend::PrefilterDetails& details)
      : place_{context, "prefilter"},
        volume_(volume_of(spec, place_)),
        beyond_(beyond_of(spec, details)),
        kernels_(kernels_for<Pixel>(spec.degree)),
        recursion_(recursion_of(details.poles)),
        scale_(scale_of(details.poles)) {
    load_kernels();
    // The array before its last pass, which never runs in place.
    const int last = volume_.dimensions - 1;
    if (last == 2 || (is_complex && last == 1)) {
      const long long floats = result_elements(axis_pass(volume_, beyond_, last - 1));
      scratch_.emplace(place_, static_cast<std::size_t>(floats) * sizeof(float));
    }
  }

  void enqueue(backend::Queue& queue, const backend::Memory& samples,
               backend::Memory& coefficients) override {
    if (scratch_) fence_.enter(queue);
    const Pixel* input = data<Pixel>(samples);
    float* output = data<float>(coefficients);
    float* scratch = scratch_ ? scratch_->as<float>() : nullptr;
    if (volume_.dimensions == 1) {
      rows(queue, input, output);
    } else if (volume_.dimensions == 2) {
      planes(queue, input, output, scratch);
    } else {
      // With margins the result is larger than what goes before, so it can hold that meanwhile.
      planes(queue, input, scratch, output);
      along(queue, scratch, output, 2);
    }
  }

 private:
  void load_kernels() const {
    const bool by_rows = is_complex || volume_.dimensions == 1;
    load(by_rows ? kernels_.row : kernels_.plane, place_);
    if (volume_.dimensions == 3 || is_complex) load(kernels_.axis, place_);
  }

  // Filters along x and y; complex ones by way of `between`.
  void planes(backend::Queue& queue, const Pixel* input, float* output, float* between) const {
    if constexpr (is_complex) {
      rows(queue, input, between);
      along(queue, between, output, 1);
    } else {
      const int wide = volume_.width + 2 * beyond_.margin;
      const int high = volume_.height + 2 * beyond_.margin;
      const std::int64_t across = divide_up(wide, row_pixels - 2 * kernels_.halo);
      Plane p = plane_of(volume_.height, volume_.depth, scale_ * scale_);
      p.strip = strip_for(high, across * volume_.depth);
      const dim3 grid(static_cast<unsigned>(across),
                      static_cast<unsigned>(divide_up(high, p.strip)), grid_depth(volume_.depth));
      launch(place_, queue, grid, dim3(block_threads), kernels_.plane, input, output, p,
             recursion_);
    }
  }

  void rows(backend::Queue& queue, const Pixel* input, float* output) const {
    const long long lines = static_cast<long long>(volume_.height) * volume_.depth;
    const int wide = volume_.width + 2 * beyond_.margin;
    const std::int64_t tasks = lines * divide_up(wide, row_pixels - 2 * kernels_.halo);
    const std::int64_t blocks = std::min<std::int64_t>(divide_up(tasks, block_warps), 1 << 24);
    launch(place_, queue, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), kernels_.row,
           input, output, plane_of(1, lines, scale_), recursion_);
  }

  void along(backend::Queue& queue, const float* input, float* output, int axis) const {
    const AxisPass pass = axis_pass(volume_, beyond_, axis);
    const int length = pass.n + 2 * beyond_.margin;
    const std::int64_t across = divide_up(pass.inner, block_threads);
    const int segment = strip_for(length, across * pass.outer);
    const dim3 grid(static_cast<unsigned>(across),
                    static_cast<unsigned>(divide_up(length, segment)), grid_depth(pass.outer));
    launch(place_, queue, grid, dim3(block_threads), kernels_.axis, input, output, pass, recursion_,
           segment, static_cast<float>(scale_));
  }

  // Long strips read little twice; short ones keep a device busy where the image is small.
  [[nodiscard]] int strip_for(int length, std::int64_t strips_abreast) const {
    const std::int64_t blocks = 6 * std::int64_t{place_.context.multiprocessors};
    const std::int64_t busy = std::int64_t{length} * strips_abreast / blocks;
    const auto wanted = std::clamp<std::int64_t>(busy, 2 * kernels_.halo, longest_strip);
    return segment_length(length, static_cast<int>(wanted), kernels_.halo);
  }

  [[nodiscard]] Plane plane_of(int height, long long depth, double scale) const {
    return {volume_.width,
            height,
            depth,
            0,
            volume_.width % lane_pixels == 0,
            static_cast<float>(scale),
            beyond_};
  }

  Place place_;
  Volume volume_;
  Beyond beyond_;
  KernelSet<Pixel> kernels_;
  Recursion recursion_;
  double scale_;
  std::optional<DeviceMemory> scratch_;
  Fence fence_{place_};
};

}  // namespace

std::unique_ptr<backend::Prefilter> make_prefilter_exact(const Context& context,
                                                         const PrefilterSpec& spec,
                                                         const backend::PrefilterDetails& details) {
  switch (spec.input) {
    case PixelType::u8:
      return std::make_unique<ExactPrefilter<std::uint8_t>>(context, spec, details);
    case PixelType::u16:
      return std::make_unique<ExactPrefilter<std::uint16_t>>(context, spec, details);
    case PixelType::f16:
      return std::make_unique<ExactPrefilter<__half>>(context, spec, details);
    case PixelType::c32:
      return std::make_unique<ExactPrefilter<float2>>(context, spec, details);
    default:
      return std::make_unique<ExactPrefilter<float>>(context, spec, details);
  }
}

}  // namespace warpalign::cuda

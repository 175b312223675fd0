// FFT provider for CPUs: transforms sixteen lines at once in the lanes of vectors
// (kernels_cl/fft/cpu).
//
// VkFFT's kernels are made for GPUs: on PoCL they take 3 to 7 times the processor time of these,
// and must be compiled for each size. These are compiled once.
#include "device/constants.hpp"
#include "device/device_list.hpp"
#include "device/errors.hpp"
#include "device/kernel.hpp"
#include "device/program_cache.hpp"
#include "embedded_kernels.hpp"
#include "fft/fft_provider.hpp"

#include <warpalign/version.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "fft";
constexpr std::int64_t lanes = 16;

/// The radices of the passes over a line (kernels_cl/lib/fft_simd.h). Empty if n has a prime factor
/// without a radix.
std::vector<cl_char> radices_of(std::int64_t n) {
  std::vector<cl_char> radices;
  for (const int radix : {8, 4, 2, 3, 5, 7, 11, 13}) {
    for (; n % radix == 0; n /= radix) radices.push_back(static_cast<cl_char>(radix));
  }
  return n == 1 && radices.size() <= sizeof(cl_char16) ? radices : std::vector<cl_char>{};
}

/// The roots exp(-2 pi i k / n), real and imaginary parts interleaved.
std::vector<float> roots_of(std::int64_t n) {
  std::vector<float> roots;
  for (std::int64_t k = 0; k < n; ++k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    roots.push_back(static_cast<float>(std::cos(angle)));
    roots.push_back(static_cast<float>(std::sin(angle)));
  }
  return roots;
}

/// The size of two arrays that hold a line in every lane.
std::size_t scratch_bytes(std::int64_t n) {
  return 2 * static_cast<std::size_t>(n * lanes) * sizeof(cl_float2);
}

/// The data that the transforms along one axis share.
struct Axis {
  Axis(Context& context, std::int64_t extent)
      : n(static_cast<cl_int>(extent)), scratch{scratch_bytes(extent)} {
    const std::vector<cl_char> factors = radices_of(extent);
    passes = static_cast<cl_int>(factors.size());
    std::copy(factors.begin(), factors.end(), radices.s);
    if (!context.programs().announcing()) roots = upload_floats(context, roots_of(extent), stage);
  }

  cl_int n;
  LocalMemory scratch;
  cl_char16 radices{};
  cl_int passes = 0;
  Handle<cl_mem> roots;
};

/// The forward and inverse real transforms along the rows.
class Rows {
 public:
  Rows(Context& context, const RealFftSpec& spec)
      : axis_(context, spec.shape.width),
        rows_(static_cast<cl_int>(spec.shape.height * spec.shape.depth / images_of(spec))),
        grid_{{static_cast<std::size_t>(divide_up(rows_, 2 * lanes)),
               static_cast<std::size_t>(images_of(spec))},
              {1, 1}} {
    if (spec.has_forward()) forward_ = kernel(context, "rows_forward");
    if (spec.has_inverse()) inverse_ = kernel(context, "rows_inverse");
  }

  void forward(cl_command_queue queue, cl_mem real, cl_mem spectrum) {
    launch(*forward_, queue, real, spectrum);
  }
  void inverse(cl_command_queue queue, cl_mem spectrum, cl_mem real) {
    launch(*inverse_, queue, spectrum, real);
  }

 private:
  /// The number of independent arrays: the planes are images, or belong to one volume.
  static std::int64_t images_of(const RealFftSpec& spec) {
    return spec.dimensions == 2 ? spec.shape.depth : 1;
  }
  static std::unique_ptr<Kernel> kernel(Context& context, const char* name) {
    return std::make_unique<Kernel>(context, stage, kernels::fft_cpu, name);
  }
  void launch(Kernel& kernel, cl_command_queue queue, cl_mem from, cl_mem to) {
    kernel.launch(queue, grid_, from, to, axis_.scratch, axis_.roots, axis_.radices, axis_.passes,
                  axis_.n, rows_);
  }

  Axis axis_;
  cl_int rows_;  // of an image, or of the volume
  Grid grid_;
  std::unique_ptr<Kernel> forward_, inverse_;
};

/// The complex transforms along another axis of the half spectrum, in place.
class Lines {
 public:
  Lines(Context& context, std::int64_t n, std::int64_t inner, std::int64_t outer)
      : axis_(context, n),
        inner_(static_cast<cl_int>(inner)),
        grid_{{static_cast<std::size_t>(divide_up(inner, lanes)), static_cast<std::size_t>(outer)},
              {1, 1}},
        kernel_(context, stage, kernels::fft_cpu, "lines_in_place") {}

  void run(cl_command_queue queue, cl_mem spectrum, bool is_inverse) {
    kernel_.launch(queue, grid_, spectrum, axis_.scratch, axis_.roots, axis_.radices, axis_.passes,
                   axis_.n, inner_, cl_int{is_inverse});
  }

 private:
  Axis axis_;
  cl_int inner_;
  Grid grid_;
  Kernel kernel_;
};

class CpuPlan final : public FftPlan {
 public:
  CpuPlan(Context& context, const RealFftSpec& spec) : rows_(context, spec) {
    const Shape& shape = spec.shape;
    const std::int64_t columns = shape.width / 2 + 1;
    if (shape.height > 1) others_.emplace_back(context, shape.height, columns, shape.depth);
    if (spec.dimensions == 3 && shape.depth > 1) {
      others_.emplace_back(context, shape.depth, columns * shape.height, 1);
    }
  }

  void forward(cl_command_queue queue, cl_mem real, cl_mem spectrum) override {
    rows_.forward(queue, real, spectrum);
    for (Lines& lines : others_) lines.run(queue, spectrum, false);
  }
  void inverse(cl_command_queue queue, cl_mem spectrum, cl_mem real) override {
    for (Lines& lines : others_) lines.run(queue, spectrum, true);
    rows_.inverse(queue, spectrum, real);
  }

 private:
  Rows rows_;
  std::vector<Lines> others_;
};

class CpuFft final : public FftProvider {
 public:
  explicit CpuFft(Context& context)
      : context_(context),
        scratch_limit_(device_value<cl_ulong>(context.id(), CL_DEVICE_LOCAL_MEM_SIZE)) {}

  [[nodiscard]] const char* name() const noexcept override { return "simd"; }
  [[nodiscard]] std::string version() const override { return warpalign::version(); }
  [[nodiscard]] std::string_view own_kernels() const override { return kernels::fft_cpu; }

  [[nodiscard]] bool takes(const RealFftSpec& spec) const override {
    const Shape& shape = spec.shape;
    return takes(shape.width) && takes(shape.height) &&
           (spec.dimensions == 2 || takes(shape.depth)) && shape.plane() < (1 << 30) &&
           shape.height * shape.depth < (1 << 30);
  }
  [[nodiscard]] bool registers_programs(const RealFftSpec& /*spec*/) const override { return true; }

  [[nodiscard]] std::unique_ptr<FftPlan> plan(const RealFftSpec& spec) override {
    return std::make_unique<CpuPlan>(context_, spec);
  }

 private:
  [[nodiscard]] bool takes(std::int64_t n) const {
    return n == 1 || (scratch_bytes(n) <= scratch_limit_ && !radices_of(n).empty());
  }

  Context& context_;
  std::size_t scratch_limit_;
};

}  // namespace

std::unique_ptr<FftProvider> make_cpu_fft(Context& context) {
  return std::make_unique<CpuFft>(context);
}

}  // namespace warpalign::opencl

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

/// The kinds of lines, with the numbers of kernels_cl/fft/cpu/fft_cpu.cl.
enum class Kind : cl_int { rows_forward, rows_inverse, lines_forward, lines_inverse };

/// The transforms along one axis. Rows are transformed between real numbers and the half spectrum,
/// the lines along other axes in place.
class Lines {
 public:
  /// The rows of images, or of one volume.
  static Lines rows(Context& context, const RealFftSpec& spec) {
    const std::int64_t images = spec.dimensions == 2 ? spec.shape.depth : 1;
    const std::int64_t count = spec.shape.height * spec.shape.depth / images;
    return {context, spec.shape.width, count, divide_up(count, 2 * lanes), images};
  }

  /// Lines of the half spectrum, whose numbers are `inner` apart.
  static Lines across(Context& context, std::int64_t n, std::int64_t inner, std::int64_t outer) {
    return {context, n, inner, divide_up(inner, lanes), outer};
  }

  void run(cl_command_queue queue, cl_mem real, cl_mem spectrum, Kind kind) {
    kernel_.launch(queue, grid_, real, spectrum, axis_.scratch, axis_.roots, axis_.radices,
                   axis_.passes, axis_.n, count_, static_cast<cl_int>(kind));
  }

 private:
  Lines(Context& context, std::int64_t n, std::int64_t count, std::int64_t items,
        std::int64_t outer)
      : axis_(context, n),
        count_(static_cast<cl_int>(count)),
        grid_{{static_cast<std::size_t>(items), static_cast<std::size_t>(outer)}, {1, 1}},
        kernel_(context, stage, kernels::fft_cpu, "transform_lines") {}

  Axis axis_;
  cl_int count_;  // rows of an image or of the volume, or neighbouring lines
  Grid grid_;
  Kernel kernel_;
};

class CpuPlan final : public FftPlan {
 public:
  CpuPlan(Context& context, const RealFftSpec& spec) : rows_(Lines::rows(context, spec)) {
    const Shape& shape = spec.shape;
    const std::int64_t columns = shape.width / 2 + 1;
    if (shape.height > 1) {
      others_.push_back(Lines::across(context, shape.height, columns, shape.depth));
    }
    if (spec.dimensions == 3 && shape.depth > 1) {
      others_.push_back(Lines::across(context, shape.depth, columns * shape.height, 1));
    }
  }

  void forward(cl_command_queue queue, cl_mem real, cl_mem spectrum) override {
    rows_.run(queue, real, spectrum, Kind::rows_forward);
    for (Lines& lines : others_) lines.run(queue, real, spectrum, Kind::lines_forward);
  }
  void inverse(cl_command_queue queue, cl_mem spectrum, cl_mem real) override {
    for (Lines& lines : others_) lines.run(queue, real, spectrum, Kind::lines_inverse);
    rows_.run(queue, real, spectrum, Kind::rows_inverse);
  }

 private:
  Lines rows_;
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

// Compares a plan's spectra of a few impulses with their closed form, and the inverse transforms
// with the impulses.
//
// The reason: some compilers miscompile FFT kernels (pocl#2069), and a wrong plan must not be used.
#include "fft/fft_check.hpp"

#include "device/memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <vector>

namespace warpalign::opencl {

namespace {

using Complex = std::complex<double>;

constexpr const char* stage = "fft check";
constexpr double tolerance = 1e-4;       // relative to the impulses' total; correct plans: ~ 1e-6
constexpr std::int64_t max_rows = 1024;  // compared in each image, or in a volume

/// Guard bytes behind each buffer: a plan with wrong strides writes beyond its output, which
/// changes them.
constexpr std::size_t guard_bytes = 65536;
constexpr cl_float guard_value = -777;

struct Impulse {
  std::int64_t x, y, z;
  double weight;
};

/// Three impulses in a volume, or three in each image, at positions that differ from image to
/// image. In tiny images they may coincide.
std::array<Impulse, 3> impulses(const RealFftSpec& spec, std::int64_t slice) {
  const std::int64_t w = spec.shape.width;
  const std::int64_t h = spec.shape.height;
  const std::int64_t d = spec.shape.depth;
  const bool volume = spec.dimensions == 3;
  const std::int64_t turn = volume ? 0 : slice;
  return {Impulse{(w / 3 + turn) % w, (h / 2 + turn) % h, volume ? d / 3 : slice, 1.0},
          Impulse{(w - 1) % w, (1 + turn) % h, volume ? d - 1 : slice, -0.5},
          Impulse{1 % w, (2 * h) / 3 % h, volume ? 1 : slice, 0.75}};
}
constexpr double total_weight = 2.25;

std::vector<Complex> phases(std::int64_t position, std::int64_t n, std::int64_t count) {
  std::vector<Complex> table(static_cast<std::size_t>(count));
  for (std::int64_t u = 0; u < count; ++u) {
    const double turns = static_cast<double>(u * position % n) / static_cast<double>(n);
    table[static_cast<std::size_t>(u)] = std::polar(1.0, -2 * std::numbers::pi * turns);
  }
  return table;
}

/// Compares rows 0, step, 2 step, ... of an image or a volume. The step is odd, so that the rows
/// cover every lane of a vector. In a volume it shares no factor with the height, so that they
/// cover every row position.
std::int64_t row_step(const RealFftSpec& spec) {
  const Shape& shape = spec.shape;
  if (spec.dimensions == 2) return ((shape.height + max_rows - 1) / max_rows) | 1;
  std::int64_t step = (shape.height * shape.depth + max_rows - 1) / max_rows;
  while (std::gcd(step, shape.height) != 1) ++step;
  return step;
}

struct Bench {
  const Context& context;
  RealFftSpec spec;
  Shape shape;
  Handle<cl_command_queue> queue;
  Handle<cl_mem> real, spectrum;

  [[nodiscard]] std::size_t columns() const {
    return static_cast<std::size_t>(shape.width / 2 + 1);
  }
  [[nodiscard]] std::size_t real_bytes() const {
    return static_cast<std::size_t>(shape.pixels()) * sizeof(cl_float);
  }
  [[nodiscard]] std::size_t spectrum_bytes() const {
    return row(shape.depth, 0) * columns() * sizeof(cl_float2);
  }
  [[nodiscard]] std::size_t row(std::int64_t slice, std::int64_t y) const {
    return static_cast<std::size_t>(slice * shape.height + y);
  }
  [[nodiscard]] bool compares(std::int64_t slice, std::int64_t y) const {
    return (spec.dimensions == 3 ? slice * shape.height + y : y) % row_step(spec) == 0;
  }
  void read(const Handle<cl_mem>& from, std::size_t offset, std::size_t bytes, void* to) const {
    check(clEnqueueReadBuffer(queue.get(), from.get(), CL_TRUE, offset, bytes, to, 0, nullptr,
                              nullptr),
          "clEnqueueReadBuffer", context.call_site(stage));
  }
  void fill(const Handle<cl_mem>& target, cl_float value, std::size_t offset,
            std::size_t bytes) const {
    check(clEnqueueFillBuffer(queue.get(), target.get(), &value, sizeof value, offset, bytes, 0,
                              nullptr, nullptr),
          "clEnqueueFillBuffer", context.call_site(stage));
  }
};

Bench make_bench(const Context& context, const RealFftSpec& spec) {
  Bench bench{context, spec, spec.shape, context.service_queue(), {}, {}};
  bench.real = make_buffer(context, bench.real_bytes() + guard_bytes, stage);
  bench.spectrum = make_buffer(context, bench.spectrum_bytes() + guard_bytes, stage);
  bench.fill(bench.real, guard_value, bench.real_bytes(), guard_bytes);
  bench.fill(bench.spectrum, guard_value, bench.spectrum_bytes(), guard_bytes);
  return bench;
}

bool guard_intact(const Bench& bench, const Handle<cl_mem>& buffer, std::size_t offset) {
  std::vector<cl_float> guard(guard_bytes / sizeof(cl_float));
  bench.read(buffer, offset, guard_bytes, guard.data());
  return std::all_of(guard.begin(), guard.end(),
                     [](cl_float value) { return value == guard_value; });
}

void write_impulses(const Bench& bench) {
  const CallSite site = bench.context.call_site(stage);
  bench.fill(bench.real, 0, 0, bench.real_bytes());
  for (std::int64_t slice = 0; slice < bench.shape.depth; ++slice) {
    for (const Impulse& one : impulses(bench.spec, slice)) {
      if (one.z != slice) continue;
      const std::size_t at = bench.row(slice, one.y) * static_cast<std::size_t>(bench.shape.width) +
                             static_cast<std::size_t>(one.x);
      cl_float value = 0;
      bench.read(bench.real, at * sizeof value, sizeof value, &value);
      value += static_cast<cl_float>(one.weight);
      check(clEnqueueWriteBuffer(bench.queue.get(), bench.real.get(), CL_TRUE, at * sizeof value,
                                 sizeof value, &value, 0, nullptr, nullptr),
            "clEnqueueWriteBuffer", site);
    }
  }
}

/// The spectrum of one slice's impulses in closed form.
class ClosedForm {
 public:
  ClosedForm(const Bench& bench, std::int64_t slice)
      : columns_(bench.columns()), spots_(impulses(bench.spec, slice)) {
    for (std::size_t i = 0; i < spots_.size(); ++i) {
      along_x_[i] = phases(spots_[i].x, bench.shape.width, bench.shape.width / 2 + 1);
      along_y_[i] = phases(spots_[i].y, bench.shape.height, bench.shape.height);
      if (bench.spec.dimensions == 3) {
        of_slice_[i] = phases(slice * spots_[i].z, bench.shape.depth, 2)[1];
      }
    }
  }

  [[nodiscard]] std::vector<Complex> row(std::int64_t v) const {
    std::vector<Complex> values(columns_);
    for (std::size_t i = 0; i < spots_.size(); ++i) {
      const Complex of_row =
          spots_[i].weight * of_slice_[i] * along_y_[i][static_cast<std::size_t>(v)];
      for (std::size_t u = 0; u < columns_; ++u) values[u] += of_row * along_x_[i][u];
    }
    return values;
  }

 private:
  std::size_t columns_;
  std::array<Impulse, 3> spots_;
  std::array<std::vector<Complex>, 3> along_x_, along_y_;
  std::array<Complex, 3> of_slice_{1, 1, 1};
};

/// The largest deviation of one slice's spectrum from its closed form.
double spectrum_error(const Bench& bench, std::int64_t slice) {
  const ClosedForm form(bench, slice);
  std::vector<std::complex<float>> got(bench.columns());
  double worst = 0;
  for (std::int64_t v = 0; v < bench.shape.height; ++v) {
    if (!bench.compares(slice, v)) continue;
    const std::size_t bytes = got.size() * sizeof got[0];
    bench.read(bench.spectrum, bench.row(slice, v) * bytes, bytes, got.data());
    const std::vector<Complex> expected = form.row(v);
    for (std::size_t u = 0; u < got.size(); ++u) {
      const double error = std::abs(Complex(got[u]) - expected[u]);
      if (std::isnan(error)) return error;
      worst = std::max(worst, error);
    }
  }
  return worst;
}

/// Writes the closed-form spectrum of the impulses, as input for plans without a forward transform.
void write_spectrum(const Bench& bench) {
  std::vector<std::complex<float>> values(bench.columns());
  const std::size_t bytes = values.size() * sizeof values[0];
  for (std::int64_t slice = 0; slice < bench.shape.depth; ++slice) {
    const ClosedForm form(bench, slice);
    for (std::int64_t v = 0; v < bench.shape.height; ++v) {
      const std::vector<Complex> row = form.row(v);
      std::transform(row.begin(), row.end(), values.begin(),
                     [](const Complex& value) { return std::complex<float>(value); });
      check(clEnqueueWriteBuffer(bench.queue.get(), bench.spectrum.get(), CL_TRUE,
                                 bench.row(slice, v) * bytes, bytes, values.data(), 0, nullptr,
                                 nullptr),
            "clEnqueueWriteBuffer", bench.context.call_site(stage));
    }
  }
}

/// The largest deviation of one slice after the inverse transform, over the pixels of the image or
/// volume.
double image_error(const Bench& bench, std::int64_t slice) {
  const auto spots = impulses(bench.spec, slice);
  const double scale = 1 / static_cast<double>(bench.spec.dimensions == 3 ? bench.shape.pixels()
                                                                          : bench.shape.plane());
  std::vector<float> got(static_cast<std::size_t>(bench.shape.width));
  double worst = 0;
  for (std::int64_t y = 0; y < bench.shape.height; ++y) {
    const auto here = [slice, y](const Impulse& i) { return i.z == slice && i.y == y; };
    if (!bench.compares(slice, y) && std::none_of(spots.begin(), spots.end(), here)) continue;
    const std::size_t bytes = got.size() * sizeof got[0];
    bench.read(bench.real, bench.row(slice, y) * bytes, bytes, got.data());
    std::vector<double> expected(got.size());
    for (const Impulse& one : spots) {
      if (here(one)) expected[static_cast<std::size_t>(one.x)] += one.weight;
    }
    for (std::size_t x = 0; x < got.size(); ++x) {
      const double error = std::abs(scale * static_cast<double>(got[x]) - expected[x]);
      if (std::isnan(error)) return error;
      worst = std::max(worst, error);
    }
  }
  return worst;
}

std::string describe(const char* direction, double error) {
  return std::string(direction) + " transform of impulses is off by " + std::to_string(error) +
         " (tolerance " + std::to_string(tolerance * total_weight) + ")";
}

/// Evaluates `error_of` for every slice. Returns what is wrong; empty if nothing is. NaN counts as
/// wrong.
template <class ErrorOf>
std::string fault(const Bench& bench, const char* direction, ErrorOf error_of) {
  for (std::int64_t slice = 0; slice < bench.shape.depth; ++slice) {
    const double error = error_of(bench, slice);
    if (!(error <= tolerance * total_weight)) return describe(direction, error);
  }
  return {};
}

}  // namespace

std::string check_plan(const Context& context, FftPlan& plan, const RealFftSpec& spec) {
  const Bench bench = make_bench(context, spec);
  if (spec.has_forward()) {
    write_impulses(bench);
    plan.forward(bench.queue.get(), bench.real.get(), bench.spectrum.get());
    const std::string wrong = fault(bench, "the forward", spectrum_error);
    if (!wrong.empty()) return wrong;
  } else {
    write_spectrum(bench);
  }
  if (spec.has_inverse()) plan.inverse(bench.queue.get(), bench.spectrum.get(), bench.real.get());
  if (!guard_intact(bench, bench.real, bench.real_bytes()) ||
      !guard_intact(bench, bench.spectrum, bench.spectrum_bytes())) {
    return "it writes beyond its output";
  }
  return spec.has_inverse() ? fault(bench, "the inverse", image_error) : std::string();
}

}  // namespace warpalign::opencl

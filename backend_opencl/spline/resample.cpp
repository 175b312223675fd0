// Stage: prefilter and evaluation in one kernel. There is one on GPUs, for cubic splines in the
// plane, computed from and in single precision, the exact prefilter and affine transforms.
#include "device/build_options.hpp"
#include "device/device_list.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "spline/fixed_point.hpp"

#include "lib/launch.h"

#include <warpalign/backend/resample_tiles.hpp>
#include <warpalign/backend/stages/spline/resample.hpp>

#include <limits>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "resample";
constexpr int group_items = WA_RESAMPLE_GROUP;

static_assert(backend::resample_tile == WA_RESAMPLE_TILE);
static_assert(backend::resample_halo == WA_RESAMPLE_HALO);
static_assert(backend::resample_columns == WA_RESAMPLE_COLUMNS);
static_assert(backend::resample_first == WA_RESAMPLE_FIRST);
static_assert(backend::shear_group == WA_RESAMPLE_SHEAR_GROUP);

constexpr std::size_t local_bytes(int rows) {
  return sizeof(cl_float) * static_cast<std::size_t>(rows - 2 * backend::resample_halo) *
         backend::resample_columns;
}

/// Whether the device is a GPU with enough local memory.
bool serves(const Context& context) {
  return !context.is_cpu() &&
         device_value<cl_ulong>(context.id(), CL_DEVICE_LOCAL_MEM_SIZE) >=
             local_bytes(backend::many_rows) &&
         device_value<std::size_t>(context.id(), CL_DEVICE_MAX_WORK_GROUP_SIZE) >= group_items;
}

std::string options_for(const ResampleSpec& spec, const backend::PrefilterDetails& filter,
                        const backend::InterpolateDetails& details) {
  const auto pole = static_cast<float>(filter.poles.front());
  return float_option("POLE", pole) + float_option("START", 1 / (1 - static_cast<double>(pole))) +
         float_option("SCALE", backend::resample_scale(pole)) +
         extension_option(details.extension) + points_option(details.points) +
         output_option(spec.output_type);
}

class Resample final : public backend::Resample {
 public:
  Resample(Context& context, const ResampleSpec& spec, const backend::PrefilterDetails& filter,
           const backend::InterpolateDetails& details)
      : site_(context.call_site(stage)),
        spec_(spec),
        few_(make(context, options_for(spec, filter, details), backend::few_rows)),
        many_(make(context, options_for(spec, filter, details), backend::many_rows)) {
    for (const std::int64_t extent :
         {spec.image.width, spec.image.height, spec.output.width, spec.output.height}) {
      (void)to_int(extent, site_);
    }
  }

  bool enqueue(backend::Queue& queue, const backend::Memory& samples, const Transform& transform,
               backend::Memory& output) override {
    if (!transform.is_affine()) return false;
    const double* m = transform.m.data();
    const auto tiles = backend::resample_tiles(m, spec_.output);
    if (!tiles) return false;
    const auto [across, down] = backend::resample_grid(spec_.output, tiles->steep, tiles->shear);
    if (across * down > std::numeric_limits<cl_int>::max()) return false;
    constexpr std::size_t items = group_items;
    const Grid grid{{static_cast<std::size_t>(across * down) * items, 1}, {items, 1}};
    const FixedRow x = fixed_row(m), y = fixed_row(m + 4);
    const auto minimum = [&](std::size_t axis) { return to_fixed(tiles->minimum[axis]); };
    const auto number = [](std::int64_t n) { return static_cast<cl_int>(n); };
    Kernels& kernels = tiles->rows == backend::few_rows ? few_ : many_;
    Kernel& kernel = tiles->steep ? kernels.steep : kernels.flat;
    kernel.launch(queue_of(queue), grid, samples, number(spec_.image.width),
                  number(spec_.image.height), static_cast<cl_float>(spec_.cval), x.fine, x.steps,
                  minimum(0), y.fine, y.steps, minimum(1), number(tiles->columns),
                  number(tiles->shear), number(tiles->before[0]), number(tiles->before[1]),
                  number(across), output, number(spec_.output.width), number(spec_.output.height));
    return true;
  }

 private:
  struct Kernels {
    Kernel flat, steep;
  };

  static Kernels make(Context& context, const std::string& options, int rows) {
    const std::string all = options + int_option("ROWS", rows);
    return {Kernel(context, stage, kernels::resample, "resample", all),
            Kernel(context, stage, kernels::resample, "resample", all + " -D STEEP")};
  }

  CallSite site_;
  ResampleSpec spec_;
  Kernels few_, many_;
};

}  // namespace

template <>
std::unique_ptr<backend::Resample> make(Context& context, const backend::Resample::Setup& setup) {
  const auto& [spec, filter, details] = setup;
  using Rule = backend::InterpolateDetails::Points;
  if (spec.dimensions != 2 || spec.degree != 3 || spec.input != PixelType::f32 ||
      details.points == Rule::period_minus_one || !serves(context)) {
    return nullptr;
  }
  return std::make_unique<Resample>(context, spec, filter, details);
}

}  // namespace warpalign::opencl

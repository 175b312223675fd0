// Stage: prefilter and evaluation in one kernel. It exists on GPUs, for cubic splines in the plane,
// with single-precision input and arithmetic, the exact prefilter and affine transforms.
#include "device/build_options.hpp"
#include "device/device_list.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "spline/array_parameters.hpp"
#include "spline/fixed_point.hpp"

#include "lib/launch.h"

#include <warpalign/backend/resample_tiles.hpp>
#include <warpalign/backend/stages/spline/resample.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <vector>

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
         output_option(spec.output_type) + batch_option(spec.images.count);
}

/// An entry of resample.cl's table: a transform and its tiles.
struct TilesOfArray {
  FixedRow x, y;
  cl_long min_x, min_y;
  cl_int columns, shear, before_x, before_y, across, down, array;
};

class Resample final : public backend::Resample {
 public:
  Resample(Context& context, const ResampleSpec& spec, const backend::PrefilterDetails& filter,
           const backend::InterpolateDetails& details)
      : site_(context.call_site(stage)),
        spec_(spec),
        tiles_(static_cast<std::size_t>(spec.images.count)),
        order_(tiles_.size()),
        few_(make(context, options_for(spec, filter, details), backend::few_rows)),
        many_(make(context, options_for(spec, filter, details), backend::many_rows)) {
    for (const std::int64_t n : {spec.images.shape.width, spec.images.shape.height,
                                 spec.output.width, spec.output.height}) {
      static_cast<void>(extent(n, site_));
    }
    if (spec.images.count > 1) table_.emplace(context, spec.images.count, stage);
  }

  bool enqueue(backend::Queue& queue, const backend::Memory& samples,
               std::span<const HomogeneousMatrix> transforms, backend::Memory& output) override {
    std::array<Share, 4> shares{};
    if (!choose_tiles(transforms) || !share_out(transforms.size(), shares)) return false;
    const cl_command_queue commands = queue_of(queue);
    const auto entry_at = [&](std::size_t i) { return entry_of(transforms[order_[i]], order_[i]); };
    ArrayParameters<TilesOfArray>::Table table{};
    if (table_) table = table_->enqueue(commands, transforms.size(), entry_at);
    for (const Share& share : shares) {
      if (share.entries == 0) continue;
      const TilesOfArray first = entry_at(share.first);
      const auto run = [&](const auto&... last) {
        launch(share, commands, samples, first, output, last...);
      };
      if (table_) {
        run(table.entries, table.each, static_cast<cl_int>(share.groups),
            static_cast<cl_int>(share.first));
      } else {
        run();
      }
    }
    return true;
  }

 private:
  struct Kernels {
    Kernel flat, steep;
  };

  /// A range of table entries that one kernel launch processes.
  struct Share {
    std::size_t first = 0, entries = 0;
    std::int64_t groups = 0;  ///< for the array that needs the most
    std::int64_t arrays = 0;
  };

  static std::size_t kind_of(const backend::ResampleTiles& tiles) {
    return (tiles.rows == backend::few_rows ? 0U : 2U) + (tiles.steep ? 1U : 0U);
  }

  [[nodiscard]] std::array<std::int64_t, 2> grid_of(const backend::ResampleTiles& tiles) const {
    return backend::resample_grid(spec_.output, tiles.steep, tiles.shear);
  }

  /// Returns false if a transform has no tiles.
  bool choose_tiles(std::span<const HomogeneousMatrix> transforms) {
    for (std::size_t i = 0; i < transforms.size(); ++i) {
      if (!transforms[i].is_affine()) return false;
      const auto tiles = backend::resample_tiles(transforms[i].m.data(), spec_.output);
      if (!tiles) return false;
      tiles_[i] = *tiles;
    }
    return true;
  }

  /// Groups the transforms by the kernel that they need. Returns false if there are too many tiles
  /// for one launch.
  bool share_out(std::size_t transforms, std::array<Share, 4>& shares) {
    for (std::size_t i = 0; i < transforms; ++i) {
      Share& share = shares[kind_of(tiles_[i])];
      const auto [across, down] = grid_of(tiles_[i]);
      share.groups = std::max(share.groups, across * down);
      ++share.entries;
    }
    std::size_t first = 0;
    for (Share& share : shares) {
      share.first = first;
      first += share.entries;
      share.arrays = transforms > 1 ? static_cast<std::int64_t>(share.entries) : spec_.images.count;
      if (share.groups * share.arrays > std::numeric_limits<cl_int>::max()) return false;
    }
    std::array<std::size_t, 4> next{};
    for (std::size_t i = 0; i < transforms; ++i) {
      const std::size_t kind = kind_of(tiles_[i]);
      order_[shares[kind].first + next[kind]++] = i;
    }
    return true;
  }

  [[nodiscard]] TilesOfArray entry_of(const HomogeneousMatrix& transform, std::size_t array) const {
    const backend::ResampleTiles& tiles = tiles_[array];
    const auto [across, down] = grid_of(tiles);
    const double* m = transform.m.data();
    const auto number = [](std::int64_t n) { return static_cast<cl_int>(n); };
    return {fixed_row(m),
            fixed_row(m + 4),
            to_fixed(tiles.minimum[0]),
            to_fixed(tiles.minimum[1]),
            number(tiles.columns),
            number(tiles.shear),
            number(tiles.before[0]),
            number(tiles.before[1]),
            number(across),
            number(down),
            number(static_cast<std::int64_t>(array))};
  }

  /// Launches the kernel for a share. `first` is its first entry; `last` are the additional
  /// arguments of kernels for batches.
  template <class... Last>
  void launch(const Share& share, cl_command_queue queue, const backend::Memory& samples,
              const TilesOfArray& first, const backend::Memory& output, const Last&... last) {
    constexpr std::size_t items = group_items;
    const Grid grid{{static_cast<std::size_t>(share.groups * share.arrays) * items, 1}, {items, 1}};
    const auto number = [](std::int64_t n) { return static_cast<cl_int>(n); };
    const backend::ResampleTiles& tiles = tiles_[order_[share.first]];
    Kernels& kernels = tiles.rows == backend::few_rows ? few_ : many_;
    Kernel& kernel = tiles.steep ? kernels.steep : kernels.flat;
    kernel.launch(queue, grid, samples, number(spec_.images.shape.width),
                  number(spec_.images.shape.height), static_cast<cl_float>(spec_.spline.cval),
                  first.x.fine, first.x.steps, first.min_x, first.y.fine, first.y.steps,
                  first.min_y, first.columns, first.shear, first.before_x, first.before_y,
                  first.across, output, number(spec_.output.width), number(spec_.output.height),
                  last...);
  }

  static Kernels make(Context& context, const std::string& options, int rows) {
    const std::string all = options + int_option("ROWS", rows);
    return {Kernel(context, stage, kernels::resample, "resample", all),
            Kernel(context, stage, kernels::resample, "resample", all + " -D STEEP")};
  }

  CallSite site_;
  ResampleSpec spec_;
  std::vector<backend::ResampleTiles> tiles_;  // one for each transform of the last execution
  std::vector<std::size_t> order_;             // indices of the transforms, ordered by kernel
  std::optional<ArrayParameters<TilesOfArray>> table_;
  Kernels few_, many_;
};

}  // namespace

template <>
std::unique_ptr<backend::Resample> make(Context& context, const backend::Resample::Setup& setup) {
  const auto& [spec, filter, details] = setup;
  using Rule = backend::InterpolateDetails::Points;
  if (spec.images.dimensions != 2 || spec.spline.degree != 3 || spec.input != PixelType::f32 ||
      details.points == Rule::period_minus_one || !serves(context)) {
    return nullptr;
  }
  return std::make_unique<Resample>(context, spec, filter, details);
}

}  // namespace warpalign::opencl

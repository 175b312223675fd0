// The prefilter on GPUs, and on CPUs without vectors. One kernel filters x and y, another filters a
// third axis; complex images are filtered axis by axis.
#include "device/build_options.hpp"
#include "device/device_list.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "spline/prefilter_passes.hpp"

#include "lib/launch.h"

#include <warpalign/backend/column_blocks.hpp>
#include <warpalign/backend/prefilter_recursion.hpp>
#include <warpalign/backend/stages/spline/prefilter.hpp>
#include <warpalign/backend/truncated_taps.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "prefilter";
constexpr int group_items = WA_STREAMING_GROUP;
constexpr int group_rows = WA_STREAMING_GROUP / WA_STREAMING_ROW_LANES;
constexpr int row_pixels = WA_STREAMING_ROW_LANES * WA_STREAMING_LANE_PIXELS;
constexpr int max_column_block = 8;  // in chunks
constexpr int max_segment = 64;

/// A filter in the form that lib/prefilter_streaming.h takes.
struct Filter {
  cl_float8 taps{};
  std::string options;
  double axis_gain = 1;  // of a convolution; PassMaker has the gain of recursions
  int chunk = 1;
  /// the number of columns beyond each end of a group's row
  int side = 0;
  int plane_groups = 8, axis_groups = 6;  ///< that a compute unit runs at once, about
  [[nodiscard]] int useful() const { return row_pixels - 2 * side; }
};

std::string pole_options(const std::vector<double>& poles, std::size_t i) {
  const double z = backend::kernel_pole(poles[i]);
  const std::string number = std::to_string(i);
  return float_option(("POLE_" + number).c_str(), z) +
         float_option(("START_" + number).c_str(), 1 / (1 - z));
}

Filter recursion(const PassMaker& maker) {
  const std::vector<double>& poles = maker.details.poles;
  Filter filter;
  filter.chunk = filter.side = backend::streaming_halo(maker.spec.spline.degree);
  filter.options = pole_options(poles, 0);
  if (poles.size() > 1) filter.options += " -D TWO_POLES" + pole_options(poles, 1);
  filter.options += int_option("HALO", filter.chunk);
  if (filter.chunk > 12) {
    filter.plane_groups = filter.chunk <= 20 ? 5 : 4;
    filter.axis_groups = 4;
  }
  return filter;
}

Filter convolution(const PassMaker& maker) {
  const std::vector<double>& taps = maker.details.fir_taps;
  Filter filter;
  filter.chunk = filter.side = 8;
  filter.axis_groups = 8;
  filter.options = " -D CONVOLUTION";
  const std::size_t middle = taps.size() / 2;
  for (std::size_t k = 0; k <= middle; ++k) {
    filter.taps.s[k] = static_cast<cl_float>(taps[middle + k]);
  }
  return filter;
}

/// The convolution with 15 taps, each of which is the middle tap times a power of the pole.
Filter running_sums(const PassMaker& maker) {
  Filter filter = convolution(maker);
  filter.options += " -D RUNNING_SUMS";
  const auto pole = static_cast<float>(maker.details.poles.front());
  for (int k = 1; k <= 8; ++k) {
    filter.taps.s[k - 1] = static_cast<cl_float>(std::pow(static_cast<double>(pole), k));
  }
  filter.axis_gain = backend::truncated_gain(pole, max_streaming_taps);
  return filter;
}

Filter filter_of(const PassMaker& maker) {
  if (maker.spec.spline.prefilter != PrefilterMethod::fir) return recursion(maker);
  return maker.details.fir_taps.size() == max_streaming_taps ? running_sums(maker)
                                                             : convolution(maker);
}

/// Builds a chain of passes.
class StreamingPasses {
 public:
  StreamingPasses(const PassMaker& maker, Filter filter)
      : filter_(std::move(filter)),
        maker_(maker),
        site_(maker.context.call_site(stage)),
        shape_(maker.spec.images.shape) {}

  void add_planes() {
    const cl_int margin = maker_.details.margin;
    const cl_int width = extent(shape_.width, site_);
    const cl_int height = extent(shape_.height, site_);
    const cl_int across = divided(with_margins(shape_.width), filter_.useful());
    const std::int64_t planes = shape_.depth * maker_.spec.images.count;
    const cl_int column_block = chunks(with_margins(shape_.height), across * planes,
                                       filter_.plane_groups, 2, max_column_block) *
                                filter_.chunk;
    const cl_int column_blocks = divided(with_margins(shape_.height), column_block);
    Kernel kernel(
        maker_.context, stage, kernels::prefilter_planes, "prefilter_planes",
        options(filter_.chunk / group_rows) + int_option("MAX_COLUMN_BLOCK", max_column_block));
    const Grid grid = groups(std::int64_t{across} * column_blocks * planes);
    const Rest more = rest(2);
    passes_.push_back({[=](cl_command_queue queue, cl_mem source, cl_mem target) mutable {
                         kernel.launch(queue, grid, source, target, width, height, margin,
                                       column_block, across, column_blocks, more.words, more.cval,
                                       more.gain, more.taps);
                       },
                       maker_.with_margin(maker_.with_margin(shape_, 0), 1)});
    finish_pass();
  }

  void add_rows() {
    const AxisView view = maker_.view(shape_, 0);
    const cl_int n = extent(view.n, site_);
    const cl_int margin = maker_.details.margin;
    const cl_int across = divided(with_margins(view.n), filter_.useful());
    Kernel kernel(maker_.context, stage, kernels::prefilter_axes, "prefilter_rows",
                  options(maker_.components()));
    const Grid grid = groups(divided(view.outer * across, group_rows));
    const cl_long outer = view.outer;
    const Rest more = rest(1);
    passes_.push_back({[=](cl_command_queue queue, cl_mem source, cl_mem target) mutable {
                         kernel.launch(queue, grid, source, target, outer, n, margin, across,
                                       more.words, more.cval, more.gain, more.taps);
                       },
                       maker_.with_margin(shape_, 0)});
    finish_pass();
  }

  void add_columns(int axis) {
    const AxisView view = maker_.view(shape_, axis);
    const cl_int n = extent(view.n, site_);
    const cl_int margin = maker_.details.margin;
    const cl_int across = divided(view.inner, group_items);
    const cl_int segment =
        chunks(with_margins(view.n), across * view.outer, filter_.axis_groups, 1, max_segment) *
        filter_.chunk;
    const cl_int segments = divided(with_margins(view.n), segment);
    Kernel kernel(maker_.context, stage, kernels::prefilter_axes, "prefilter_axis",
                  options(maker_.components()));
    const Grid grid = groups(std::int64_t{across} * segments * view.outer);
    const cl_long inner = view.inner;
    const Rest more = rest(1);
    passes_.push_back({[=](cl_command_queue queue, cl_mem source, cl_mem target) mutable {
                         kernel.launch(queue, grid, source, target, n, inner, margin, segment,
                                       across, segments, more.cval, more.gain, more.taps);
                       },
                       maker_.with_margin(shape_, axis)});
    finish_pass();
  }

  [[nodiscard]] std::vector<Pass> take() { return std::move(passes_); }

 private:
  struct Rest {
    cl_int words;
    cl_float cval, gain;
    cl_float8 taps;
  };

  /// The arguments, apart from the sizes, of a pass after which `axes` axes are filtered.
  [[nodiscard]] Rest rest(int axes) const {
    const bool recursive = maker_.spec.spline.prefilter == PrefilterMethod::exact;
    return {
        shape_.width % 4 == 0 ? 1 : 0, static_cast<cl_float>(maker_.spec.spline.cval),
        static_cast<cl_float>(recursive ? maker_.gain_of(axes) : std::pow(filter_.axis_gain, axes)),
        filter_.taps};
  }

  void finish_pass() { shape_ = passes_.back().result; }

  [[nodiscard]] std::int64_t with_margins(std::int64_t n) const {
    return n + 2 * std::int64_t{maker_.details.margin};
  }

  [[nodiscard]] std::string options(int rows) const {
    return pixel_option(maker_.source_type(passes_.empty())) +
           extension_option(maker_.details.extension) + filter_.options +
           int_option("CHUNK", filter_.chunk) + int_option("SIDE", filter_.side) +
           int_option("ROWS", rows) + int_option("COMPONENTS", maker_.components());
  }

  [[nodiscard]] int chunks(std::int64_t length, std::int64_t parallel_blocks, int groups_per_unit,
                           int minimum, int maximum) const {
    const auto units = device_value<cl_uint>(maker_.context.id(), CL_DEVICE_MAX_COMPUTE_UNITS);
    return backend::chunks_per_column_block(
        {length, parallel_blocks, filter_.chunk,
         std::int64_t{groups_per_unit} * std::max<std::int64_t>(units, 1)},
        minimum, maximum);
  }

  [[nodiscard]] cl_int divided(std::int64_t n, int by) const {
    return extent((n + by - 1) / by, site_);
  }

  [[nodiscard]] Grid groups(std::int64_t count) const {
    constexpr std::size_t items = group_items;
    return {{static_cast<std::size_t>(extent(count, site_)) * items, 1}, {items, 1}};
  }

  Filter filter_;
  const PassMaker& maker_;
  CallSite site_;
  Shape shape_;  // after the passes so far
  std::vector<Pass> passes_;
};

}  // namespace

std::vector<Pass> streaming_passes(const PassMaker& maker) {
  StreamingPasses stream_columns(maker, filter_of(maker));
  const int dimensions = maker.spec.images.dimensions;
  if (dimensions >= 2 && maker.components() == 1) {
    stream_columns.add_planes();
  } else {
    stream_columns.add_rows();
    if (dimensions >= 2) stream_columns.add_columns(1);
  }
  if (dimensions == 3) stream_columns.add_columns(2);
  return stream_columns.take();
}

}  // namespace warpalign::opencl

// Stage: the common area of two images, in zero-padded frames, and the moments of its texture.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include "lib/launch.h"

#include <warpalign/backend/stages/filter/common_frames.hpp>

#include <algorithm>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "common_frames";
constexpr std::int64_t moment_count = 5;
// For the kernels for GPUs.
constexpr std::size_t columns = 32;
constexpr std::size_t max_rows = 8;
constexpr std::int64_t tile_rows = 16;
constexpr std::int64_t moment_rows = 64;
// Zeros at both ends of the column sums, and the last vector of a row, which may exceed it.
constexpr std::int64_t margins = 16 + 16 + 16;

class CommonFrames final : public backend::CommonFrames {
 public:
  CommonFrames(Context& context, const CommonFramesSpec& spec)
      : site_(context.call_site(stage)),
        simd_(context.has_vectors()),
        rows_(std::clamp<std::size_t>(reduction_group(context) / columns, 1, max_rows)),
        frame_(spec.frame),
        width_(extent(frame_.width, site_)),
        height_(extent(frame_.height, site_)),
        groups_(grid(frame_, tile_rows)),
        moments_(
            make_buffer(context,
                        static_cast<std::size_t>(moment_count * count(grid(frame_, moment_rows))) *
                            sizeof(cl_float),
                        stage)),
        sum_(kernel(context, "common_moments")),
        write_(kernel(context, "common_frames")) {}

  [[nodiscard]] std::size_t groups() const noexcept override {
    return static_cast<std::size_t>(count(groups_));
  }

  void enqueue(backend::Queue& queue, const backend::CommonFramesMemory& memory,
               const backend::CommonFramesTerms& terms, std::int64_t result,
               backend::Memory& partials) override {
    const cl_command_queue commands = queue_of(queue);
    const auto first = static_cast<cl_int>(result) * static_cast<cl_int>(backend::common_sum_count);
    scratch_guard_.enter(commands, stage);
    if (simd_) {
      enqueue_vectors(commands, memory, terms, first, partials);
    } else {
      enqueue_groups(commands, memory, terms, first, partials);
    }
  }

 private:
  /// The number of tiles along each axis.
  struct Tiles {
    std::int64_t columns, rows;
  };
  struct Source {
    cl_int pitch, first, size;
  };
  [[nodiscard]] Source source_of(const backend::CommonSource& source) const {
    return {extent(source.pitch, site_), extent(source.first, site_), extent(source.size, site_)};
  }
  static std::int64_t count(const Tiles& tiles) { return tiles.columns * tiles.rows; }
  [[nodiscard]] Tiles grid(const Shape& shape, std::int64_t rows) const {
    if (simd_) return {1, divide_up(shape.height, WA_COMMON_BAND)};
    return {divide_up(shape.width, columns), divide_up(shape.height, rows)};
  }
  [[nodiscard]] Grid launched(const Tiles& tiles) const {
    return {{static_cast<std::size_t>(tiles.columns) * columns,
             static_cast<std::size_t>(tiles.rows) * rows_},
            {columns, rows_}};
  }

  [[nodiscard]] Kernel kernel(Context& context, const char* name) const {
    if (simd_) return {context, stage, kernels::common_frames_cpu, name};
    return {context, stage, kernels::common_frames, name,
            int_option("ROWS", static_cast<int>(rows_)) +
                int_option("COLUMNS", static_cast<int>(columns)) +
                int_option("TILE_ROWS", tile_rows) + int_option("MOMENT_ROWS", moment_rows)};
  }

  void enqueue_groups(cl_command_queue commands, const backend::CommonFramesMemory& memory,
                      const backend::CommonFramesTerms& terms, cl_int first,
                      backend::Memory& partials) {
    const Source from_reference = source_of(terms.reference);
    const Source from_weight = source_of(terms.reference_weight);
    const cl_int pitch = source_of(terms.moving).pitch;
    const auto width = static_cast<cl_int>(terms.part.width);
    const auto height = static_cast<cl_int>(terms.part.height);
    const Tiles tiles = grid(terms.part, moment_rows);
    const auto tile_count = static_cast<cl_int>(count(tiles));
    sum_.launch(commands, launched(tiles), memory.reference, memory.reference_second, memory.moving,
                memory.moving_second, memory.reference_weight, memory.moving_weight,
                from_reference.pitch, from_reference.first, from_weight.pitch, from_weight.first,
                pitch, width, height, static_cast<cl_int>(tiles.columns), tile_count, moments_);
    write_.launch(
        commands, launched(groups_), memory.reference, memory.reference_second, memory.moving,
        memory.moving_second, memory.reference_weight, memory.moving_weight, from_reference.pitch,
        from_reference.first, from_weight.pitch, from_weight.first, pitch, width, height,
        static_cast<cl_int>(terms.channels), terms.cosine, terms.sine, moments_, tile_count, width_,
        height_, static_cast<cl_int>(terms.first_slice), memory.reference_frames,
        memory.moving_frames, static_cast<cl_int>(groups_.columns), static_cast<cl_int>(groups()),
        first, partials);
  }

  /// One work-item for each band of rows.
  void enqueue_vectors(cl_command_queue commands, const backend::CommonFramesMemory& memory,
                       const backend::CommonFramesTerms& terms, cl_int first,
                       backend::Memory& partials) {
    const Source from_reference = source_of(terms.reference);
    const Source from_weight = source_of(terms.reference_weight);
    const Source from_moving = source_of(terms.moving);
    const auto width = static_cast<cl_int>(terms.part.width);
    const auto height = static_cast<cl_int>(terms.part.height);
    const auto channels = static_cast<cl_int>(terms.channels);
    const auto tiles = static_cast<cl_int>(count(grid(terms.part, moment_rows)));
    const std::size_t reach = rounded_up(width_ + margins, 16);
    sum_.launch(commands, {{static_cast<std::size_t>(tiles), 1}, {1, 1}}, memory.reference,
                memory.reference_second, memory.moving, memory.moving_second,
                memory.reference_weight, memory.moving_weight, from_reference.pitch,
                from_reference.first, from_reference.size, from_weight.pitch, from_weight.first,
                from_weight.size, from_moving.pitch, from_moving.size, width, height, channels,
                tiles, moments_);
    write_.launch(commands, {{groups(), 1}, {1, 1}}, memory.reference, memory.reference_second,
                  memory.moving, memory.moving_second, memory.reference_weight,
                  memory.moving_weight, from_reference.pitch, from_reference.first,
                  from_reference.size, from_weight.pitch, from_weight.first, from_weight.size,
                  from_moving.pitch, from_moving.size, width, height, channels, terms.cosine,
                  terms.sine, moments_, tiles, width_, height_,
                  static_cast<cl_int>(terms.first_slice), memory.reference_frames,
                  memory.moving_frames, static_cast<cl_int>(groups()), first,
                  LocalMemory{2 * reach * sizeof(cl_float)}, static_cast<cl_int>(reach), partials);
  }

  CallSite site_;
  bool simd_;
  std::size_t rows_;
  Shape frame_;
  cl_int width_, height_;
  Tiles groups_;
  Handle<cl_mem> moments_;
  Kernel sum_, write_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::CommonFrames> make(Context& context, const CommonFramesSpec& spec) {
  return std::make_unique<CommonFrames>(context, spec);
}

}  // namespace warpalign::opencl

// Stage: the sums of a Gauss-Newton step of registration by a similarity or a homography.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "refinement/cpu/sample_location_simd.hpp"
#include "refinement/two_float_matrix.hpp"

#include <warpalign/backend/stages/refinement/illumination.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "similarity_sums";
constexpr std::size_t max_group = 128;  // because each work-item holds all the sums in registers
constexpr std::int64_t max_groups = 1024;
// For fits on the device, where one work-item adds each total over the groups.
constexpr std::int64_t max_resident_groups = 128;

// On CPUs a group has one work-item and needs no barriers, which PoCL 5 gets wrong if a kernel
// keeps this many private sums.
std::size_t group_for(const Context& context) {
  return context.is_cpu() ? 1 : std::min(reduction_group(context), max_group);
}

// The extent of an axis without the margins at its ends.
cl_int without_margins(std::int64_t size, std::int64_t margin, const CallSite& site) {
  return extent(std::max<std::int64_t>(size - 2 * margin, 0), site);
}

/// As Work in the kernel: two images, and the states at which to compare them.
struct Work {
  cl_int reference_width, first_column, columns, first_row, rows;
  cl_int width, height, margin;
  cl_int first_state, states, groups, first;
};
/// As Works in the kernel.
constexpr std::size_t max_works_at_once = 4;
using Works = std::array<Work, max_works_at_once>;

class SimilaritySums final : public backend::SimilaritySums {
 public:
  SimilaritySums(Context& context, const SimilaritySumsSpec& spec)
      : spec_(spec),
        reference_width_(extent(spec.reference.width, context.call_site(stage))),
        columns_(
            without_margins(spec.reference.width, spec.reference_margin, context.call_site(stage))),
        rows_(without_margins(spec.reference.height, spec.reference_margin,
                              context.call_site(stage))),
        width_(extent(spec.moving.width, context.call_site(stage))),
        height_(extent(spec.moving.height, context.call_site(stage))),
        simd_(context.has_vectors() && !spec.resident),
        tile_rows_(tile_rows_for(rows_)),
        group_(simd_ ? 1 : group_for(context)),
        groups_(static_cast<std::size_t>(std::clamp<std::int64_t>(
            shares(), 1, spec.resident ? max_resident_groups : max_groups))),
        kernel_(context, stage, simd_ ? kernels::similarity_sums_cpu : kernels::similarity_sums,
                "similarity_sums", options()) {
    if (spec.illumination_cell == 0) return;
    const Shape field = IlluminationPlan::field_shape(spec.reference, spec.illumination_cell);
    field_width_ = extent(field.width, context.call_site(stage));
    field_height_ = extent(field.height, context.call_site(stage));
  }

  [[nodiscard]] std::size_t groups() const noexcept override { return groups_; }

  void enqueue(backend::Queue& queue, const backend::SimilarityMemory& images,
               std::span<const SimilarityState> states, backend::Memory& partials,
               std::size_t first) override {
    const std::size_t length = groups_ * static_cast<std::size_t>(backend::sum_count(spec_));
    for (std::size_t i = 0; i < states.size(); ++i) {
      enqueue_state(queue, images, states[i], partials, first + i * length);
    }
  }

  void enqueue_resident(backend::Queue& queue, std::span<const backend::ResidentSums> sums,
                        const backend::Memory& states, backend::Memory& partials) override {
    while (!sums.empty()) {
      SimilaritySums& own = stage_of(sums.front());
      const auto other = std::find_if(sums.begin(), sums.end(), [&](const auto& one) {
        return stage_of(one).spec_.masked != own.spec_.masked;
      });
      const auto alike = static_cast<std::size_t>(other - sums.begin());
      const std::size_t count = std::min(alike, max_works_at_once);
      own.launch_works(queue, sums.first(count), states, partials);
      sums = sums.subspan(count);
    }
  }

 private:
  static SimilaritySums& stage_of(const backend::ResidentSums& sums) {
    return static_cast<SimilaritySums&>(*sums.stage);
  }

  static Work work_of(const backend::ResidentSums& sums) {
    const SimilaritySums& own = stage_of(sums);
    const cl_int margin = own.spec_.reference_margin;
    return {.reference_width = own.reference_width_,
            .first_column = margin,
            .columns = own.columns_,
            .first_row = margin,
            .rows = own.rows_,
            .width = own.width_,
            .height = own.height_,
            .margin = cl_int{own.spec_.moving_margin},
            .first_state = static_cast<cl_int>(sums.first_state),
            .states = static_cast<cl_int>(sums.count),
            .groups = static_cast<cl_int>(own.groups_),
            .first = static_cast<cl_int>(sums.first)};
  }

  // At most max_works_at_once sums, all with masks or all without.
  void launch_works(backend::Queue& queue, std::span<const backend::ResidentSums> sums,
                    const backend::Memory& states, backend::Memory& partials) {
    Works works{};
    std::array<cl_mem, 4 * max_works_at_once> images{};
    std::size_t image_count = 0;
    std::size_t groups = 1;
    std::size_t state_count = 0;
    for (std::size_t i = 0; i < max_works_at_once; ++i) {
      // The kernel does not read the images of works that do not exist.
      const backend::ResidentSums& one = sums[i < sums.size() ? i : 0];
      images[image_count++] = buffer_of(one.images.reference);
      images[image_count++] = buffer_of(one.images.coefficients);
      if (spec_.masked) {
        images[image_count++] = buffer_of(*one.images.reference_weight);
        images[image_count++] = buffer_of(*one.images.moving_weight);
      }
      if (i >= sums.size()) continue;
      works[i] = work_of(one);
      groups = std::max(groups, stage_of(one).groups_);
      state_count += one.count;
    }
    kernel_.launch(queue_of(queue), {{groups * group_, state_count}, {group_, 1}}, works, states,
                   partials, std::span<const cl_mem>(images.data(), image_count));
  }

  void enqueue_state(backend::Queue& queue, const backend::SimilarityMemory& images,
                     const SimilarityState& state, backend::Memory& partials, std::size_t first) {
    const TwoFloatMatrix m(state.matrix);
    const cl_float4 illumination{{static_cast<cl_float>(state.gain),
                                  static_cast<cl_float>(state.offset),
                                  static_cast<cl_float>(state.scale > 0 ? 1 / state.scale : 0),
                                  static_cast<cl_float>(spec_.projective ? 1 / state.unit : 1)}};
    const Point about = spec_.projective ? state.centre : centre_of(spec_.moving);
    const cl_float2 centre{{static_cast<cl_float>(about.x), static_cast<cl_float>(about.y)}};
    const cl_int margin = spec_.reference_margin;
    const auto launch = [&](const auto&... optional) {
      kernel_.launch(queue_of(queue), {{groups_ * group_, 1}, {group_, 1}}, images.reference,
                     reference_width_, margin, columns_, margin, rows_, images.coefficients, width_,
                     height_, cl_int{spec_.moving_margin}, m.x_row.nearest, m.x_row.rest,
                     m.y_row.nearest, m.y_row.rest, centre, illumination, optional..., partials,
                     static_cast<cl_int>(first));
    };
    const auto launch_illuminated = [&](const auto&... before) {
      if (spec_.illumination_cell != 0) {
        launch(before..., *images.illumination, field_width_, field_height_,
               1.0F / static_cast<cl_float>(spec_.illumination_cell));
      } else if (simd_) {
        launch(before..., Handle<cl_mem>(), cl_int{0}, cl_int{0}, cl_float{0});
      } else {
        launch(before...);
      }
    };
    const auto launch_masked = [&](const auto&... before) {
      if (!spec_.masked) return launch_illuminated(before...);
      launch_illuminated(before..., *images.reference_weight, *images.moving_weight);
    };
    const auto launch_tiled = [&](const auto&... before) {
      if (simd_) return launch_masked(before..., tile_rows_);
      launch_masked(before...);
    };
    if (!spec_.projective) return launch_tiled();
    launch_tiled(m.w_row.nearest, m.w_row.rest);
  }

  // The number of tiles, or rows, that the work-groups divide among themselves.
  [[nodiscard]] std::int64_t shares() const {
    if (!simd_) return rows_;
    return divide_up(columns_, row_segment) * divide_up(rows_, tile_rows_);
  }

  [[nodiscard]] std::string options() const {
    std::string text = simd_ ? "" : "-D GROUP=" + std::to_string(group_);
    if (spec_.masked) text += " -D MASKED";
    if (spec_.illumination_cell != 0 && !simd_) text += " -D ILLUMINATED";
    if (spec_.projective) text += " -D PROJECTIVE";
    if (spec_.resident) text += " -D RESIDENT";
    return text;
  }

  SimilaritySumsSpec spec_;
  cl_int reference_width_, columns_, rows_, width_, height_;
  cl_int field_width_ = 0, field_height_ = 0;
  bool simd_;
  cl_int tile_rows_;
  std::size_t group_, groups_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::SimilaritySums> make(Context& context, const SimilaritySumsSpec& spec) {
  return std::make_unique<SimilaritySums>(context, spec);
}

}  // namespace warpalign::opencl

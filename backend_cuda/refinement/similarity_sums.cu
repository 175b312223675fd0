// Stage: the sums of one Gauss-Newton step of registration by a similarity or a homography.
#include "device/block_sums.cuh"
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/parameter_list.hpp"
#include "device/stage.hpp"
#include "refinement/similarity_pixels.cuh"

#include <warpalign/backend/stages/refinement/illumination.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include <algorithm>

namespace warpalign::cuda {
namespace {

// Each layer of a grid processes one state. With an illumination model there is only one state.
constexpr int max_states_at_once = 32;
template <bool projective, int states>
using States = ParameterList<State<projective>, states>;

template <bool projective, bool masked, bool illuminated, class Matrix>
__device__ __forceinline__ void sum_pixels(const ComparedImages& images,
                                           const State<projective, Matrix>& s, int blocks,
                                           float* partials) {
  float sums[sums_of<projective>] = {};
  add_pixels<projective, masked, illuminated>(images, s, static_cast<int>(blockIdx.x), blocks,
                                              sums);
  store_block_sums<warps_of<projective>>(sums, blocks, partials);
}

// The position of a layer's partial sums.
template <bool projective>
__device__ __forceinline__ float* of_layer(float* partials, int blocks) {
  return partials + static_cast<std::size_t>(blockIdx.y) * sums_of<projective> * blocks;
}

template <bool projective, bool masked, bool illuminated, int states>
__global__ void __launch_bounds__(threads_of<projective>, blocks_per_multiprocessor)
    similarity_sums_kernel(const __grid_constant__ ComparedImages images,
                           const __grid_constant__ States<projective, states> list,
                           float* __restrict__ partials) {
  wait_for_previous_kernel();
  const int blocks = static_cast<int>(gridDim.x);
  sum_pixels<projective, masked, illuminated>(images, list.entries[states == 1 ? 0 : blockIdx.y],
                                              blocks, of_layer<projective>(partials, blocks));
}

/// Images, and the states at which to compare them. Each slice of a grid has some.
struct ResidentWork {
  ComparedImages images;
  int first_state, states;
  int blocks;
  std::size_t first;  ///< index of the first partial sum
};
constexpr int max_works_at_once = 8;
template <int works>
using ResidentWorks = ParameterList<ResidentWork, works>;

template <bool projective, bool masked, int works>
__global__ void __launch_bounds__(threads_of<projective>, blocks_per_multiprocessor)
    resident_sums_kernel(const __grid_constant__ ResidentWorks<works> list,
                         const WaSumsState* states, float* partials) {
  wait_for_previous_kernel();
  const ResidentWork& work = list.entries[works == 1 ? 0 : blockIdx.z];
  if (blockIdx.x >= work.blocks || blockIdx.y >= work.states) return;
  const WaSumsState& state = states[work.first_state + blockIdx.y];
  if (state.active == 0) return;
  sum_pixels<projective, masked, false>(work.images, state_in<projective>(state), work.blocks,
                                        of_layer<projective>(partials + work.first, work.blocks));
}

template <bool projective, int states>
using Kernel = void (*)(ComparedImages, States<projective, states>, float*);

template <int works>
using ResidentKernel = void (*)(ResidentWorks<works>, const WaSumsState*, float*);

struct ResidentKernels {
  ResidentKernel<1> one = nullptr;
  ResidentKernel<max_works_at_once> many = nullptr;
  friend bool operator==(const ResidentKernels&, const ResidentKernels&) = default;
};

template <bool projective, bool masked>
ResidentKernels resident_kernels() {
  return {&resident_sums_kernel<projective, masked, 1>,
          &resident_sums_kernel<projective, masked, max_works_at_once>};
}

template <bool projective>
struct Kernels {
  Kernel<projective, 1> one;
  Kernel<projective, max_states_at_once> many;  ///< unused with an illumination model
};

template <bool projective, bool masked>
Kernels<projective> kernels_for(bool illuminated) {
  if (illuminated) return {&similarity_sums_kernel<projective, masked, true, 1>, nullptr};
  return {&similarity_sums_kernel<projective, masked, false, 1>,
          &similarity_sums_kernel<projective, masked, false, max_states_at_once>};
}

template <bool projective>
class SimilaritySumsStage final : public SimilarityImagesStage {
 public:
  SimilaritySumsStage(const Context& context, const SimilaritySumsSpec& spec)
      : site_{context, "similarity_sums"},
        kernels_(spec.masked ? kernels_for<projective, true>(spec.illumination_cell != 0)
                             : kernels_for<projective, false>(spec.illumination_cell != 0)),
        resident_(spec.masked ? resident_kernels<projective, true>()
                              : resident_kernels<projective, false>()),
        centre_(centre_of(spec.moving)) {
    images_.reference_width = extent(spec.reference.width, site_);
    images_.margin = spec.reference_margin;
    images_.columns = without_margins(extent(spec.reference.width, site_), spec.reference_margin);
    images_.rows = without_margins(extent(spec.reference.height, site_), spec.reference_margin);
    images_.moving = moving_spline(spec.moving, spec.moving_margin, site_);
    if (spec.illumination_cell != 0) {
      const Shape field = IlluminationPlan::field_shape(spec.reference, spec.illumination_cell);
      images_.illumination.inverse_side = 1.0f / static_cast<float>(spec.illumination_cell);
      images_.illumination.across = extent(field.width, site_);
      images_.illumination.down = extent(field.height, site_);
    }
    const std::int64_t tiles =
        divide_up(images_.columns, block_width<projective>) * divide_up(images_.rows, tile_height);
    const std::int64_t most = std::int64_t{blocks_per_multiprocessor} * context.multiprocessors;
    const std::int64_t few = std::clamp(
        divide_up(std::int64_t{images_.columns} * images_.rows, most_pixels_of_shared_block),
        divide_up(most, states_to_fill_device), most);
    blocks_ = std::clamp<std::int64_t>(tiles, 1, spec.batch > 1 ? few : most);
    if (spec.resident) {
      load(resident_.one, site_);
      load(resident_.many, site_);
      return;
    }
    load(kernels_.one, site_);
    if (kernels_.many != nullptr && spec.batch > 1) load(kernels_.many, site_);
  }

  [[nodiscard]] std::size_t groups() const noexcept override {
    return static_cast<std::size_t>(blocks_);
  }

  void enqueue(backend::Queue& queue, const backend::SimilarityMemory& memory,
               std::span<const SimilarityState> states, backend::Memory& partials,
               std::size_t first) override {
    const ComparedImages images = images_in(memory);
    float* sums = data<float>(partials) + first;
    const std::size_t length = groups() * sums_of<projective>;
    if (kernels_.many == nullptr) {
      for (std::size_t i = 0; i < states.size(); ++i) {
        run(queue, kernels_.one, images, {{state_of(states[i])}}, 1, sums + i * length);
      }
      return;
    }
    launch_for_entries<State<projective>, max_states_at_once>(
        states.size(), [&](std::size_t i) { return state_of(states[i]); },
        [&](const auto& list, std::size_t i, std::size_t count) {
          run(queue, kernel_of(list), images, list, count, sums + i * length);
        });
  }

  void enqueue_resident(backend::Queue& queue, std::span<const backend::ResidentSums> sums,
                        const backend::Memory& states, backend::Memory& partials) override {
    while (!sums.empty()) {
      const ResidentKernels kernels = stage_of(sums.front()).resident_;
      const auto end = std::find_if(sums.begin(), sums.end(), [&](const auto& one) {
        return stage_of(one).resident_ != kernels;
      });
      const std::span alike(sums.begin(), end);
      launch_for_entries<ResidentWork, max_works_at_once>(
          alike.size(), [&](std::size_t i) { return work_of(alike[i]); },
          [&](const auto& list, std::size_t first, std::size_t count) {
            run_resident(queue, kernels, list, alike.subspan(first, count), states, partials);
          });
      sums = sums.subspan(alike.size());
    }
  }

 private:
  static const SimilaritySumsStage& stage_of(const backend::ResidentSums& sums) {
    return static_cast<const SimilaritySumsStage&>(*sums.stage);
  }

  static ResidentWork work_of(const backend::ResidentSums& sums) {
    const SimilaritySumsStage& stage = stage_of(sums);
    return {stage.images_in(sums.images), static_cast<int>(sums.first_state),
            static_cast<int>(sums.count), static_cast<int>(stage.blocks_), sums.first};
  }

  template <int works>
  void run_resident(backend::Queue& queue, const ResidentKernels& kernels,
                    const ResidentWorks<works>& list, std::span<const backend::ResidentSums> sums,
                    const backend::Memory& states, backend::Memory& partials) const {
    dim3 grid(1, 1, static_cast<unsigned>(sums.size()));
    for (const backend::ResidentSums& one : sums) {
      grid.x = std::max(grid.x, static_cast<unsigned>(stage_of(one).blocks_));
      grid.y = std::max(grid.y, static_cast<unsigned>(one.count));
    }
    launch_dependent(site_, queue, grid, dim3(threads_of<projective>), kernel_of(kernels, list), list,
                 data<const WaSumsState>(states), data<float>(partials));
  }

  static ResidentKernel<1> kernel_of(const ResidentKernels& kernels, const ResidentWorks<1>&) {
    return kernels.one;
  }
  static ResidentKernel<max_works_at_once> kernel_of(const ResidentKernels& kernels,
                                                     const ResidentWorks<max_works_at_once>&) {
    return kernels.many;
  }

  [[nodiscard]] dim3 grid_for(std::size_t states) const {
    return {static_cast<unsigned>(blocks_), static_cast<unsigned>(states)};
  }

  [[nodiscard]] Kernel<projective, 1> kernel_of(const States<projective, 1>&) const {
    return kernels_.one;
  }
  [[nodiscard]] Kernel<projective, max_states_at_once> kernel_of(
      const States<projective, max_states_at_once>&) const {
    return kernels_.many;
  }

  [[nodiscard]] State<projective> state_of(const SimilarityState& given) const {
    const Point centre = projective ? given.centre : centre_;
    return {matrix_of<projective>(given.matrix),
            static_cast<float>(centre.x),
            static_cast<float>(centre.y),
            static_cast<float>(1 / given.unit),
            static_cast<float>(given.scale > 0 ? 1 / given.scale : 0),
            static_cast<float>(given.gain),
            static_cast<float>(given.offset)};
  }

  template <int states>
  void run(backend::Queue& queue, Kernel<projective, states> kernel, const ComparedImages& images,
           const States<projective, states>& list, std::size_t count, float* sums) const {
    launch_dependent(site_, queue, grid_for(count), dim3(threads_of<projective>), kernel, images, list,
                 sums);
  }

  CallSite site_;
  Kernels<projective> kernels_;
  ResidentKernels resident_;
  Point centre_;
  std::int64_t blocks_ = 1;
};

}  // namespace

template <>
std::unique_ptr<backend::SimilaritySums> make(const Context& context,
                                              const SimilaritySumsSpec& spec) {
  if (spec.projective) return std::make_unique<SimilaritySumsStage<true>>(context, spec);
  return std::make_unique<SimilaritySumsStage<false>>(context, spec);
}

}  // namespace warpalign::cuda

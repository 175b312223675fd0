// Complete Gauss-Newton fits, with all steps in one launch.
#include "refinement/fused_fits.hpp"

#include "device/block_sums.cuh"
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "refinement/similarity_pixels.cuh"

#include "formulas/resident_fit.h"
#include "formulas/similarity.h"
#include "shared/kernel_language.h"

#include <cooperative_groups.h>

#include <algorithm>

namespace warpalign::cuda {
namespace {

#define GROUP 512
namespace of_similarities {
#include "shared/fit_step_parts.h"
constexpr int grid_sums = GRID_SUMS * GROUP;
}  // namespace of_similarities
#undef GROUP
#define GROUP 256
#define PROJECTIVE
namespace of_homographies {
#include "shared/fit_step_parts.h"
constexpr int grid_sums = GRID_SUMS * GROUP;
}  // namespace of_homographies

static_assert(sizeof(WaFitRecord) == sizeof(FitRecord));
static_assert(threads_of<false> == 512 && threads_of<true> == 256);

// Larger images need the blocks of all multiprocessors for each step.
constexpr int max_pixels = 1 << 16;

// The sizes of clusters, in blocks. All devices with clusters support the small size.
constexpr int large_cluster = 16;
constexpr int small_cluster = 8;
// The number of parts of the pixels, of which each block processes one or two: a fit gives the same
// bits in clusters of both sizes.
constexpr int groups = large_cluster;

/// Images, and the numbers of the states at which to compare them.
struct Work {
  ComparedImages images;
  int first_state, states;
};
constexpr int max_works = 16;
struct Works {
  Work entries[max_works];
};

/// The data of a fit in the first block of a cluster.
template <bool projective>
struct KeptFit {
  WaFitRecord record;
  WaSumsState states[2];
  float partials[2 * sums_of<projective>][groups];
  float totals[2 * sums_of<projective>];
  float maps[27];
  float grid[projective ? of_homographies::grid_sums : of_similarities::grid_sums];
  int steps;
};

__device__ __forceinline__ void copy_words(const void* from, void* to, std::size_t bytes) {
  const auto* source = static_cast<const int*>(from);
  auto* target = static_cast<int*>(to);
  for (std::size_t i = threadIdx.x; i < bytes / sizeof(int); i += blockDim.x) target[i] = source[i];
}

// Writes the states of a fit's channels. All threads must have passed a barrier since the last
// step.
template <bool projective>
__device__ __forceinline__ void set_states(KeptFit<projective>& fit) {
  const int channel = static_cast<int>(threadIdx.x);
  if (channel >= fit.record.channels) return;
  const WaFit copy = fit.record.fit;
  fit.states[channel] = wa_sums_state(&copy, channel);
}

template <bool projective>
__device__ __forceinline__ void begin(KeptFit<projective>& fit, const WaFitRecord& record) {
  copy_words(&record, &fit.record, sizeof(WaFitRecord));
  __syncthreads();
  // All threads read the phase before thread 0 writes it: compilers make the other threads evaluate
  // the condition below too, and their read would race with the write.
  const int phase = fit.record.phase;
  __syncthreads();
  if (threadIdx.x == 0 && phase == WA_FIT_WRITE_STATES) fit.record.phase = WA_FIT_BEGIN;
  __syncthreads();
  set_states(fit);
}

// Takes a step, given the partial sums of all groups.
template <bool projective>
__device__ __forceinline__ void take_step(KeptFit<projective>& fit) {
  constexpr int sums = sums_of<projective>;
  const int item = static_cast<int>(threadIdx.x);
  if (item < 2 * sums) {
    const bool counts = item < fit.record.channels * sums;
    fit.totals[item] = counts ? of_homographies::wa_total(fit.partials[item], groups) : 0.0f;
  }
  const int phase = fit.record.phase;
  __syncthreads();
  if constexpr (projective) {
    of_homographies::wa_step(phase, fit.totals, &fit.record, item, &fit.steps, fit.maps, fit.grid);
  } else {
    of_similarities::wa_step(phase, fit.totals, &fit.record, item, &fit.steps, fit.maps, fit.grid);
  }
  __syncthreads();
  set_states(fit);
}

// Core ensures that one of the works has the state.
__device__ __forceinline__ const ComparedImages& images_of(const Works& works, int state) {
  int work = 0;
  const auto has_state = [&](const Work& one) {
    return state >= one.first_state && state - one.first_state < one.states;
  };
  while (!has_state(works.entries[work])) ++work;
  return works.entries[work].images;
}

template <bool projective>
__global__ void __launch_bounds__(threads_of<projective>)
    fused_fits_kernel(const __grid_constant__ Works works, WaFitRecord* records, int steps) {
  wait_for_previous_kernel();
#if __CUDA_ARCH__ >= 900
  constexpr int sum_count = sums_of<projective>;
  __shared__ KeptFit<projective> kept;
  __shared__ WaSumsState states[2];
  const auto cluster = cooperative_groups::this_cluster();
  const int blocks = static_cast<int>(cluster.num_blocks());
  const int block = static_cast<int>(cluster.block_rank());
  WaFitRecord& record = records[static_cast<int>(blockIdx.x) / blocks];
  KeptFit<projective>& fit = *cluster.map_shared_rank(&kept, 0);
  if (block == 0) begin(kept, record);
  cluster.sync();
  const int channels = fit.record.channels;
  const ComparedImages* images[2] = {};
  for (int channel = 0; channel < channels; ++channel) {
    images[channel] = &images_of(works, fit.record.states[channel]);
  }
  for (int step = 0; step < steps; ++step) {
    copy_words(fit.states, states, sizeof(states));
    __syncthreads();
    if (states[0].active == 0) break;  // in all blocks of the cluster
    for (int channel = 0; channel < channels; ++channel) {
      const ComparedImages compared = *images[channel];
      const auto state = state_in<projective>(states[channel]);
      for (int group = block; group < groups; group += blocks) {
        float sums[sum_count] = {};
        add_pixels<projective, true, false>(compared, state, group, groups, sums);
        add_over_block<warps_of<projective>>(
            sums, [&](int i, float sum) { fit.partials[channel * sum_count + i][group] = sum; });
        __syncthreads();
      }
    }
    cluster.sync();
    if (block == 0) take_step(kept);
    cluster.sync();
  }
  cluster.sync();  // no block may end while others read its shared memory
  if (block == 0) copy_words(&kept.record, &record, sizeof(WaFitRecord));
#endif
}

template <bool projective>
constexpr auto kernel_of = &fused_fits_kernel<projective>;

/// The configuration of a launch in clusters.
struct ClusterLaunch {
  ClusterLaunch(int clusters, int blocks, int threads, cudaStream_t stream) {
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
    config.gridDim = dim3(static_cast<unsigned>(clusters * blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
  cudaLaunchAttribute cluster{};
  cudaLaunchConfig_t config{};
};

// How many clusters of this size the device holds; 0 if it cannot launch them.
template <bool projective>
int clusters_at_once(int blocks) {
  const ClusterLaunch launch(1, blocks, threads_of<projective>, nullptr);
  int clusters = 0;
  const cudaError_t code =
      cudaOccupancyMaxActiveClusters(&clusters, kernel_of<projective>, &launch.config);
  if (code == cudaSuccess) return clusters;
  static_cast<void>(cudaGetLastError());
  return 0;
}

// Whether the device runs code that was compiled for devices with clusters.
template <bool projective>
bool is_for_clusters(const CallSite& site) {
  site.context.activate();
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel_of<projective>), "cudaFuncGetAttributes", site);
  return attributes.ptxVersion >= 90;
}

template <bool projective>
int large_clusters_at_once() {
  static_cast<void>(cudaFuncSetAttribute(kernel_of<projective>,
                                         cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  return clusters_at_once<projective>(large_cluster);
}

template <bool projective>
void launch_fused_fits(const CallSite& site, const backend::Queue& queue, const Works& works,
                       WaFitRecord* records, int fits, int blocks, int steps) {
  site.context.activate();
  const ClusterLaunch launch(fits, blocks, threads_of<projective>, stream_of(queue));
  check(cudaLaunchKernelEx(&launch.config, kernel_of<projective>, works, records, steps),
        "cudaLaunchKernelEx", site);
}

Works works_of(std::span<const backend::ResidentSums> sums) {
  Works works{};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto& stage = static_cast<const SimilarityImagesStage&>(*sums[i].stage);
    works.entries[i] = {stage.images_in(sums[i].images), static_cast<int>(sums[i].first_state),
                        static_cast<int>(sums[i].count)};
  }
  return works;
}

}  // namespace

FusedFits::FusedFits(const CallSite& site, bool projective) : site_(site), projective_(projective) {
  const bool possible = projective ? is_for_clusters<true>(site) : is_for_clusters<false>(site);
  if (!possible) return;
  large_clusters_ = projective ? large_clusters_at_once<true>() : large_clusters_at_once<false>();
  has_clusters_ = (projective ? clusters_at_once<true>(small_cluster)
                              : clusters_at_once<false>(small_cluster)) > 0;
}

bool FusedFits::serve(std::span<const backend::ResidentSums> sums) const noexcept {
  return has_clusters_ && sums.size() <= max_works &&
         std::all_of(sums.begin(), sums.end(), [](const backend::ResidentSums& one) {
           return static_cast<const SimilarityImagesStage&>(*one.stage).pixels() <= max_pixels;
         });
}

// Larger clusters are faster if the device holds them all.
void FusedFits::enqueue(const backend::Queue& queue, std::span<const backend::ResidentSums> sums,
                        backend::Memory& records, std::size_t fits, int steps) const {
  const int count = static_cast<int>(fits);
  const int blocks = count <= large_clusters_ ? large_cluster : small_cluster;
  const auto launch = projective_ ? &launch_fused_fits<true> : &launch_fused_fits<false>;
  launch(site_, queue, works_of(sums), data<WaFitRecord>(records), count, blocks, steps);
}

}  // namespace warpalign::cuda

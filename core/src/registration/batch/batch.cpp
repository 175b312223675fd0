// Registration of many pairs, with a Registrar and a stream for each worker.
#include <warpalign/batch.hpp>

#include "device/check.hpp"
#include "registration/batch/batch_run.hpp"
#include "registration/batch/pair_worker.hpp"
#include "registration/checked_options.hpp"
#include "registration/pair/initial_pose.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace warpalign {

namespace {

constexpr const char* stage = "align_batch";

void check(std::span<const Device> devices, const PairSource& source, const PairSink& sink,
           const BatchOptions& batch) {
  detail::check_batch_options(stage, devices, batch);
  if (!source) detail::refuse(stage, "source is empty; a source of pairs is needed");
  if (!sink) detail::refuse(stage, "sink is empty; a sink for results is needed");
}

bool has_pixels(const HostImage& image) {
  return image.data != nullptr && image.width > 0 && image.height > 0;
}

/// Checks the initial transforms of all pairs whose images have a size; the results of the others
/// say why they cannot be registered.
void check_initial_of(std::span<const HostPair> pairs, const RegistrationOptions& options) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const HostPair& pair = pairs[i];
    if (!pair.initial || !has_pixels(pair.reference) || !has_pixels(pair.moving)) continue;
    detail::check_initial("pair " + std::to_string(i), *pair.initial, options,
                          pair.reference.shape(), pair.moving.shape());
  }
}

}  // namespace

void align_batch(std::span<const Device> devices, std::size_t pairs, const PairSource& source,
                 const PairSink& sink, const RegistrationOptions& options,
                 const BatchOptions& batch) {
  check(devices, source, sink, batch);
  if (pairs == 0) return;
  detail::run_on_devices<detail::BatchRun>(
      devices, pairs, source, sink, batch,
      [&](const Device& device) { return detail::PairWorker::aligner(device, options); },
      detail::PairWorker::at_once(pairs, options));
}

std::vector<BatchResult> align_batch(std::span<const Device> devices,
                                     std::span<const HostPair> pairs,
                                     const RegistrationOptions& options,
                                     const BatchOptions& batch) {
  check_initial_of(pairs, detail::checked(options));
  std::vector<BatchResult> results(pairs.size());
  align_batch(
      devices, pairs.size(), [&](std::size_t i) { return pairs[i]; },
      [&](std::size_t i, BatchResult result) {
        results[i] = std::move(result);
        return true;
      },
      options, batch);
  return results;
}

std::vector<BatchResult> Registrar::align_batch(std::span<const Device> devices,
                                                std::span<const HostPair> pairs,
                                                const RegistrationOptions& options) {
  return warpalign::align_batch(devices, pairs, options);
}

void check_initial(const Homography& initial, const RegistrationOptions& options,
                   const Shape& reference, const Shape& moving) {
  detail::check_initial(initial, detail::checked(options), reference, moving);
}

}  // namespace warpalign

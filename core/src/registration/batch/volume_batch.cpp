// Registers many pairs of volumes, each worker with its own VolumeRegistrar.
#include "registration/batch/volume_batch.hpp"

#include "registration/batch/batch_run.hpp"

#include <memory>

namespace warpalign::detail {

void align_volume_batch(std::span<const Device> devices, std::size_t pairs,
                        const VolumePairSource& source, const VolumePairSink& sink,
                        const VolumeRegistrationOptions& options, const BatchOptions& batch) {
  using Run = BatchRunOf<VolumePairInMemory, VolumeBatchResult>;
  check_batch_options("align_volume_batch", devices, batch);
  if (pairs == 0) return;
  run_on_devices<Run>(devices, pairs, source, sink, batch, [&](const Device& device) {
    const auto registrar = std::make_shared<VolumeRegistrar>(device, options);
    return Run::Aligner([registrar](const VolumePairInMemory& pair) {
      registrar->set_reference(pair.reference);
      return registrar->align(pair.moving);
    });
  });
}

}  // namespace warpalign::detail

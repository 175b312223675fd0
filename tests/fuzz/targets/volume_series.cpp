// Series of volumes in NIfTI files: volumes come one after the other, whole, and of one kind.
#include "io/volume_series.hpp"
#include "scratch_file.hpp"

namespace warpalign::fuzz {
namespace {

using namespace program;

void run(Input input) {
  try {
    VolumeSeries series({as_file(input).string()});
    const SeriesGeometry geometry = series.geometry();
    require(geometry.extents.size() == 3, "a volume has three axes");
    // The first byte decides how many volumes are passed over.
    if (!input.empty()) series.skip(input.front() % 3U);
    std::size_t volumes = 0;
    while (const auto volume = series.next()) {
      require(++volumes <= series.volumes(), "there are no more volumes than the header promises");
      require(volume->voxels.bytes.empty() != volume->trouble.empty(),
              "a volume has voxels, or a reason why not");
      if (!volume->trouble.empty()) continue;
      require(volume->voxels.extents == geometry.extents && volume->voxels.type == geometry.type,
              "all volumes are of one kind");
    }
  } catch (const FileError&) {
  }
}

const Registration registration("volume_series", run);

}  // namespace
}  // namespace warpalign::fuzz

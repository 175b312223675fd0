// Volumes in NIfTI files: a volume that was read can be written and read again.
#include "io/nifti.hpp"
#include "scratch_file.hpp"

namespace warpalign::fuzz {
namespace {

using namespace program;

void run(Input input) {
  NiftiVolume volume;
  try {
    volume = load_nifti(as_file(input));
  } catch (const FileError&) {
    return;
  }
  const Array& voxels = volume.voxels;
  std::size_t bytes = size_of(voxels.type);
  for (const std::int64_t extent : voxels.extents) bytes *= static_cast<std::size_t>(extent);
  require(voxels.extents.size() == 3, "a volume has three axes");
  require(voxels.bytes.size() == bytes, "there are as many bytes as numbers");
  for (const bool compressed : {false, true}) {
    const NiftiVolume again = read_nifti(write_nifti(voxels, volume.header, compressed));
    require(again.voxels.extents == voxels.extents && again.voxels.type == voxels.type &&
                again.voxels.bytes == voxels.bytes,
            "a volume comes back as it was written");
    require(again.geometry.left_handed == volume.geometry.left_handed, "it stays where it is");
  }
}

const Registration registration("volumes", run);

}  // namespace
}  // namespace warpalign::fuzz

// Arrays in .npy files: an array that was read can be written and read again.
#include "io/npy.hpp"
#include "scratch_file.hpp"

namespace warpalign::fuzz {
namespace {

using namespace program;

void run(Input input) {
  constexpr int max_dimensions = 4;
  Array array;
  try {
    array = load_npy(as_file(input), max_dimensions);
  } catch (const FileError&) {
    return;
  }
  std::size_t bytes = size_of(array.type);
  for (const std::int64_t extent : array.extents) bytes *= static_cast<std::size_t>(extent);
  require(array.bytes.size() == bytes, "there are as many bytes as numbers");
  const Array again = read_npy(write_npy(array), max_dimensions);
  require(again.extents == array.extents && again.type == array.type && again.bytes == array.bytes,
          "an array comes back as it was written");
}

const Registration registration("arrays", run);

}  // namespace
}  // namespace warpalign::fuzz

// Masks: images in which 0 marks pixels that do not count.
#include "io/messages.hpp"
#include "io/registrable_image.hpp"
#include "io/usage_error.hpp"
#include "scratch_file.hpp"

#include <algorithm>

namespace warpalign::fuzz {
namespace {

using namespace program;

void run(Input input) {
  set_verbosity(Verbosity::quiet);  // remarks are kept, to print each of them once
  const std::filesystem::path file = as_file(input);
  Shape shape{16, 16, 1};
  try {
    shape = load_image(file).shape();
    const LoadedImage mask = load_mask(file, shape, "image");
    require(mask.shape() == shape && mask.type == PixelType::u8 && mask.channels == 1,
            "a mask has its image's size");
    const auto marks = mask.samples<std::uint8_t>();
    require(std::all_of(marks.begin(), marks.end(),
                        [](std::uint8_t mark) { return mark == 0 || mark == 255; }),
            "a mask holds 0 and 255 only");
    require(std::count(marks.begin(), marks.end(), 255) > 0, "a mask leaves something");
  } catch (const FileError&) {
  } catch (const UsageError&) {
  }
}

const Registration registration("masks", run);

}  // namespace
}  // namespace warpalign::fuzz

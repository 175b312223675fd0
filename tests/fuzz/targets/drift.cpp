// The drift that `stack --apply` reads: JSON of images and of volumes, and CSV. The first byte
// selects the format.
#include "io/drift_file.hpp"
#include "io/image_file.hpp"
#include "reader.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::fuzz {
namespace {

using namespace program;

bool is_finite(const Affine& m) {
  const std::array numbers{m.a, m.b, m.c, m.d, m.e, m.f};
  return std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
}

void check_volumes(const std::string& text) {
  const std::optional<VolumeDriftFile> drift = parse_volume_drift_json(text);
  if (!drift) return;
  for (const KnownVolume& volume : drift->volumes) {
    require(std::ranges::all_of(volume.matrix.m, [](double m) { return std::isfinite(m); }),
            "matrices are finite");
    require(volume.matrix.is_affine(), "matrices are affine");
  }
}

void run(Input input) {
  Reader reader(input);
  const std::uint8_t format = reader.byte() % 3;
  const std::string text = reader.text();
  try {
    if (format == 2) return check_volumes(text);
    const std::optional<DriftFile> drift =
        format == 0 ? parse_drift_csv(text, "file") : parse_drift_json(text);
    if (!drift) return;
    for (const KnownFrame& frame : drift->frames) {
      if (!frame.usable) continue;
      require(!frame.matrix || is_finite(*frame.matrix), "matrices are finite");
      require(frame.matrix || std::isfinite(frame.similarity.translation.x), "shifts are finite");
    }
    for (const Affine& matrix : drift->channels) require(is_finite(matrix), "matrices are finite");
  } catch (const FileError&) {
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::invalid_argument, "wrong files are the caller's fault");
  }
}

const Registration registration("drift", run);

}  // namespace
}  // namespace warpalign::fuzz

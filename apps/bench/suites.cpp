// All suites by name.
#include "bench/suites.hpp"

#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpalign::program::bench {

const std::vector<Suite>& suites() {
  static const std::vector<Suite> all{
      {"prefilter", "B-spline prefilter (Champagnat & Le Sant, tables 1 and 2)", prefilter_cases},
      {"rotation", "Rotation of an image (Champagnat & Le Sant, table 3)", rotation_cases},
      {"zoom", "Enlargement of an image (Champagnat & Le Sant, table 3)", zoom_cases},
      {"truncation", "36 rotations by 10 degrees (Champagnat & Le Sant, figure 2)",
       truncation_cases},
      {"interpolation", "Weights from a table, or on the fly (Ruijters et al., table 1)",
       interpolation_cases},
      {"tricubic", "Interpolation of volumes (Ruijters et al., section 5)", tricubic_cases},
      {"sobel", "Sobel gradient, packed or plain (registration paper, section 4)", sobel_cases},
      {"fft", "Two-dimensional FFT of real images", fft_cases},
      {"registration", "Registration of a pair (registration paper, table 1, figures 4 and 5)",
       registration_cases},
      {"search", "Registration of hard pairs, which need every proposer", search_cases},
      {"batch", "Registration of 32 and of 512 pairs in one call", batch_cases},
      {"windows", "Shifts of frames and of their windows, all against one reference", window_cases},
      {"stack", "Drift of 32 frames of a stack, one by one and together", stack_cases},
      {"volumes", "Rigid registration of volumes, from any orientation and within a range",
       volume_cases},
      {"deformation", "Deformable registration of images and volumes", deformation_cases},
      {"tiles", "Zoom and rotation of an image by tiles, from host memory to host memory",
       tile_cases},
      {"complex_bilinear", "Bilinear interpolation of complex data in four forms (interview text)",
       complex_bilinear_cases}};
  return all;
}

std::vector<Suite> suites_named(const std::vector<std::string>& names) {
  std::string known;
  for (const Suite& suite : suites())
    known += (known.empty() ? "" : ", ") + std::string(suite.name);
  for (const std::string& name : names) {
    const auto same = [&](const Suite& suite) { return suite.name == name; };
    if (std::none_of(suites().begin(), suites().end(), same)) {
      throw UsageError(fmt::format("invalid value '{}' for SUITE (choose from: {})", name, known));
    }
  }
  std::vector<Suite> chosen;
  for (const Suite& suite : suites()) {
    if (names.empty() || std::find(names.begin(), names.end(), suite.name) != names.end()) {
      chosen.push_back(suite);
    }
  }
  return chosen;
}

}  // namespace warpalign::program::bench

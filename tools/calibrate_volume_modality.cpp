// What docs/accuracy-volumes.md reports of volumes of other modality: the errors of pairs of
// tissues that show the same thing, and the significance of pairs that do not, by grey levels and
// by edges.
//
// calibrate_volume_modality DEVICE PAIRS: that many pairs of each kind.
#include "calibration_main.hpp"
#include "support/tissues.hpp"
#include "support/volume_pairs.hpp"

#include <warpalign/open_device.hpp>
#include <warpalign/volume_registrar.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

using test::VolumePairSpec;
using warpalign::Modality;
using warpalign::VolumeRegistrar;
using warpalign::VolumeRegistration;

VolumeRegistration align(VolumeRegistrar& registrar, const VolumePairSpec& spec) {
  auto pair = test::draw_pair(spec);
  test::apply_other_contrasts(pair, spec.seed);
  registrar.set_reference(test::view_of(pair.reference, spec.reference));
  return registrar.align(test::view_of(pair.moving, spec.moving));
}

double at_fraction(std::vector<double> values, std::size_t percent) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, values.size() * percent / 100)];
}

void run(VolumeRegistrar& registrar, VolumePairSpec spec, int pairs, const char* name) {
  std::vector<double> errors, significances;
  int reliable = 0;
  for (int i = 0; i < pairs; ++i) {
    spec.seed = static_cast<std::uint32_t>(1000 + i);
    spec.noise = i % 2 == 0 ? 0 : 0.05;
    const VolumeRegistration found = align(registrar, spec);
    errors.push_back(test::distance(found.translation, spec.shift));
    significances.push_back(found.significance);
    reliable += found.reliable ? 1 : 0;
  }
  std::printf(
      "%-6s %lld^3 s%.0f %-9s %5d reliable; significance 1%% %5.2f 99%% %5.2f highest %5.2f", name,
      static_cast<long long>(spec.reference.width), spec.blob_sigma,
      spec.unrelated ? "unrelated" : "related", reliable, at_fraction(significances, 1),
      at_fraction(significances, 99), at_fraction(significances, 100));
  if (!spec.unrelated) {
    std::printf("; off 50%% %.3f 95%% %.3f", at_fraction(errors, 50), at_fraction(errors, 95));
  }
  std::printf("\n");
  std::fflush(stdout);
}

void calibrate(const char* device_name, int pairs) {
  const auto device = warpalign::open_device(device_name);
  warpalign::VolumeRegistrationOptions by_edges;
  by_edges.modality = Modality::other;
  VolumeRegistrar edges(device, by_edges);
  VolumeRegistrar grey(device);
  for (const std::int64_t side : {32, 56}) {
    for (const double sigma : {2.0, 3.0}) {
      VolumePairSpec spec;
      spec.reference = spec.moving = {side, side, side};
      spec.blob_sigma = sigma;
      spec.shift = {3.25, -4.5, 2};
      run(edges, spec, pairs, "edges");
      spec.unrelated = true;
      run(edges, spec, pairs, "edges");
      run(grey, spec, pairs, "grey");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return test::calibration_main(argc, argv, "calibrate_volume_modality", calibrate);
}

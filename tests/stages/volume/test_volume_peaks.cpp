// The highest peaks of volumes, on every device.
#include "support/devices.hpp"
#include "support/volumes.hpp"

#include <warpalign/error.hpp>
#include <warpalign/backend/stages/volume/volume_peaks.hpp>

#include <limits>

namespace {

using warpalign::Shape;
using warpalign::VolumePeak;
using warpalign::VolumePeaksPlan;

std::vector<VolumePeak> peaks_of(const warpalign::Device& device, const reference::Volume& volume,
                                 const warpalign::VolumePeakLimits& limits) {
  auto stream = device.make_stream();
  const auto surface = test::to_device(device, stream, volume);
  const VolumePeaksPlan plan(device, {surface.shape()});
  const auto found = plan.execute(stream, surface, limits);
  return {found.begin(), found.end()};
}

void check_peak(const VolumePeak& peak, float value, std::int64_t x, std::int64_t y,
                std::int64_t z) {
  CHECK(peak.value == value);
  CHECK(peak.x == x);
  CHECK(peak.y == y);
  CHECK(peak.z == z);
}

}  // namespace

TEST_CASE("volume_peaks: several highest peaks, without the flanks of higher ones") {
  test::on_every_device([](const warpalign::Device& device) {
    auto volume = test::random_volume({45, 21, 13}, -1, 0, 37);
    volume.at(20, 9, 7) = 5;
    volume.at(22, 11, 9) = 4.5;  // next to the first one
    volume.at(24, 9, 7) = 4;     // four voxels away: a peak of its own
    volume.at(44, 20, 12) = 3;   // the last voxel
    volume.at(1, 1, 0) = 2;      // its neighbour, wrapping around
    volume.at(0, 10, 3) = 1;
    const auto peaks = peaks_of(device, volume, {{}, 4});
    REQUIRE(peaks.size() == 4);
    check_peak(peaks[0], 5, 20, 9, 7);
    check_peak(peaks[1], 4, 24, 9, 7);
    check_peak(peaks[2], 3, 44, 20, 12);
    check_peak(peaks[3], 1, 0, 10, 3);
  });
}

TEST_CASE("volume_peaks: only within reach of 0, with wrap-around") {
  test::on_every_device([](const warpalign::Device& device) {
    auto volume = test::random_volume({40, 24, 16}, -1, 0, 38);
    volume.at(20, 3, 2) = 9;  // too far along x
    volume.at(5, 12, 2) = 8;  // along y
    volume.at(5, 3, 8) = 7;   // along z
    volume.at(5, 3, 2) = 2;
    volume.at(35, 21, 14) = 1;
    const auto peaks = peaks_of(device, volume, {{5, 3, 2}, 2});
    REQUIRE(peaks.size() == 2);
    check_peak(peaks[0], 2, 5, 3, 2);
    check_peak(peaks[1], 1, 35, 21, 14);
  });
}

TEST_CASE("volume_peaks: NaN is no peak, the first of equals is, tiny volumes have one") {
  test::on_every_device([](const warpalign::Device& device) {
    reference::Volume volume(9, 5, 6);
    for (double& value : volume.values) value = std::numeric_limits<double>::quiet_NaN();
    CHECK(peaks_of(device, volume, {}).empty());
    volume.at(8, 4, 5) = 3;
    const auto peaks = peaks_of(device, volume, {});
    REQUIRE(peaks.size() == 1);
    check_peak(peaks[0], 3, 8, 4, 5);
    reference::Volume one(1, 1, 1);
    REQUIRE(peaks_of(device, one, {}).size() == 1);
    reference::Volume flat(5, 3, 2);
    check_peak(peaks_of(device, flat, {{}, 1}).at(0), 0, 0, 0, 0);
  });
}

TEST_CASE("volume_peaks: invalid limits are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    const reference::Volume volume(8, 8, 8);
    CHECK_THROWS_AS((void)peaks_of(device, volume, {{}, 0}), warpalign::Error);
    CHECK_THROWS_AS((void)peaks_of(device, volume, {{-1, 0, 0}, 1}), warpalign::Error);
  });
}

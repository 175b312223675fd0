// How far the correlation of two images is above what chance gives.
#pragma once

#include "device/readback.hpp"
#include "registration/plan_cache.hpp"
#include "registration/similarity/level_pair.hpp"

#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/backend/stages/volume/spectrum_sums.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Two images where they are in common, row by row: pixels that do not count are 0 in both.
struct CommonParts {
  std::int64_t width = 0, height = 0;
  std::vector<float> reference, moving;
  double pixels = 0;
  std::vector<double> reference_columns, moving_columns;  ///< what evenness_of() works in
  std::vector<float> reference_second, moving_second;  ///< of images with two channels; else empty
};

/// The fraction of the pixels in common that counts where texture is not spread evenly: 1 where
/// both images have the same energy everywhere, and less where what little of them has texture
/// bears the whole correlation.
[[nodiscard]] double evenness_of(CommonParts& common);

class ChanceTest {
 public:
  ChanceTest(const Device& device, Ones& ones);

  /// Fisher's z of the candidate's correlation in units of its standard deviation under chance,
  /// atanh(r) sqrt(n B L), with n pixels in common. By Bartlett's formula (1946), B is
  /// sum |A|^2 sum |B|^2 / (N sum |A|^2 |B|^2) over the N frequencies of both spectra, and L is
  /// evenness_of(). Of unrelated images it is nearly normally distributed. Where the images have
  /// two channels, |A|^2, |B|^2 and their product are summed over both, so that B is up to 2. Waits
  /// for the device.
  [[nodiscard]] double deviations(const PairWork& work, const Candidate& candidate);

 private:
  /// A part of a level, or of its weights, on the device and on the host.
  struct Frame {
    Frame(const Device& device, const Shape& shape);
    Image image;
    Readback<float> values;
  };
  /// Frames of one shape, for the parts that fit into them: the smaller they are, the less is
  /// warped and copied.
  struct Frames {
    Frames(const Device& device, const Shape& shape);
    Shape shape;
    Frame coarse, fine, coarse_weight, fine_weight;
  };
  /// An image with zeros around it on the device, and its spectrum.
  struct Padded {
    explicit Padded(const Device& device);
    HostBuffer staged;
    Image image, spectrum;
    std::int64_t rows;  ///< of the image on the device, from the first one: those below are 0
  };
  void warp(const PairWork& work, const Image& input, const Affine& output_to_input, Frame& output);
  void warp(const PairWork& work, const Image& input, const Homography& output_to_input,
            Frame& output);
  /// The images of one channel.
  struct Channel {
    const Image& coarse;
    const Image& fine;
  };
  /// The part of the coarser level, at most a frame large, in which the finer one lies.
  struct Part {
    std::int64_t x = 0, y = 0, width = 0, height = 0;
    [[nodiscard]] Affine to_level() const;
  };
  static Part common_part(const Shape& coarse, const Shape& fine, const Homography& to_fine);
  [[nodiscard]] Frames& frames_for(const Part& part);
  void warp(const PairWork& work, const Channel& channel, const Homography& to_fine,
            const Part& part, Frames& frames);
  void warp_weights(const PairWork& work, const FitRoles::Levels& levels, const Homography& to_fine,
                    const Part& part, Frames& frames);
  void fetch_common(const PairWork& work, const FitRoles::Levels& levels,
                    std::span<const Channel> channels, const Homography& to_fine);
  void count(Frames& frames, bool is_masked);
  void take(Frame& from, std::vector<float>& pixels);
  void upload(const PairWork& work, const std::vector<float>& pixels, Padded& padded);
  void transform(const PairWork& work, const std::vector<float>& reference,
                 const std::vector<float>& moving);
  [[nodiscard]] SpectrumSums spectrum_sums(const PairWork& work);
  [[nodiscard]] double independent_fraction(const PairWork& work);

  struct WarpKey {
    Shape input, output;
    friend bool operator==(const WarpKey&, const WarpKey&) = default;
  };

  Device device_;
  Ones& ones_;
  PlanCache<WarpKey, WarpPlan> warps_{8};
  PlanCache<WarpKey, InterpolatePlan> projective_warps_{4};
  Frames usual_;
  std::optional<Frames> large_;  // made where a part needs it
  RealFftPlan fft_;
  Padded reference_, moving_;
  SpectrumSumsPlan spectrum_sums_;
  CommonParts common_;
  std::vector<float> counts_;
  std::vector<double> columns_;
};

/// The deviations that the best of `places` independent wrong places exceeds once in ten thousand
/// searches.
[[nodiscard]] double deviations_by_chance(double places);

}  // namespace warpalign::detail

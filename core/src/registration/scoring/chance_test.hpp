// How far the correlation of two images is above what chance gives.
#pragma once

#include "registration/pair/level_pair.hpp"
#include "registration/resources/plan_cache.hpp"

#include <warpalign/backend/stages/filter/common_frames.hpp>
#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/backend/stages/volume/spectrum_sums.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The fraction of the pixels in common that counts where texture is not spread evenly: 1 where
/// both images have the same energy everywhere, and less where what little of them has texture
/// bears the whole correlation.
[[nodiscard]] double evenness_of(const CommonSums& common);

class ChanceTest {
 public:
  explicit ChanceTest(const Device& device);

  /// For each candidate Fisher's z of its correlation in units of its standard deviation under
  /// chance, atanh(r) sqrt(n B L), with n pixels in common. By Bartlett's formula (1946), B is
  /// sum |A|^2 sum |B|^2 / (N sum |A|^2 |B|^2) over the N frequencies of both spectra, and L is
  /// evenness_of(). Of unrelated images it is nearly normally distributed. Where the images have
  /// two channels, |A|^2, |B|^2 and their product are summed over both, so that B is up to 2. Waits
  /// for the device once for all candidates, or for every few. The result is valid until the next
  /// call.
  [[nodiscard]] std::span<const double> deviations(const PairContext& work,
                                                   std::span<Candidate* const> candidates);

 private:
  /// Frames of one shape, for the parts that fit into them: the smaller they are, the less is
  /// warped.
  struct Frames {
    Frames(const Device& device, const Shape& shape);
    Shape shape;
    Image fine_weight;
    std::vector<Image> fine;  ///< of each channel: two where some candidate had two
  };
  /// What is in common of several pairs of images of one or two channels, with zeros around it, and
  /// its spectra.
  struct Spectra {
    Spectra(const Device& device, std::int64_t channels, std::int64_t pairs);
    Spectra(const Device& device, std::int64_t channels, std::int64_t pairs, const Shape& frames);
    /// Of all pairs; their sums become result number `result` and those after it.
    void enqueue_sums(Stream& stream, std::int64_t result);
    Image reference, moving, reference_spectrum, moving_spectrum;
    RealFftPlan fft;
    SpectrumSumsPlan sums;
  };
  /// Candidates whose spectra are computed together: some of those that are waited for together.
  struct Batch {
    Spectra* spectra;
    std::size_t first, count;
  };
  /// The images of one channel.
  struct ChannelImages {
    const Image& coarse;
    const Image& fine;
  };
  /// For parts of a shape.
  [[nodiscard]] Frames& frames_for(const Shape& part, std::size_t channels);
  /// For as many of `candidates` as one batch takes.
  [[nodiscard]] Batch batch_for(std::size_t channels, std::size_t first, std::size_t candidates);
  void warp(const PairContext& work, const Image& input, const Affine& output_to_input,
            Image& output);
  void warp(const PairContext& work, const Image& input, const Homography& output_to_input,
            Image& output);
  /// Where a candidate's frames and sums go.
  struct Place {
    Spectra& spectra;
    std::int64_t result, place;
  };
  void enqueue(const PairContext& work, const Candidate& candidate, const Place& to);
  void enqueue(const PairContext& work, const FitRoles& roles, const FitRoles::BothLevels& levels,
               std::span<const ChannelImages> channels, const Homography& to_fine, const Place& to);
  void enqueue_together(const PairContext& work, std::span<Candidate* const> candidates);

  struct WarpKey {
    Shape input, output;
    friend bool operator==(const WarpKey&, const WarpKey&) = default;
  };

  Device device_;
  PlanCache<WarpKey, WarpPlan> warps_{8};
  PlanCache<WarpKey, InterpolatePlan> projective_warps_{4};
  Frames usual_;
  std::optional<Frames> large_;  // made where a part needs it
  CommonFramesPlan common_frames_;
  /// Of one channel, and of two, for each size of a batch; likewise.
  std::array<std::array<std::optional<Spectra>, 4>, 2> spectra_;
  std::vector<Batch> batches_;
  std::vector<double> deviations_;
};

/// The deviations that the best of `places` independent wrong places exceeds once in ten thousand
/// searches.
[[nodiscard]] double deviations_by_chance(double places);

}  // namespace warpalign::detail

// The null test: the correlation of two images in units of its standard deviation.
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

/// The effective sample size of the overlap as a fraction of its pixels: 1 if both images have the
/// same energy everywhere, and less if few textured pixels account for the whole correlation.
[[nodiscard]] double effective_sample_fraction(const CommonSums& common);

class SignificanceTest {
 public:
  explicit SignificanceTest(const Device& device);

  /// Returns a z-score for each candidate: Fisher's z of its correlation in units of its standard
  /// deviation under the null hypothesis, atanh(r) sqrt(n B L), with n pixels of overlap. By
  /// Bartlett's formula (1946), B is sum |A|^2 sum |B|^2 / (N sum |A|^2 |B|^2) over the N
  /// frequencies of both spectra, and L is effective_sample_fraction(). For unrelated images the
  /// z-score is nearly normally distributed. If the images have two channels, |A|^2, |B|^2 and
  /// their product are summed over both, so that B is at most 2. Waits for the device once for
  /// every few candidates. The result is valid until the next call.
  [[nodiscard]] std::span<const double> z_scores(const PairContext& work,
                                                 std::span<Candidate* const> candidates);

 private:
  /// Frames of one shape, for overlaps that fit into them. Smaller frames have fewer pixels to
  /// warp.
  struct Frames {
    Frames(const Device& device, const Shape& shape);
    Shape shape;
    Image fine_weight;
    /// One per channel; grows to two with the first candidate that has two.
    std::vector<Image> fine;
  };
  /// The overlaps of several pairs of images with one or two channels, padded with zeros, and their
  /// spectra.
  struct Spectra {
    Spectra(const Device& device, std::int64_t channels, std::int64_t pairs);
    Spectra(const Device& device, std::int64_t channels, std::int64_t pairs, const Shape& frames);
    /// Enqueues the sums of all pairs. They become result number `result` and the following ones.
    void enqueue_sums(Stream& stream, std::int64_t result);
    Image reference, moving, reference_spectrum, moving_spectrum;
    RealFftPlan fft;
    SpectrumSumsPlan sums;
  };
  /// Candidates whose spectra are computed together.
  struct Batch {
    Spectra* spectra;
    std::size_t first, count;
  };
  /// The two images of a channel.
  struct ChannelImages {
    const Image& coarse;
    const Image& fine;
  };
  /// Returns frames into which `part` fits.
  [[nodiscard]] Frames& frames_for(const Shape& part, std::size_t channels);
  /// Returns a batch that starts at candidate `first` and takes as many of `candidates` as it can.
  [[nodiscard]] Batch batch_for(std::size_t channels, std::size_t first, std::size_t candidates);
  void warp(const PairContext& work, const Image& input, const Affine& output_to_input,
            Image& output);
  void warp(const PairContext& work, const Image& input, const Homography& output_to_input,
            Image& output);
  /// Where enqueue() writes a candidate's frames and sums.
  struct Destination {
    Spectra& spectra;
    std::int64_t result, slot;
  };
  void enqueue(const PairContext& work, const Candidate& candidate, const Destination& to);
  void enqueue(const PairContext& work, const FitDirection& roles,
               const FitDirection::BothLevels& levels, std::span<const ChannelImages> channels,
               const Homography& to_fine, const Destination& to);
  void enqueue_together(const PairContext& work, std::span<Candidate* const> candidates);

  struct WarpKey {
    Shape input, output;
    friend bool operator==(const WarpKey&, const WarpKey&) = default;
  };

  Device device_;
  PlanCache<WarpKey, WarpPlan> warps_{8};
  PlanCache<WarpKey, InterpolatePlan> projective_warps_{4};
  Frames small_;
  std::optional<Frames> large_;  // created for the first overlap that needs it
  CommonFramesPlan common_frames_;
  /// Indexed by the number of channels less one and by the batch size; created on demand.
  std::array<std::array<std::optional<Spectra>, 4>, 2> spectra_;
  std::vector<Batch> batches_;
  std::vector<double> z_scores_;
};

/// The z-score that the best of `trials` independent wrong poses exceeds in one of ten thousand
/// searches.
[[nodiscard]] double max_null_z_score(double trials);

}  // namespace warpalign::detail

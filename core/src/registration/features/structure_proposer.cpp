// Proposes the shift of one small structure on an even background.
#include "registration/features/structure_proposer.hpp"

#include "registration/numerics/host_numbers.hpp"
#include "registration/pair/level_pair.hpp"
#include "registration/points/compact_structure.hpp"
#include "registration/points/robust_deviation.hpp"
#include "registration/pyramid/host_copy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace warpalign::detail {

namespace {

// Larger images have more pixels than the copies and medians here should cost.
constexpr std::int64_t max_structure_image = 1 << 20;

// Of an even background the standard deviation is less than this fraction of the range of all
// values. About this many pixels tell it.
constexpr double max_background = 1.0 / 12;
constexpr std::size_t background_sample = 4096;
// A small structure has few pixels that differ from the background by this part of the range.
constexpr double notable_difference = 0.1;
constexpr double max_notable = 0.1;

}  // namespace

bool StructureProposer::may_show_small_structure(const std::vector<float>& values,
                                                 double max_deviation) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  sample_.clear();
  // An odd step, so that the sample does not come from a few columns.
  const std::size_t step = (values.size() / background_sample) | 1;
  for (std::size_t i = 0; i < values.size(); i += step) {
    sample_.push_back(values[i]);
  }
  const double range = static_cast<double>(*most) - static_cast<double>(*least);
  const RobustStatistics background = robust_statistics(sample_);
  if (!(background.deviation < max_deviation * range)) return false;
  // Now the sample is of deviations from the median.
  const double limit = std::max(6 * background.deviation, notable_difference * range);
  const auto notable = std::count_if(sample_.begin(), sample_.end(), [&](float difference) {
    return static_cast<double>(difference) > limit;
  });
  return static_cast<double>(notable) <= max_notable * static_cast<double>(sample_.size());
}

// The structure of an image. What its mask excludes is taken for background: the mask of a constant
// border excludes nothing else.
std::optional<CompactStructure> StructureProposer::structure_of(const PairContext& context,
                                                                ImagePyramid& image) {
  // Most images show much, which a smaller one tells sooner. It averages small structures away, but
  // noise as well.
  const double spacing = std::max(1.0, larger_side(image.shape()) / scoring_side);
  copy_to_host(context.stream, image.level(context.stream, context.clock, {spacing}).values(),
               smaller_);
  const double averaged = std::min(spacing, 2.0);
  if (!may_show_small_structure(smaller_, max_background / averaged)) return std::nullopt;
  const Shape& shape = image.shape();
  const auto count = static_cast<std::size_t>(shape.plane());
  pixels_.resize(count * size_of(image.type()));
  context.stream.download(image.pixels(), pixels_.data(), pixels_.size());
  numbers_.resize(count);
  read_line(image.type(), pixels_.data(), numbers_);
  values_.assign(numbers_.begin(), numbers_.end());
  if (!may_show_small_structure(values_, max_background)) return std::nullopt;
  std::vector<float> values = values_;
  if (image.mask() != nullptr) {
    std::vector<std::uint8_t> mask(count);
    context.stream.download(*image.mask(), mask.data(), mask.size());
    std::vector<float> copy = values;
    const auto background = static_cast<float>(median_of(copy));
    for (std::size_t i = 0; i < count; ++i) {
      if (mask[i] == 0) values[i] = background;
    }
  }
  return compact_structure(std::move(values), shape.width, shape.height);
}

std::optional<Candidate> StructureProposer::propose(const PairContext& context) {
  const auto is_large = [](const ImagePyramid& image) {
    return image.shape().plane() > max_structure_image;
  };
  if (is_large(context.reference) || is_large(context.moving)) return std::nullopt;
  const auto reference = structure_of(context, context.reference);
  if (!reference) return std::nullopt;
  const auto moving = structure_of(context, context.moving);
  if (!moving) return std::nullopt;
  const auto found = match(*reference, *moving);
  if (!found) return std::nullopt;
  Candidate candidate;
  candidate.matrix = Affine::translation(found->shift.x, found->shift.y);
  candidate.correlation = found->correlation;
  candidate.significance = found->z_score;
  candidate.overlap = 1;
  candidate.proposed_by = SearchMethod::shifts;
  candidate.refined = true;
  return candidate;
}

}  // namespace warpalign::detail

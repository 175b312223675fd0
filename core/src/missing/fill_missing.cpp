// Replaces missing samples by those of the smoothest array that has the known samples.
//
// Biharmonic inpainting minimises the squared Laplacian; see S. B. Damelin and N. S. Hoang, "On
// surface completion and image inpainting by biharmonic functions", International Journal of
// Mathematics and Mathematical Sciences, 2018. Holes that are apart do not depend on each other, so
// the processors divide them.
#include <warpalign/error.hpp>
#include <warpalign/missing.hpp>
#include "device/lanes.hpp"
#include "missing/array_axes.hpp"
#include "missing/hole_solver.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace warpalign {

namespace {

constexpr int depth_limit = 16;  ///< the farthest samples that are smoothed
// A thread starts in about the time in which another one fills this many samples.
constexpr std::size_t samples_per_part = 2048;

/// The samples that are filled. `Number` can count the samples of the array.
template <typename Number>
class Fill {
 public:
  Fill(std::span<const std::uint8_t> known, const Shape& shape)
      : axes_(shape), number_(known.size(), unvisited) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i] != 0) number_[i] = is_known;
    }
  }

  /// Gives each missing sample the mean of its neighbours that are nearer to a known sample.
  template <typename Sample>
  void continue_known(std::span<Sample> values) {
    std::vector<std::int64_t> layer = first_layer();
    std::vector<std::int64_t> next;
    for (int depth = 1; !layer.empty(); ++depth) {
      for (const std::int64_t position : layer) number_[at(position)] = in_layer;
      next.clear();
      for (const std::int64_t position : layer) {
        double sum = 0;
        int count = 0;
        axes_.for_neighbours(position, [&](std::int64_t neighbour) {
          Number& state = number_[at(neighbour)];
          if (state == is_known || state == filled || state == deep) {
            sum += static_cast<double>(values[at(neighbour)]);
            ++count;
          } else if (state == unvisited) {
            state = is_next;
            next.push_back(neighbour);
          }
        });
        values[at(position)] = static_cast<Sample>(sum / count);
      }
      for (const std::int64_t position : layer) {
        number_[at(position)] = depth > depth_limit ? deep : filled;
      }
      layer.swap(next);
    }
  }

  /// Reduces the squared Laplacian of `values`, which continue_known() has filled.
  template <typename Sample>
  void smooth(std::span<Sample> values) {
    find_holes();
    std::vector<std::size_t> parts;  // the first hole of each
    for (std::size_t hole = 0; hole + 1 < ends_.size(); ++hole) {
      if (parts.empty() || ends_[hole] - ends_[parts.back()] >= samples_per_part) {
        parts.push_back(hole);
      }
    }
    const std::size_t lanes = std::min(detail::host_threads(), parts.size());
    std::vector<detail::HoleSolver<Number>> solvers(lanes, detail::HoleSolver<Number>(axes_));
    detail::run_in_lanes(lanes, parts.size(), [&](std::size_t lane, std::size_t part) {
      const std::size_t last = part + 1 < parts.size() ? parts[part + 1] : ends_.size() - 1;
      for (std::size_t hole = parts[part]; hole < last; ++hole) {
        const std::span<const std::int64_t> samples(positions_.data() + ends_[hole],
                                                    ends_[hole + 1] - ends_[hole]);
        solvers[lane].solve(samples, std::span(number_), values);
      }
    });
  }

 private:
  using State = detail::SampleState<Number>;
  // Other states of samples that have no number.
  static constexpr Number is_known = State::known, unvisited = -2, is_next = -3, in_layer = -4,
                          filled = State::filled, deep = State::deep, in_hole = -7;

  static std::size_t at(std::int64_t position) { return static_cast<std::size_t>(position); }

  /// Lists the filled samples, hole by hole. Samples belong to one hole if they are neighbours or
  /// have a common neighbour, where the Laplacian depends on both.
  void find_holes() {
    ends_ = {0};
    for (std::size_t i = 0; i < number_.size(); ++i) {
      if (number_[i] != filled) continue;
      std::size_t next = positions_.size();
      const auto add = [&](std::int64_t position) {
        Number& state = number_[at(position)];
        if (state != filled) return;
        state = in_hole;
        positions_.push_back(position);
      };
      add(static_cast<std::int64_t>(i));
      for (; next < positions_.size(); ++next) {
        axes_.for_neighbours(positions_[next], [&](std::int64_t neighbour) {
          add(neighbour);
          axes_.for_neighbours(neighbour, add);
        });
      }
      ends_.push_back(positions_.size());
    }
  }

  std::vector<std::int64_t> first_layer() {
    std::vector<std::int64_t> layer;
    for (std::size_t i = 0; i < number_.size(); ++i) {
      if (number_[i] != unvisited) continue;
      const auto position = static_cast<std::int64_t>(i);
      bool touches_known = false;
      axes_.for_neighbours(position, [&](std::int64_t neighbour) {
        touches_known = touches_known || number_[at(neighbour)] == is_known;
      });
      if (touches_known) layer.push_back(position);
    }
    return layer;
  }

  detail::ArrayAxes axes_;
  std::vector<Number> number_;           ///< of each sample of the array, or its state
  std::vector<std::int64_t> positions_;  ///< the filled samples, hole by hole
  std::vector<std::size_t> ends_;        ///< 0, and where each hole ends in `positions_`
};

template <typename Number, typename Sample>
void fill(std::span<Sample> values, std::span<const std::uint8_t> known, const Shape& shape) {
  Fill<Number> missing(known, shape);
  missing.continue_known(values);
  missing.smooth(values);
}

template <typename Sample>
void fill_any(std::span<Sample> values, std::span<const std::uint8_t> known, const Shape& shape) {
  const auto count = static_cast<std::size_t>(shape.pixels());
  if (values.size() != count || known.size() != count) {
    throw Error(ErrorKind::invalid_argument,
                "fill_missing takes one value and one element of `known` for each of the " +
                    std::to_string(count) + " samples of the shape");
  }
  const auto num_known = count - static_cast<std::size_t>(std::ranges::count(known, 0));
  if (num_known == count) return;
  if (num_known == 0) {
    std::ranges::fill(values, Sample{0});
  } else if (count <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    fill<std::int32_t>(values, known, shape);
  } else {
    fill<std::int64_t>(values, known, shape);
  }
}

}  // namespace

void fill_missing(std::span<float> values, std::span<const std::uint8_t> known,
                  const Shape& shape) {
  fill_any(values, known, shape);
}

void fill_missing(std::span<double> values, std::span<const std::uint8_t> known,
                  const Shape& shape) {
  fill_any(values, known, shape);
}

}  // namespace warpalign

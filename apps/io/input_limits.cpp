// The size limit of images, frames and arrays that are read.
#include "io/input_limits.hpp"

#include <atomic>
#include <limits>

namespace warpalign::program {
namespace {

std::atomic<std::int64_t> chosen_max_pixels{std::numeric_limits<std::int64_t>::max()};

}  // namespace

void set_max_pixels(std::int64_t pixels) { chosen_max_pixels = pixels; }

std::int64_t max_pixels() { return chosen_max_pixels; }

}  // namespace warpalign::program

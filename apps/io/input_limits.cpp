// The size limit of images, frames and arrays that are read.
#include "io/input_limits.hpp"

#include <atomic>
#include <limits>

namespace warpalign::program {
namespace {

std::atomic<std::int64_t> chosen{std::numeric_limits<std::int64_t>::max()};

}  // namespace

void set_max_pixels(std::int64_t pixels) { chosen = pixels; }

std::int64_t max_pixels() { return chosen; }

}  // namespace warpalign::program

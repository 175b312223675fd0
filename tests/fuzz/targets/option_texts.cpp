// The values of options with their own parsers: numbers, extents, names of devices, shards of a
// stack.
#include "commands/stack_resume.hpp"
#include "io/npy.hpp"
#include "io/usage_error.hpp"
#include "options/interpolation_options.hpp"
#include "options/number_list.hpp"
#include "reader.hpp"

#include <cmath>

namespace warpalign::fuzz {
namespace {

using namespace program;

template <class Parse>
void refused_or(const Parse& parse) {
  try {
    parse();
  } catch (const UsageError&) {
  }
}

void run(Input input) {
  Reader reader(input);
  const std::string text = reader.text();
  refused_or([&] {
    for (const double number : parse_numbers("--matrix", text)) {
      require(std::isfinite(number), "numbers are finite");
    }
  });
  refused_or([&] {
    for (const std::int64_t extent : parse_extents("--shape", text)) {
      require(extent >= 1 && extent <= max_extent, "extents are within the limits");
    }
  });
  refused_or([&] {
    const Shard shard = shard_of(text);
    require(shard.number >= 1 && shard.number <= shard.of, "a part is one of all parts");
  });
  refused_or([&] {
    const SplineModel spline = spline_with_prefilter(text);
    require(spline_with_prefilter(prefilter_name(spline)) == spline,
            "a prefilter's name leads back to it");
  });
}

const Registration registration("option_texts", run);

}  // namespace
}  // namespace warpalign::fuzz

// Files of --initial: JSON and point pairs. The first byte selects the number of dimensions.
#include "io/image_file.hpp"
#include "io/initial_file.hpp"
#include "reader.hpp"

#include <algorithm>

namespace warpalign::fuzz {
namespace {

using namespace program;

void run(Input input) {
  Reader reader(input);
  const std::size_t dimensions = reader.byte() % 2 == 0 ? 2 : 3;
  try {
    const InitialFile initial = parse_initial(reader.text(), dimensions, "file");
    require(initial.matrix.empty() != initial.points.empty(), "a file holds one of both");
    require(initial.matrix.empty() || initial.matrix.size() == dimensions ||
                initial.matrix.size() == dimensions + 1,
            "a matrix has the rows of an affine transform or one more");
    const auto has = [](std::size_t count) {
      return [count](const std::vector<double>& row) { return row.size() == count; };
    };
    require(std::all_of(initial.matrix.begin(), initial.matrix.end(), has(dimensions + 1)),
            "rows are complete");
    require(std::all_of(initial.points.begin(), initial.points.end(), has(2 * dimensions)),
            "pairs of points are complete");
  } catch (const FileError&) {
  }
}

const Registration registration("initial", run);

}  // namespace
}  // namespace warpalign::fuzz

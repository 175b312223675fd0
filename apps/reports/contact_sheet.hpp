// Several pictures on one sheet.
#pragma once

#include "io/image_file.hpp"

#include <string>
#include <vector>

namespace warpalign::program {

struct SheetCell {
  std::string label;  ///< drawn below the picture in capitals; letters, digits and : . - + ( )
  LoadedImage picture;
};

/// The pictures, all of the same size, channels and 8 bits, in rows of `columns` with a thin white
/// gap, each with its label. Pictures with a side above `max_shown_side` are shrunk by a whole
/// number, averaging.
[[nodiscard]] LoadedImage draw_contact_sheet(const std::vector<SheetCell>& cells,
                                             std::size_t columns, std::int64_t max_shown_side);

}  // namespace warpalign::program

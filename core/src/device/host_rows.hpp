// The rows of an image in the caller's memory.
#pragma once

#include <warpalign/pixel.hpp>

namespace warpalign::detail {

/// Whether row_bytes is 0 or leads from one row to the next without an overlap.
[[nodiscard]] bool has_valid_rows(const HostImage& image) noexcept;
/// Throws Error(invalid_argument) that names the stage and `what` where it is not.
void check_rows(const char* stage, const char* what, const HostImage& image);
/// The bytes from one row to the next, of valid rows.
[[nodiscard]] std::size_t pitch_of(const HostImage& image) noexcept;
/// Whether nothing stands between the rows.
[[nodiscard]] bool is_dense(const HostImage& image) noexcept;
/// Copies the pixels row by row, without what stands between the rows.
void copy_rows(const HostImage& image, void* target) noexcept;

}  // namespace warpalign::detail

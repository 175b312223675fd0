// The rows of an image in the caller's memory.
#pragma once

#include <warpalign/pixel.hpp>

namespace warpalign::detail {

/// Whether row_bytes is 0 or at least the size of a row.
[[nodiscard]] bool has_valid_rows(const HostImage& image) noexcept;
/// Throws Error(invalid_argument), which names the stage and `what`, unless has_valid_rows().
void check_rows(const char* stage, const char* what, const HostImage& image);
/// The bytes from one row to the next. Requires valid rows.
[[nodiscard]] std::size_t pitch_of(const HostImage& image) noexcept;
/// Whether there is no padding between the rows.
[[nodiscard]] bool is_dense(const HostImage& image) noexcept;
/// Copies the pixels to dense rows.
void copy_rows(const HostImage& image, void* target) noexcept;

}  // namespace warpalign::detail

// The images of a template, read one by one, with a common mean and deviation of intensity.
#pragma once

#include <warpalign/pixel.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::detail {

/// An image, or a volume as the rows of all its planes, and its shape.
struct ArrayView {
  HostImage rows;
  Shape shape;
};

/// An image of a template, as its source gives it.
struct SourceArray {
  ArrayView samples;
  std::optional<ArrayView> mask{};
  std::shared_ptr<const void> owner{};
};

/// Dense samples.
struct FloatArray {
  Shape shape;
  std::vector<float> samples;
};

[[nodiscard]] ArrayView view_of(const HostImage& image);
[[nodiscard]] ArrayView view_of(const HostVolume& volume);

/// The arrays that a registrar accepts.
struct ArrayLimits {
  int dimensions = 2;
  std::int64_t min_side = 16;
};

/// Throws Error(invalid_argument), whose message begins with `what`, unless there are pixels of a
/// real type with sides within the limits.
void check_template_array(const ArrayView& array, const ArrayLimits& limits,
                          const std::string& what);

[[nodiscard]] FloatArray floats_of(const ArrayView& array);

/// The images of a template: each with the gain and the offset that give all of them the same mean
/// and the same standard deviation, the averages of theirs. Masked samples are NaN.
class EqualImages {
 public:
  using Source = std::function<SourceArray(std::size_t image)>;

  /// Reads each image once. Throws as check_template_array(), Error(invalid_argument) for a mask of
  /// another shape or type, and Error(invalid_image) for an image that is constant, or of which all
  /// samples are missing or masked.
  EqualImages(std::size_t count, Source source, const ArrayLimits& limits);

  [[nodiscard]] std::size_t count() const noexcept { return moments_.size(); }
  /// Reads an image. Samples that are not finite stay so.
  [[nodiscard]] FloatArray operator[](std::size_t image) const;

 private:
  struct Moments {
    Shape shape;
    bool has_mask = false;
    double mean = 0;
    double deviation = 0;
  };
  [[nodiscard]] SourceArray checked(std::size_t image) const;
  [[nodiscard]] Moments measured(std::size_t image) const;

  Source source_;
  ArrayLimits limits_;
  std::vector<Moments> moments_;
  Moments common_;
};

}  // namespace warpalign::detail

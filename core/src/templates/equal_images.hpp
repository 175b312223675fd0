// The images of a template, read one by one, with a common mean and deviation of intensity.
#pragma once

#include <warpalign/pixel.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace warpalign::detail {

/// An image, or a volume as the rows of all its planes, and its shape.
struct ArrayView {
  HostImage rows;
  Shape shape;
  std::shared_ptr<const void> owner{};
};

/// Dense samples.
struct FloatArray {
  Shape shape;
  std::vector<float> samples;
};

[[nodiscard]] ArrayView view_of(const HostImage& image, std::shared_ptr<const void> owner = {});
[[nodiscard]] ArrayView view_of(const HostVolume& volume, std::shared_ptr<const void> owner = {});

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
/// and the same standard deviation, the averages of theirs.
class EqualImages {
 public:
  using Source = std::function<ArrayView(std::size_t image)>;

  /// Reads each image once. Throws as check_template_array(), and Error(invalid_image) for an image
  /// that is constant or without finite samples.
  EqualImages(std::size_t count, Source source, const ArrayLimits& limits);

  [[nodiscard]] std::size_t count() const noexcept { return moments_.size(); }
  /// Reads an image. Samples that are not finite stay so.
  [[nodiscard]] FloatArray operator[](std::size_t image) const;

 private:
  struct Moments {
    Shape shape;
    double mean = 0;
    double deviation = 0;
  };
  [[nodiscard]] Moments measured(std::size_t image) const;

  Source source_;
  ArrayLimits limits_;
  std::vector<Moments> moments_;
  Moments common_;
};

}  // namespace warpalign::detail

// Interoperation with OpenCV: conversions between cv::Mat and warpalign's types, without copies of
// pixels. Header-only; warpalign itself does not link OpenCV.
#pragma once

#include <warpalign/error.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <opencv2/core.hpp>

#include <limits>
#include <string>

namespace warpalign::opencv {

/// The pixel type of a matrix type such as CV_8UC1. Throws Error(invalid_argument) for a type that
/// warpalign does not support, such as colour.
[[nodiscard]] inline PixelType pixel_type(int mat_type) {
  switch (mat_type) {
    case CV_8UC1:
      return PixelType::u8;
    case CV_8SC1:
      return PixelType::i8;
    case CV_16SC1:
      return PixelType::i16;
    case CV_32SC1:
      return PixelType::i32;
    case CV_64FC1:
      return PixelType::f64;
    case CV_16UC1:
      return PixelType::u16;
    case CV_16FC1:
      return PixelType::f16;
    case CV_32FC1:
      return PixelType::f32;
    case CV_32FC2:
      return PixelType::c32;
    default:
      break;
  }
  throw Error(ErrorKind::invalid_argument,
              "unsupported matrix type " + cv::typeToString(mat_type) +
                  ": a matrix must have one channel, or be CV_32FC2",
              {.stage = "opencv"});
}

/// The matrix type of a pixel type. Throws Error(invalid_argument) for u32, which OpenCV lacks.
[[nodiscard]] inline int mat_type(PixelType type) {
  switch (type) {
    case PixelType::u8:
      return CV_8UC1;
    case PixelType::i8:
      return CV_8SC1;
    case PixelType::i16:
      return CV_16SC1;
    case PixelType::i32:
      return CV_32SC1;
    case PixelType::f64:
      return CV_64FC1;
    case PixelType::f32:
      return CV_32FC1;
    case PixelType::u16:
      return CV_16UC1;
    case PixelType::f16:
      return CV_16FC1;
    case PixelType::c32:
      return CV_32FC2;
    case PixelType::u32:
      break;
  }
  throw Error(ErrorKind::invalid_argument,
              std::string("OpenCV has no matrix type for ") + name_of(type) + "; convert it first",
              {.stage = "opencv"});
}

/// A view of the pixels of a matrix, with its row pitch. The matrix must outlive the view. Throws
/// Error(invalid_argument) for a matrix that is empty or does not have two dimensions, and for an
/// unsupported type.
[[nodiscard]] inline HostImage host_image(const cv::Mat& mat) {
  if (mat.empty() || mat.dims != 2) {
    throw Error(ErrorKind::invalid_argument, "the matrix is empty or does not have two dimensions",
                {.stage = "opencv"});
  }
  return {mat.data, pixel_type(mat.type()), mat.cols, mat.rows,
          static_cast<std::int64_t>(mat.step[0])};
}

/// A matrix header for the pixels of a view. The pixels must outlive the matrix. Do not write to
/// the matrix: the view is read-only, which cv::Mat cannot express. Throws Error(invalid_argument)
/// for an image without pixels or with a side larger than INT_MAX.
[[nodiscard]] inline cv::Mat mat_over(const HostImage& image) {
  constexpr std::int64_t largest = std::numeric_limits<int>::max();
  if (image.data == nullptr || image.width < 1 || image.height < 1 || image.width > largest ||
      image.height > largest) {
    throw Error(ErrorKind::invalid_argument,
                "the image has no pixels, or a side too long for OpenCV", {.stage = "opencv"});
  }
  const auto pitch = image.row_bytes == 0 ? static_cast<std::size_t>(cv::Mat::AUTO_STEP)
                                          : static_cast<std::size_t>(image.row_bytes);
  return cv::Mat(static_cast<int>(image.height), static_cast<int>(image.width),
                 mat_type(image.type), const_cast<void*>(image.data), pitch);
}

/// The 2 x 3 matrix (CV_64F) of an affine transform, for cv::warpAffine. The matrix of a
/// registration maps reference to moving coordinates: pass the flag cv::WARP_INVERSE_MAP to warp
/// the moving image to the reference. Never throws Error.
[[nodiscard]] inline cv::Mat matrix(const Affine& transform) {
  return (cv::Mat_<double>(2, 3) << transform.a, transform.b, transform.c, transform.d, transform.e,
          transform.f);
}

/// The affine transform of a 2 x 3 matrix of CV_32F or CV_64F. Throws Error(invalid_argument) for
/// any other matrix.
[[nodiscard]] inline Affine affine(const cv::Mat& matrix) {
  if (matrix.dims != 2 || matrix.rows != 2 || matrix.cols != 3 || matrix.channels() != 1 ||
      (matrix.depth() != CV_64F && matrix.depth() != CV_32F)) {
    throw Error(ErrorKind::invalid_argument, "the matrix must be 2 x 3, of CV_32F or CV_64F",
                {.stage = "opencv"});
  }
  cv::Mat_<double> m;
  matrix.convertTo(m, CV_64F);
  return {m(0, 0), m(0, 1), m(0, 2), m(1, 0), m(1, 1), m(1, 2)};
}

}  // namespace warpalign::opencv

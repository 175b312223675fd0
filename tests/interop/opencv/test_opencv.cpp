// OpenCV's matrices as views. Needs no device.
#include <warpalign/interop/opencv.hpp>

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace {

using namespace warpalign;

}  // namespace

TEST_CASE("opencv: a matrix becomes a view of the same pixels, and the view a matrix") {
  const std::vector<std::pair<int, PixelType>> types{
      {CV_8UC1, PixelType::u8},   {CV_16UC1, PixelType::u16}, {CV_8SC1, PixelType::i8},
      {CV_16SC1, PixelType::i16}, {CV_32SC1, PixelType::i32}, {CV_64FC1, PixelType::f64},
      {CV_16FC1, PixelType::f16}, {CV_32FC1, PixelType::f32}, {CV_32FC2, PixelType::c32}};
  for (const auto& [mat_type, type] : types) {
    CAPTURE(name_of(type));
    const cv::Mat whole(40, 60, mat_type, cv::Scalar(0));
    const cv::Mat part = whole(cv::Rect(8, 4, 32, 16));
    const HostImage view = opencv::host_image(part);
    CHECK(view.data == part.data);
    CHECK(view.type == type);
    CHECK(view.width == 32);
    CHECK(view.height == 16);
    CHECK(view.row_bytes == static_cast<std::int64_t>(60 * size_of(type)));
    const cv::Mat again = opencv::mat_over(view);
    CHECK(again.data == part.data);
    CHECK(again.type() == mat_type);
    CHECK(again.size() == part.size());
    CHECK(again.step[0] == part.step[0]);
  }
  const std::vector<float> dense(12);
  const cv::Mat mat = opencv::mat_over({dense.data(), PixelType::f32, 4, 3});
  CHECK(mat.step[0] == 16);
}

TEST_CASE("opencv: unsupported matrices are refused") {
  CHECK_THROWS_WITH_AS((void)opencv::host_image(cv::Mat(4, 4, CV_8UC3)),
                       doctest::Contains("CV_8UC3"), Error);
  CHECK_THROWS_AS((void)opencv::host_image(cv::Mat(4, 4, CV_32FC3)), Error);
  CHECK_THROWS_AS((void)opencv::mat_type(PixelType::u32), Error);
  CHECK_THROWS_WITH_AS((void)opencv::host_image(cv::Mat()), doctest::Contains("empty"), Error);
  const int sizes[3] = {2, 3, 4};
  CHECK_THROWS_AS((void)opencv::host_image(cv::Mat(3, sizes, CV_8UC1)), Error);
  CHECK_THROWS_AS((void)opencv::mat_over({}), Error);
  const char pixel = 0;
  CHECK_THROWS_AS((void)opencv::mat_over({&pixel, PixelType::u8, std::int64_t{1} << 32, 1}), Error);
}

TEST_CASE("opencv: matrices of transforms are converted both ways") {
  const Affine transform{1, 2, 3, 4, 5, 6};
  const cv::Mat matrix = opencv::matrix(transform);
  REQUIRE(matrix.type() == CV_64FC1);
  REQUIRE(matrix.size() == cv::Size(3, 2));
  // Row by row, as cv::warpAffine reads it: x' = m00 x + m01 y + m02.
  for (int i = 0; i < 6; ++i) CHECK(matrix.at<double>(i / 3, i % 3) == i + 1);
  const Affine again = opencv::affine(matrix);
  CHECK(again(Point{7, 8}).x == transform(Point{7, 8}).x);
  CHECK(again(Point{7, 8}).y == transform(Point{7, 8}).y);
  cv::Mat single;
  matrix.convertTo(single, CV_32F);
  CHECK(opencv::affine(single).f == 6);
  CHECK_THROWS_AS((void)opencv::affine(cv::Mat(3, 3, CV_64F)), Error);
  CHECK_THROWS_AS((void)opencv::affine(cv::Mat(2, 3, CV_8U)), Error);
}

// Registers cv::Mat images without copies on the host. The images are parts of a larger one, so
// their rows are not dense.
#include <warpalign/interop/opencv.hpp>
#include <warpalign/warpalign.hpp>

#include <opencv2/core.hpp>

#include <cmath>
#include <cstdio>

namespace {

cv::Mat picture(int width, int height) {
  cv::Mat image(height, width, CV_8UC1);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.at<unsigned char>(y, x) =
          cv::saturate_cast<unsigned char>(127 + 60 * std::sin(0.05 * x + 2 * std::sin(0.03 * y)) +
                                           60 * std::cos(0.08 * y + 3 * std::sin(0.011 * x)));
    }
  }
  return image;
}

int run() {
  namespace opencv = warpalign::opencv;
  const cv::Mat scene = picture(600, 560);
  const cv::Mat reference = scene(cv::Rect(0, 0, 512, 512));
  const cv::Mat moving = scene(cv::Rect(17, 9, 512, 512));

  warpalign::Registrar registrar(warpalign::open_device());
  registrar.set_reference(opencv::host_image(reference));
  const auto found = registrar.align(opencv::host_image(moving));
  // Pass this matrix to cv::warpAffine, with the flag cv::WARP_INVERSE_MAP, to warp the moving
  // image to the reference.
  const cv::Mat matrix = opencv::matrix(found.matrix);
  std::printf("shifted by %.3f, %.3f\n", matrix.at<double>(0, 2), matrix.at<double>(1, 2));
  const bool right =
      std::abs(matrix.at<double>(0, 2) + 17) < 0.05 && std::abs(matrix.at<double>(1, 2) + 9) < 0.05;
  return right && found.reliable ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

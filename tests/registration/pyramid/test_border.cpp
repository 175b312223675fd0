// The constant border around an image's content.
#include "registration/pyramid/border.hpp"

#include "registration/fitting/random_values.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using test::random_values;
using warpalign::detail::BorderSearch;
using warpalign::detail::GreyImage;

/// The content mask of an image of 0.5 in which some areas have other values.
std::vector<std::uint8_t> content_of(BorderSearch& search, std::int64_t width,
                                     const std::vector<float>& values, int margin) {
  const auto height = static_cast<std::int64_t>(values.size()) / width;
  const auto found = search.content(GreyImage{width, height, values, 0, 1}, margin);
  return found ? std::vector<std::uint8_t>(found->begin(), found->end())
               : std::vector<std::uint8_t>{};
}

}  // namespace

TEST_CASE("border: found around the content, whatever the previous image was") {
  constexpr std::int64_t width = 96, height = 80, frame = 12;
  std::vector<float> framed = random_values(width * height, 10, 200);
  const std::vector<float> whole = framed;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const bool outside = std::min({x, y, width - 1 - x, height - 1 - y}) < frame;
      if (outside) framed[static_cast<std::size_t>(y * width + x)] = 0;
    }
  }
  BorderSearch search;
  for (int pass = 0; pass < 2; ++pass) {
    const auto content = search.content(GreyImage{width, height, framed, 0, 200}, 2);
    REQUIRE(content);
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const bool inside = std::min({x, y, width - 1 - x, height - 1 - y}) >= frame + 2;
        if ((*content)[static_cast<std::size_t>(y * width + x)] != (inside ? 1 : 0)) {
          FAIL("at ", x, ", ", y);
        }
      }
    }
    CHECK_FALSE(search.content(GreyImage{width, height, whole, 10, 200}, 2));
  }
}

TEST_CASE("border: areas of one value, connected to an edge or corner, and none in the middle") {
  constexpr std::int64_t width = 40, height = 30;
  const std::vector<float> texture = random_values(width * height, 0.1F, 1);
  const auto at = [](std::int64_t x, std::int64_t y) {
    return static_cast<std::size_t>(y * width + x);
  };
  struct Area {
    std::int64_t left, top, right, bottom;  // right and bottom are exclusive
  };
  BorderSearch search;
  // An area at each edge, which touches it in a few pixels only, and one at each corner.
  for (const Area& area : {Area{0, 10, 4, 16}, Area{36, 10, 40, 16}, Area{10, 0, 16, 4},
                           Area{10, 26, 16, 30}, Area{0, 0, 5, 5}, Area{35, 25, 40, 30}}) {
    CAPTURE(area.left);
    CAPTURE(area.top);
    std::vector<float> image = texture;
    const auto is_in = [](const Area& of, std::int64_t x, std::int64_t y, std::int64_t wider = 0) {
      return x >= of.left - wider && x < of.right + wider && y >= of.top - wider &&
             y < of.bottom + wider;
    };
    // Another area of the same value that touches no edge is content.
    constexpr Area inner{18, 12, 26, 20};
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        if (is_in(area, x, y) || is_in(inner, x, y)) image[at(x, y)] = 0;
      }
    }
    for (const int margin : {0, 1, 3}) {
      const auto content = content_of(search, width, image, margin);
      REQUIRE(content.size() == image.size());
      std::size_t wrong = 0;
      for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
          wrong += content[at(x, y)] != (is_in(area, x, y, margin) ? 0 : 1) ? 1U : 0U;
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("border: two values are two areas; tiny, huge or thin areas are no border") {
  constexpr std::int64_t width = 100, height = 100;
  const std::vector<float> texture = random_values(width * height, 0.1F, 0.9F);
  BorderSearch search;
  const auto with = [&](std::int64_t left, std::int64_t right) {
    std::vector<float> image = texture;
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < left; ++x) image[static_cast<std::size_t>(y * 100 + x)] = 0;
      for (std::int64_t x = 100 - right; x < 100; ++x) {
        image[static_cast<std::size_t>(y * 100 + x)] = 1;
      }
    }
    return image;
  };
  const auto border_of = [&](const std::vector<float>& image) {
    const auto content = content_of(search, width, image, 0);
    return content.empty()
               ? 0
               : content.size() -
                     static_cast<std::size_t>(std::count(content.begin(), content.end(), 1));
  };
  CHECK(border_of(texture) == 0);
  CHECK(border_of(with(10, 0)) == 1000);
  CHECK(border_of(with(10, 7)) == 1700);
  CHECK(border_of(with(1, 0)) == 100);  // a hundredth of the image
  CHECK(border_of(with(60, 9)) == 6900);
  CHECK(border_of(with(60, 11)) == 0);  // less than three tenths of the image would be left
  // A line of 90 pixels has less than a hundredth of the image; three isolated pixels may be a
  // coincidence.
  std::vector<float> line = texture;
  for (std::size_t y = 0; y < 90; ++y) line[y * 100] = 0;
  CHECK(border_of(line) == 0);
  std::vector<float> spots = with(10, 0);
  for (const std::size_t at : {20U, 40U, 60U}) spots[at] = 0;  // alone in the top row
  CHECK(border_of(spots) == 1000);
  // Values that differ by the rounding of means are equal, values that differ by a thousandth are
  // not.
  std::vector<float> uneven = with(10, 0);
  std::mt19937 random(8);
  std::uniform_real_distribution<float> rounding(-4e-6F, 4e-6F);
  for (std::size_t y = 0; y < 100; ++y) {
    for (std::size_t x = 0; x < 10; ++x) uneven[y * 100 + x] = rounding(random);
    if (y >= 50 && y < 70) uneven[y * 100 + 5] = 1e-3F;
  }
  CHECK(border_of(uneven) == 1000 - 20);
  // The unit does not matter: intensities of 0 to 200 or of 0 to 0.01 give the same border.
  for (const float unit : {200.0F, 0.01F}) {
    std::vector<float> scaled = uneven;
    for (float& value : scaled) value *= unit;
    const auto content = search.content(GreyImage{width, height, scaled, 0, unit}, 0);
    REQUIRE(content);
    CHECK(std::count(content->begin(), content->end(), 0) == 1000 - 20);
  }
  // Letters on a page: dilated by two pixels, the page would mask most of the rest.
  std::vector<float> letters(texture.size(), 1);
  for (std::size_t y = 10; y < 90; ++y) {
    for (std::size_t x = 10; x < 90; ++x) {
      if (x % 4 < 2) letters[y * 100 + x] = texture[y * 100 + x];
    }
  }
  CHECK(content_of(search, width, letters, 0).size() == 10000);
  CHECK(content_of(search, width, letters, 2).empty());
  CHECK_FALSE(search.content(GreyImage{0, 5, {}, 0, 1}, 1));
  CHECK_FALSE(search.content(GreyImage{5, 0, {}, 0, 1}, 1));
}

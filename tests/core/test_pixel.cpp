// The names and sizes of pixel types, which files and interfaces rely on.
#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <doctest/doctest.h>
#include <string>

using warpalign::PixelType;

TEST_CASE("pixel: every type has its name, and the size in its name") {
  struct Expected {
    PixelType type;
    const char* name;
    std::size_t size;
  };
  for (const auto& [type, name, size] : {Expected{PixelType::u8, "u8", 1},
                                         {PixelType::i8, "i8", 1},
                                         {PixelType::u16, "u16", 2},
                                         {PixelType::i16, "i16", 2},
                                         {PixelType::u32, "u32", 4},
                                         {PixelType::i32, "i32", 4},
                                         {PixelType::f16, "f16", 2},
                                         {PixelType::f32, "f32", 4},
                                         {PixelType::f64, "f64", 8},
                                         {PixelType::c32, "c32", 8}}) {
    CAPTURE(name);
    CHECK(std::string(warpalign::name_of(type)) == name);
    CHECK(warpalign::size_of(type) == size);
  }
}

TEST_CASE("pixel: a shape is printed with its depth if it has one") {
  CHECK(warpalign::to_string(warpalign::Shape{3, 4, 1}) == "3 x 4");
  CHECK(warpalign::to_string(warpalign::Shape{3, 4, 5}) == "3 x 4 x 5");
}

// Arrays for the interpolation commands' tests.
#include "program/arrays.hpp"

#include "support/compare.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace warpalign::test {

using program::Array;

void save_npy(const std::string& path, const Array& array) {
  const std::vector<std::byte> bytes = program::write_npy(array);
  write_text(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Array array_of(const std::vector<std::int64_t>& extents, const std::vector<float>& numbers) {
  Array array = program::make_array(extents, PixelType::f32);
  REQUIRE(array.samples<float>().size() == numbers.size());
  std::copy(numbers.begin(), numbers.end(), array.samples<float>().begin());
  return array;
}

Array random_array(const std::vector<std::int64_t>& extents, PixelType type) {
  std::mt19937 engine(7);
  Array array = program::make_array(extents, type);
  if (type == PixelType::u8 || type == PixelType::u16) {
    for (std::byte& byte : array.bytes) byte = static_cast<std::byte>(engine() & 0xffU);
    return array;
  }
  for (float& number : array.samples<float>()) {
    number = static_cast<float>(engine() >> 8U) * 0x1p-23F - 1;
  }
  return array;
}

std::vector<float> numbers_of(const Array& array) {
  const auto samples = array.samples<float>();
  return {samples.begin(), samples.end()};
}

double max_difference(const Array& a, const Array& b) {
  const auto of_a = a.samples<float>();
  const auto of_b = b.samples<float>();
  REQUIRE(a.extents == b.extents);
  return ::test::max_of(of_a, of_b, [](float found, float expected) {
    return std::abs(static_cast<double>(found) - static_cast<double>(expected));
  });
}

void run_successfully(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--device", test_device()});
  const Outcome outcome = run_program(arguments);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
}

void check_refused(const Outcome& outcome, int status, const std::vector<std::string>& named) {
  CAPTURE(outcome.err);
  CHECK(outcome.status == status);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("warpalign: "));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  for (const std::string& name : named) {
    CAPTURE(name);
    CHECK(outcome.err.find(name) != std::string::npos);
  }
}

}  // namespace warpalign::test

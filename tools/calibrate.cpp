// Measures how the significance of a registration separates pairs that were registered
// rightly from unrelated ones, on pairs cut from the photographs of tests/data. Not a test: its
// output is what docs/accuracy-confidence.md reports and what the confidence was calibrated with.
//
//   calibrate [--fast] [device] [pairs per photograph]
//
// --fast: the registration paper's pipeline.
#include "support/corners.hpp"
#include "support/photographs.hpp"

#include <warpalign/open_device.hpp>
#include <warpalign/registrar.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

const std::vector<std::string> names{"bridge.jpg", "bee.jpg",    "citrus.jpg",
                                     "hubble.jpg", "retina.jpg", "gravel.png"};

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_()) / 4294967296.0;
  }

 private:
  std::mt19937 engine_;
};

struct Setting {
  warpalign::Shape shape;
  double pixel;
};

warpalign::RegistrationResult run(warpalign::Registrar& registrar, const reference::Plane& a,
                                  const reference::Plane& b) {
  using warpalign::PixelType;
  const auto r = test::rounded<std::uint8_t>(a);
  const auto m = test::rounded<std::uint8_t>(b);
  registrar.set_reference({r.data(), PixelType::u8, a.width, a.height});
  return registrar.align({m.data(), PixelType::u8, b.width, b.height});
}

warpalign::Similarity random_similarity(Random& random, double side) {
  return {random.between(-180, 180),
          std::exp(random.between(std::log(0.55), std::log(1.8))),
          {random.between(-0.15, 0.15) * side, random.between(-0.15, 0.15) * side}};
}

void print_quantiles(const char* what, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double q) {
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
  };
  std::printf(
      "%-34s n %4zu  min %7.2f  1%% %7.2f  5%% %7.2f  median %7.2f  95%% %7.2f  99%% %7.2f  "
      "max %7.2f\n",
      what, values.size(), at(0), at(0.01), at(0.05), at(0.5), at(0.95), at(0.99), at(1));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  warpalign::RegistrationOptions options;
  options.fast = std::erase(arguments, "--fast") > 0;
  const std::string device_name = arguments.empty() ? "" : arguments[0];
  const int pairs = arguments.size() > 1 ? std::stoi(arguments[1]) : 20;
  const warpalign::Device device = warpalign::open_device(device_name);
  warpalign::Registrar registrar(device, options);
  Random random(1);

  std::vector<reference::Plane> photographs;
  for (const auto& name : names) photographs.push_back(test::photograph(name));

  for (const Setting& setting : {Setting{{256, 256, 1}, 1.5}, Setting{{512, 512, 1}, 1.2}}) {
    const double side = static_cast<double>(setting.shape.width);
    std::vector<double> right, wrong, unrelated;
    std::vector<reference::Plane> cuts;
    for (std::size_t p = 0; p < photographs.size(); ++p) {
      int solved = 0;
      for (int k = 0; k < pairs; ++k) {
        const auto pair = test::cut(
            photographs[p],
            {setting.shape, setting.shape, random_similarity(random, side), setting.pixel});
        const auto found = run(registrar, pair.reference, pair.moving);
        const bool good =
            test::max_corner_distance(found.matrix, pair.truth, setting.shape) < 0.03 * side;
        (good ? right : wrong).push_back(found.significance);
        solved += good ? 1 : 0;
        cuts.push_back(pair.moving);
        if (k == 0) cuts.push_back(pair.reference);
      }
      std::printf("%s at %.0f: %d of %d solved\n", names[p].c_str(), side, solved, pairs);
    }
    const std::size_t per = cuts.size() / photographs.size();
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      for (int k = 0; k < 8; ++k) {
        const auto j =
            static_cast<std::size_t>(random.between(0, static_cast<double>(cuts.size())));
        if (i / per == j / per) continue;
        unrelated.push_back(run(registrar, cuts[i], cuts[j]).significance);
      }
    }
    print_quantiles("registered rightly", right);
    if (!wrong.empty()) print_quantiles("related, registered wrongly", wrong);
    print_quantiles("unrelated", unrelated);
  }
  return 0;
}

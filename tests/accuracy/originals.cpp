// The originals that pairs are drawn from, and which of them serve tuning and which reporting.
#include "accuracy/originals.hpp"

#include "accuracy/synthetic.hpp"
#include "io/image_file.hpp"

#include <algorithm>

namespace accuracy {

namespace {

struct Known {
  const char* name;
  Use use;
  bool faint;
  Scene (*make)(std::int64_t side);  // null: a photograph of that name
};

// The sets share no photograph, no random numbers, and differ in the kinds and sizes of shapes.
constexpr Known known[] = {
    {"bridge.jpg", Use::tune, false, nullptr},
    {"leaves-tune", Use::tune, false, [](std::int64_t n) { return leaves(n, 11, 4, 15); }},
    {"bee.jpg", Use::tune, false, nullptr},
    {"clouds-tune", Use::tune, false,
     [](std::int64_t n) { return clouds(n, 12, 256, 4, 0.6, 40); }},
    {"gravel.png", Use::tune, false, nullptr},
    {"spots-tune", Use::tune, false, [](std::int64_t n) { return spots(n, 13, 2, 12, 500); }},
    {"smooth-tune", Use::tune, true, [](std::int64_t n) { return clouds(n, 14, 256, 64, 1, 20); }},
    {"sparse-tune", Use::tune, true, [](std::int64_t n) { return sparse_spots(n, 15); }},

    {"citrus.jpg", Use::report, false, nullptr},
    {"leaves-report", Use::report, false, [](std::int64_t n) { return leaves(n, 21, 8, 0); }},
    {"hubble.jpg", Use::report, false, nullptr},
    {"clouds-report", Use::report, false,
     [](std::int64_t n) { return clouds(n, 22, 128, 4, 0.7, 30); }},
    {"retina.jpg", Use::report, false, nullptr},
    {"strokes-report", Use::report, false, [](std::int64_t n) { return strokes(n, 23); }},
    {"smooth-report", Use::report, true,
     [](std::int64_t n) { return clouds(n, 24, 128, 32, 1, 12); }},
    {"sparse-report", Use::report, true, [](std::int64_t n) { return sparse_spots(n, 25); }},
};

Scene photograph(const std::string& name) {
  const auto image = warpalign::program::load_image(std::string(WARPALIGN_TEST_DATA) + "/" + name);
  Scene scene(image.width, image.height, Outside::mirror);
  const auto samples = image.samples<std::uint8_t>();
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      scene.at(x, y) = samples[static_cast<std::size_t>((y * image.width + x) * image.channels)];
    }
  }
  return scene;
}

/// Room for a picture whose pixels cover six points, the most that a scale of 4 asks for, as far
/// as memory allows: 6144 x 6144 points are 151 MB.
std::int64_t raster_side(std::int64_t side) {
  return std::clamp<std::int64_t>((7 * side + 255) / 256 * 256, 2048, 6144);
}

const Known& find(const std::string& name) {
  return *std::find_if(std::begin(known), std::end(known),
                       [&](const Known& one) { return one.name == name; });
}

}  // namespace

Originals::Originals(Use use, std::int64_t side) : raster_side_(raster_side(side)) {
  for (const Known& one : known) {
    if (use == Use::all || one.use == use) entries_.push_back({one.name, one.faint, nullptr});
  }
}

std::vector<std::size_t> Originals::those(bool faint) const {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].faint == faint) numbers.push_back(i);
  }
  return numbers;
}

std::vector<std::size_t> Originals::textured() const { return those(false); }
std::vector<std::size_t> Originals::faint() const { return those(true); }

const std::string& Originals::name(std::size_t number) const { return entries_.at(number).name; }

const Scene& Originals::scene(std::size_t number) const {
  const Entry& entry = entries_.at(number);
  if (!entry.scene) {
    const Known& one = find(entry.name);
    entry.scene = std::make_unique<Scene>(one.make ? one.make(raster_side_) : photograph(one.name));
  }
  return *entry.scene;
}

}  // namespace accuracy

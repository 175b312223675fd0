// Writes pairs to files, for programs that are not linked with the library.
#include "evaluate/dump.hpp"

#include "evaluate/report.hpp"
#include "io/atomic_file.hpp"
#include "io/image_file.hpp"

#include <cstring>
#include <span>

namespace accuracy {

namespace {

using warpalign::program::FileError;

void write_png(const std::filesystem::path& path, const Picture& picture) {
  auto image = warpalign::program::make_image(picture.shape.width, picture.shape.height, 1,
                                              warpalign::PixelType::u8);
  std::memcpy(image.pixels.data(), picture.pixels.data(), picture.pixels.size());
  warpalign::program::save_image(path, image);
}

}  // namespace

Dump::Dump(const std::filesystem::path& folder) : folder_(folder) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw FileError(folder_.string() + ": " + error.message());
  if (std::filesystem::exists(folder_ / "truth.json")) {
    throw FileError(folder_.string() + ": holds pairs already; name a new folder");
  }
}

void Dump::add(const std::string& group, std::size_t index, const Pair& pair) {
  const std::string stem = group + "-" + std::to_string(index);
  write_png(folder_ / (stem + "-reference.png"), pair.reference);
  write_png(folder_ / (stem + "-moving.png"), pair.moving);
  nlohmann::ordered_json one{{"group", group},
                             {"index", index},
                             {"reference", stem + "-reference.png"},
                             {"moving", stem + "-moving.png"}};
  one.update(pair_json(pair));
  pairs_.push_back(std::move(one));
}

void Dump::commit(nlohmann::ordered_json about) {
  about["pairs"] = pairs_;
  warpalign::program::AtomicFile file(folder_ / "truth.json");
  const std::string text = about.dump(1) + "\n";
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace accuracy

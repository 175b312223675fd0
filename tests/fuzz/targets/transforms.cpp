// Files of transforms: JSON and the formats of other tools. The first byte selects the format.
#include "io/nifti_field.hpp"
#include "io/transform_file.hpp"
#include "reader.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace warpalign::fuzz {
namespace {

using transform_files::Format;
using transform_files::Geometry;
using transform_files::TransformFile;

Geometry images() {
  const PointGrid reference{.shape = {8, 7, 6}, .origin = {1, 2, 3}, .spacing = {1.5, 2, 2.5}};
  return {reference, PointGrid{.shape = {5, 6, 7}, .spacing = {1, 1, 3}}};
}

/// Whether what was read can be written in the format, so that it is read again as the same.
bool comes_back(Format format, const TransformFile& file) {
  // Fields in .npy are written at the reference's pixels, in single precision.
  if (format == Format::npy && !file.transforms.front().matrix()) return false;
  return format == Format::itk || format == Format::itk_matlab || format == Format::afni ||
         format == Format::npy;
}

void check(const TransformFile& file) {
  require(!file.transforms.empty(), "a file that is accepted has a transform");
  for (const Transform& transform : file.transforms) {
    const auto matrix = transform.matrix();
    require(!matrix || std::all_of(matrix->m.begin(), matrix->m.end(),
                                   [](double value) { return std::isfinite(value); }),
            "matrices are finite");
    static_cast<void>(transform(Point3{1, 2, 3}));
  }
}

void write_again(Format format, const TransformFile& file) {
  std::string bytes;
  try {
    bytes = transform_files::write(format, file.transforms, images());
  } catch (const Error&) {
    return;  // a singular matrix, for example
  }
  if (!comes_back(format, file)) return;
  const TransformFile again = transform_files::read(format, bytes, {});
  require(again.transforms == file.transforms, "a file that is written is read as the same");
}

void run_field(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  const transform_files::FieldImage image = [&] {
    try {
      return program::read_field_image(bytes);
    } catch (const program::FileError& error) {
      throw Error(ErrorKind::invalid_argument, error.what());
    }
  }();
  for (const std::string_view name : transform_files::field_format_names()) {
    const auto format = *transform_files::field_format_named(name);
    try {
      const TransformFile file = transform_files::read_field(format, image, images());
      check(file);
      const auto again = transform_files::write_field(format, file.transforms.front(), images());
      require(program::write_field_image(again, false).size() > again.samples.size(),
              "what is read can be written");
    } catch (const Error& error) {
      require(error.kind() == ErrorKind::invalid_argument, "wrong files are the caller's fault");
    }
  }
}

void run_npz(const std::string& text) {
  const TransformFile file = transform_files::read_npz(text);
  check(file);
  const TransformFile again = transform_files::read_npz(transform_files::write_npz(file));
  require(again.transforms == file.transforms, "an archive that is written is read as the same");
}

void run(Input input) {
  Reader reader(input);
  const std::size_t number = reader.byte() % (transform_files::format_names().size() + 4);
  const std::string text = reader.text();
  try {
    if (number == transform_files::format_names().size()) {
      check(program::parse_transform_json(text));
    } else if (number == transform_files::format_names().size() + 2) {
      run_field(text);
    } else if (number == transform_files::format_names().size() + 3) {
      run_npz(text);
    } else if (number > transform_files::format_names().size()) {
      const auto landmarks = transform_files::read_bigwarp(text);
      require(landmarks.moving.size() == landmarks.reference.size(), "points come in pairs");
      require(transform_files::read_bigwarp(transform_files::write_bigwarp(landmarks)).moving ==
                  landmarks.moving,
              "landmarks that are written are read as the same");
    } else {
      const auto format = static_cast<Format>(number);
      const TransformFile file = transform_files::read(format, text, images());
      check(file);
      write_again(format, file);
    }
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::invalid_argument, "wrong files are the caller's fault");
  }
}

const Registration registration("transforms", run);

}  // namespace
}  // namespace warpalign::fuzz

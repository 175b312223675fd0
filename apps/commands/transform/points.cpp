// `warpalign transform points`.
#include "commands/transform/commands.hpp"
#include "commands/transform/options.hpp"
#include "io/image_file.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/file_names.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <string_view>

namespace warpalign::program {
namespace {

struct Options {
  TransformOptions transform;
  std::string file;
  std::string input;
  std::string output;
  int frame = 0;
  bool inverse = false;
  bool world = false;
};

/// The lines of a table: those that are no points, such as a header, are copied.
struct Points {
  std::string header;
  std::vector<double> coordinates;
};

/// The numbers of a line, separated by commas, semicolons or blanks; nothing if it has other words.
std::optional<std::vector<double>> numbers_of(std::string_view line) {
  constexpr std::string_view separators = ",; \t\r";
  std::vector<double> numbers;
  while (true) {
    const std::size_t first = line.find_first_not_of(separators);
    if (first == std::string_view::npos) return numbers;
    line.remove_prefix(first);
    const std::string_view word = line.substr(0, line.find_first_of(separators));
    double number = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (code != std::errc{} || end != word.data() + word.size() || !std::isfinite(number)) {
      return std::nullopt;
    }
    numbers.push_back(number);
    line.remove_prefix(word.size());
  }
}

Points points_of(const std::string& text, int dimensions, const std::string& name) {
  Points points;
  std::string_view rest = text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    const auto numbers = numbers_of(line);
    if (number == 1 && !numbers) {
      points.header = std::string(line) + "\n";
      continue;
    }
    if (numbers && numbers->empty()) continue;
    if (!numbers || numbers->size() != static_cast<std::size_t>(dimensions)) {
      throw FileError(fmt::format("{}: line {} is not {} numbers, the coordinates of a point",
                                  name == "-" ? "standard input" : name, number, dimensions));
    }
    points.coordinates.insert(points.coordinates.end(), numbers->begin(), numbers->end());
  }
  return points;
}

std::string text_of(const Points& points, std::size_t dimensions) {
  std::string text = points.header;
  for (std::size_t i = 0; i < points.coordinates.size(); ++i) {
    text += fmt::format("{}{}", points.coordinates[i], (i + 1) % dimensions == 0 ? "\n" : ",");
  }
  return text;
}

Transform chosen_transform(const Options& options) {
  const transform_files::TransformFile file = options.transform.load(options.file);
  const auto count = static_cast<int>(file.transforms.size());
  if (options.frame < 0 || options.frame >= count) {
    throw UsageError(
        fmt::format("--frame {}: {} holds {} transforms", options.frame, options.file, count));
  }
  Transform transform = file.transforms[static_cast<std::size_t>(options.frame)];
  if (!options.world) {
    transform = in_pixels(transform, file.geometry, options.file);
  } else if (transform.coordinates() == Coordinates::pixels) {
    if (!file.geometry.reference || !file.geometry.moving) {
      throw UsageError(
          fmt::format("--world: {} maps pixels; give --reference and --moving", options.file));
    }
    transform = transform.in_coordinates(Coordinates::world, *file.geometry.reference,
                                         *file.geometry.moving);
  }
  return options.inverse ? inverse_of(transform, options.file) : transform;
}

ExitStatus run(const Options& options) {
  check_outputs({{"OUT", options.output, true}}, {options.file, options.input});
  if (options.file == "-" && options.input == "-") {
    throw UsageError("-: only one of TRANSFORM and POINTS can be standard input");
  }
  const Transform transform = chosen_transform(options);
  Points points = points_of(read_bytes(options.input), transform.dimensions(), options.input);
  transform.points(points.coordinates, points.coordinates);
  write_bytes(options.output, text_of(points, static_cast<std::size_t>(transform.dimensions())));
  return ExitStatus::ok;
}

constexpr const char* footer =
    "POINTS: a line x,y or x,y,z for each point, with commas, semicolons or blanks; the first "
    "line\n"
    "may be a header, which is copied. Pixel centres have integer coordinates. Points of the\n"
    "reference become points of the moving image; --inverse takes annotations of the moving image\n"
    "back. A point for which the inverse of a field is not found becomes nan.\n"
    "\n"
    "Examples:\n"
    "  warpalign transform points found.json landmarks.csv mapped.csv\n"
    "  warpalign transform points found.json - - --inverse < cells.csv > in-reference.csv\n"
    "  warpalign transform points 0GenericAffine.mat seeds.csv - --world\n";

}  // namespace

void add_transform_points_command(CLI::App& parent, Action& chosen) {
  CLI::App& command = add_command(parent, "points", "Map points of the reference");
  auto options = std::make_shared<Options>();
  add_option(command, "TRANSFORM", &options->file, "The file of the transform, or -", required);
  add_option(command, "POINTS", &options->input, "The points (.csv), or -", required);
  add_option(command, "OUT", &options->output, "The file to write, or -", required);
  add_option(command, "--inverse", &options->inverse, "Map points of the moving image");
  add_option(command, "--world", &options->world,
             "Points are in millimetres x, y, z (LPS) [pixels]");
  add_option(command, "--frame N", &options->frame, "Which transform of a stack, from 0",
             with_default);
  add_transform_options(command, options->transform);
  add_limit_options(command);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program

// elastix' TransformParameters: lines of (Name value value ...), in ITK's world coordinates. The
// direction matrices are given column by column.
#include "fields.hpp"
#include "formats.hpp"
#include "itk.hpp"
#include "matrices.hpp"
#include "text.hpp"

#include <map>
#include <utility>

namespace warpalign::transform_files {
namespace {

class Parameters {
 public:
  explicit Parameters(std::string_view text) {
    Lines lines(text);
    while (const auto line = lines.next()) {
      const std::string_view entry = trimmed(line->substr(0, line->find("//")));
      if (entry.empty()) continue;
      if (entry.front() != '(' || entry.back() != ')') {
        refuse("'" + std::string(entry.substr(0, 40)) + "' is not of the form (Name value ...)");
      }
      const std::string_view inner = trimmed(entry.substr(1, entry.size() - 2));
      const std::size_t end = inner.find_first_of(" \t");
      const std::string_view value = end == std::string_view::npos ? "" : inner.substr(end);
      values_[std::string(inner.substr(0, end))] = trimmed(value);
    }
  }

  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
  /// A text without its quotes, or `other` if it is missing.
  [[nodiscard]] std::string word(const std::string& name, const std::string& other) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return other;
    std::string_view value = found->second;
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    return std::string(value);
  }
  [[nodiscard]] std::vector<double> numbers(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) refuse("'(" + name + " ...)' is missing");
    return numbers_of(found->second, name);
  }
  [[nodiscard]] std::vector<double> numbers(const std::string& name, std::size_t count) const {
    std::vector<double> all = numbers(name);
    expect_count(all, count, name);
    return all;
  }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// The grid of an image ("") or of a B-spline ("Grid").
PointGrid grid_of(const Parameters& file, const std::string& prefix, int dimensions) {
  const auto d = static_cast<std::size_t>(dimensions);
  std::vector<double> fixed;
  for (const char* const name : {"Size", "Origin", "Spacing"}) {
    const std::vector<double> values = file.numbers(prefix + name, d);
    fixed.insert(fixed.end(), values.begin(), values.end());
  }
  std::vector<double> columns(d * d);
  for (std::size_t i = 0; i < d; ++i) columns[i * d + i] = 1;
  if (file.has(prefix + "Direction")) columns = file.numbers(prefix + "Direction", d * d);
  for (std::size_t i = 0; i < d * d; ++i) fixed.push_back(columns[i % d * d + i / d]);
  PointGrid grid = grid_of_itk(dimensions, fixed);
  if (file.has(prefix + "Index")) {
    std::vector<double> index = file.numbers(prefix + "Index", d);
    index.resize(3);
    const auto& m = grid.index_to_point().m;
    const auto moved = [&](std::size_t row) {
      return m[4 * row] * index[0] + m[4 * row + 1] * index[1] + m[4 * row + 2] * index[2] +
             m[4 * row + 3];
    };
    grid.origin = {moved(0), moved(1), moved(2)};
  }
  return grid;
}

std::string grid_text(const PointGrid& grid, const std::string& prefix, int dimensions) {
  const auto d = static_cast<std::size_t>(dimensions);
  const std::vector<double> fixed = itk_of_grid(dimensions, grid);
  const std::span<const double> all(fixed);
  std::vector<double> columns;
  for (std::size_t i = 0; i < d * d; ++i) columns.push_back(fixed[3 * d + i % d * d + i / d]);
  return "(" + prefix + "Size " + text_of(all.first(d)) + ")\n(" + prefix + "Index " +
         text_of(std::vector<double>(d)) + ")\n(" + prefix + "Spacing " +
         text_of(all.subspan(2 * d, d)) + ")\n(" + prefix + "Origin " + text_of(all.subspan(d, d)) +
         ")\n(" + prefix + "Direction " + text_of(columns) + ")\n";
}

Transform transform_of_file(const Parameters& file, int dimensions) {
  const auto d = static_cast<std::size_t>(dimensions);
  const std::string digits = std::to_string(dimensions);
  const std::string sizes = "_double_" + digits + "_" + digits;
  const std::string name = file.word("Transform", "");
  const std::vector<double> parameters = file.numbers("TransformParameters");
  if (name == "BSplineTransform" || name == "RecursiveBSplineTransform") {
    if (file.word("BSplineTransformSplineOrder", "3") != "3") {
      refuse("only B-splines of the order 3 are supported");
    }
    if (file.word("UseCyclicTransform", "false") == "true")
      refuse("it is cyclic, which is not supported");
    return bspline_of(grid_of(file, "Grid", dimensions), dimensions, parameters);
  }
  ItkTransform itk{.type = name + sizes, .parameters = parameters, .fixed = {}};
  if (name == "EulerTransform" || name == "SimilarityTransform") {
    itk.type = name.substr(0, name.find("Transform")) + digits + "DTransform" + sizes;
  } else if (name != "AffineTransform" && name != "TranslationTransform") {
    refuse("transforms of the type '" + name.substr(0, 40) + "' are not supported (choose from: " +
           "translation, Euler, similarity, affine, B-spline)");
  }
  if (name != "TranslationTransform") itk.fixed = file.numbers("CenterOfRotationPoint", d);
  if (name == "EulerTransform" && dimensions == 3) {
    itk.fixed.push_back(file.word("ComputeZYX", "false") == "true" ? 1 : 0);
  }
  return transform_of({&itk, 1});
}

}  // namespace

TransformFile read_elastix(std::string_view text) {
  const Parameters file(text);
  const double number = file.numbers("FixedImageDimension", 1)[0];
  if ((number != 2 && number != 3) || file.numbers("MovingImageDimension", 1)[0] != number) {
    refuse("the images do not both have 2 or both 3 dimensions");
  }
  if (file.word("UseBinaryFormatForTransformationParameters", "false") == "true") {
    refuse("its parameters are in a binary file, which is not supported");
  }
  const int dimensions = static_cast<int>(number);
  TransformFile result{.transforms = {transform_of_file(file, dimensions)}};
  if (file.has("Size")) result.geometry.reference = grid_of(file, "", dimensions);
  const std::string none = "NoInitialTransform";
  const std::string older = file.word("InitialTransformParametersFileName", none);
  result.initial = file.word("InitialTransformParameterFileName", older);
  if (result.initial == none) result.initial.clear();
  if (!result.initial.empty() && file.word("HowToCombineTransforms", "Compose") != "Compose") {
    refuse("it is added to another transform; only composition is supported");
  }
  return result;
}

std::string write_elastix(const Transform& transform, const Geometry& geometry) {
  const int d = transform.dimensions();
  const std::vector<ItkTransform> list = itk_transforms_of(transform);
  if (list.size() > 1 || transform.kind() == TransformKind::displacement) {
    refuse("a file of elastix holds one affine transform or B-spline");
  }
  const ItkTransform& itk = list.front();
  const std::string name = itk.type.substr(0, itk.type.find('_'));
  const std::string number = std::to_string(d);
  std::string text = "(Transform \"" + name + "\")\n(NumberOfParameters " +
                     std::to_string(itk.parameters.size()) + ")\n(TransformParameters " +
                     text_of(itk.parameters) +
                     ")\n(InitialTransformParameterFileName \"NoInitialTransform\")\n"
                     "(UseBinaryFormatForTransformationParameters \"false\")\n"
                     "(HowToCombineTransforms \"Compose\")\n\n(FixedImageDimension " +
                     number + ")\n(MovingImageDimension " + number +
                     ")\n(FixedInternalImagePixelType \"float\")\n"
                     "(MovingInternalImagePixelType \"float\")\n";
  if (geometry.reference) text += grid_text(*geometry.reference, "", d);
  text += "(UseDirectionCosines \"true\")\n\n";
  if (name == "BSplineTransform") {
    text += grid_text(*transform.grid(), "Grid", d) +
            "(BSplineTransformSplineOrder 3)\n(UseCyclicTransform \"false\")\n";
  } else if (name == "AffineTransform") {
    text += "(CenterOfRotationPoint " + text_of(itk.fixed) + ")\n";
  }
  return text +
         "\n(ResampleInterpolator \"FinalBSplineInterpolator\")\n"
         "(FinalBSplineInterpolationOrder 3)\n\n(Resampler \"DefaultResampler\")\n"
         "(DefaultPixelValue 0)\n(ResultImageFormat \"nii\")\n(ResultImagePixelType \"float\")\n"
         "(CompressResultImage \"false\")\n";
}

}  // namespace warpalign::transform_files

// The XML of BigDataViewer and BigStitcher: for each view, affine matrices whose product maps its
// pixels to the common space. The transform of a view maps pixels of the first view to its pixels;
// that of a single view maps the common space to its pixels.
#include "formats.hpp"
#include "matrices.hpp"
#include "text.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace warpalign::transform_files {
namespace {

/// The text without comments.
std::string without_comments(std::string_view text) {
  std::string kept;
  while (true) {
    const std::size_t start = text.find("<!--");
    kept += text.substr(0, start);
    if (start == std::string_view::npos) return kept;
    const std::size_t end = text.find("-->", start);
    if (end == std::string_view::npos) refuse("a comment does not end; the file may be cut short");
    text.remove_prefix(end + 3);
  }
}

/// Takes the text of the next element of this name from `rest`.
std::optional<std::string_view> next_element(std::string_view& rest, const std::string& name) {
  for (std::size_t at = 0; (at = rest.find("<" + name, at)) != std::string_view::npos; ++at) {
    const std::size_t after = at + name.size() + 1;
    if (after < rest.size() &&
        std::string_view(" \t\r\n>/").find(rest[after]) == std::string::npos) {
      continue;  // a longer name
    }
    const std::size_t start = rest.find('>', after);
    const std::size_t end = start == std::string_view::npos ? start : rest.find("</" + name, start);
    if (end == std::string_view::npos) {
      refuse("<" + name + "> does not end; the file may be cut short");
    }
    const std::string_view content = rest.substr(start + 1, end - start - 1);
    rest.remove_prefix(end + name.size() + 2);
    return content;
  }
  return std::nullopt;
}

/// The product of a view's matrices, of which the last is applied first.
HomogeneousMatrix matrix_of_view(std::string_view view) {
  HomogeneousMatrix whole;
  while (const auto element = next_element(view, "affine")) {
    std::string numbers(*element);
    std::replace(numbers.begin(), numbers.end(), ',', ' ');
    const std::vector<double> values = numbers_of(numbers, "<affine>");
    expect_count(values, 12, "<affine>");
    std::array<double, 12> rows{};
    std::copy(values.begin(), values.end(), rows.begin());
    whole = product(whole, HomogeneousMatrix::affine3(rows));
  }
  return whole;
}

}  // namespace

TransformFile read_bdv(std::string_view text) {
  const std::string xml = without_comments(text);
  if (xml.find("</ViewRegistrations") == std::string::npos) {
    refuse("<ViewRegistrations> is missing or does not end; the file may be cut short");
  }
  std::string_view rest = xml;
  std::vector<HomogeneousMatrix> views;
  while (const auto view = next_element(rest, "ViewRegistration")) {
    views.push_back(matrix_of_view(*view));
  }
  if (views.empty()) refuse("it has no <ViewRegistration>");
  const HomogeneousMatrix reference = views.size() > 1 ? views.front() : HomogeneousMatrix{};
  if (views.size() > 1) views.erase(views.begin());
  TransformFile file;
  for (const HomogeneousMatrix& view : views) {
    file.transforms.push_back(affine(3, product(inverse_of(view), reference), Coordinates::pixels));
  }
  return file;
}

std::string write_bdv(std::span<const Transform> transforms) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ViewRegistrations>\n";
  const auto add_view = [&](std::size_t setup, const HomogeneousMatrix& matrix) {
    text +=
        "  <ViewRegistration timepoint=\"0\" setup=\"" + std::to_string(setup) +
        "\">\n    <ViewTransform type=\"affine\">\n      <Name>warpalign</Name>\n      <affine>" +
        text_of(std::span(matrix.m).first(12)) +
        "</affine>\n    </ViewTransform>\n  </ViewRegistration>\n";
  };
  add_view(0, {});
  std::size_t setup = 1;
  for (const Transform& transform : transforms) {
    add_view(setup++, inverse_of(affine_part(transform, "an XML file of BigDataViewer")));
  }
  return text + "</ViewRegistrations>\n";
}

}  // namespace warpalign::transform_files

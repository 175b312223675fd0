// The report of a registration as text and JSON.
#include "reports/registration_report.hpp"

#include "io/terminal.hpp"
#include "reports/ambiguity.hpp"
#include "reports/deformation_report.hpp"
#include "reports/option_names.hpp"
#include "reports/orientation.hpp"
#include "reports/report_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace warpalign::program {
namespace {

const char* name_of_method(SearchMethod generator) {
  switch (generator) {
    case SearchMethod::shifts:
      return "shifts";
    case SearchMethod::grid:
      return "grid";
    case SearchMethod::patches:
      return "windows";
    case SearchMethod::gradient_orientation:
      return "gradient-field";
    case SearchMethod::features:
      return "features";
    case SearchMethod::points:
      return "points";
    case SearchMethod::initial:
      return "initial";
    default:
      return "log-polar";
  }
}

bool is_richer(Motion motion) { return motion == Motion::affine || motion == Motion::homography; }

/// The members of the result and of every runner-up. The overlap of the fast pipeline is null.
Json registered_json(const Alignment& found, bool fast) {
  const std::array<double, 9>& h = found.homography.h;
  Json object;
  object["matrix"] = {{h[0], h[1], h[2]}, {h[3], h[4], h[5]}};
  if (found.motion == Motion::homography) object["matrix"].push_back({h[6], h[7], h[8]});
  object["motion"] = name_of(found.motion);
  object["rotation_deg"] = found.similarity.rotation_deg;
  object["scale"] = found.similarity.scale;
  object["translation"] = {found.similarity.translation.x, found.similarity.translation.y};
  object["confidence"] = found.confidence;
  object["overlap"] = fast ? Json() : Json(found.overlap);
  object["correlation"] = found.correlation;
  object["significance"] = found.significance;
  object["refined"] = found.refined;
  object["modality"] = name_of(found.modality);
  object["proposed_by"] = name_of_method(found.proposed_by);
  object["chance"] = Json();
  if (found.null_test) {
    object["chance"] = Json::object({{"deviations", found.null_test->z_score},
                                     {"by_chance", found.null_test->max_null_z},
                                     {"rival", found.null_test->second_best_ratio}});
  }
  return object;
}

Json names_of(const SearchMethods& generators) {
  Json names = Json::array();
  for (const SearchMethod generator : generators) names.push_back(name_of_method(generator));
  return names;
}

std::string search_text(const RegistrationResult& result) {
  std::string text;
  for (const SearchMethod generator : result.tried) {
    text += (text.empty() ? "" : ", ") + std::string(name_of_method(generator));
  }
  if (result.tried.size() > 1)
    text += fmt::format("; found by {}", name_of_method(result.proposed_by));
  if (result.null_test) {
    text += fmt::format("; {:.1f} deviations from chance, which reaches {:.1f}",
                        result.null_test->z_score, result.null_test->max_null_z);
  }
  return text;
}

/// Why several shifts match equally well, and what to do about it.
std::string ambiguity_verdict(const RegistrationResult& result) {
  return "AMBIGUOUS: the images match at other shifts as well" +
         ambiguity_text(result.period, result.undetermined_direction) +
         "; --max-shift excludes those farther away";
}

std::string verdict(const RegistrationReport& report) {
  if (report.result.reliable) return "reliable";
  if (report.result.ambiguous) return ambiguity_verdict(report.result);
  if (is_richer(report.settings.motion) && !is_richer(report.result.motion)) {
    return "NOT RELIABLE: no " + std::string(name_of(report.settings.motion)) +
           " fits; it diverges, or maps points of the reference to infinity";
  }
  return "NOT RELIABLE: 0.5 is needed; the images may not show the same thing, or overlap too "
         "little";
}

/// The options that would widen the search.
std::string untried_text(const RegistrationOptions& settings) {
  if (settings.fast) return "everything that --fast leaves out";
  std::string text;
  const auto add = [&](const char* option) {
    text += (text.empty() ? "" : ", ") + std::string(option);
  };
  if (settings.motion != Motion::automatic && settings.motion != Motion::deformable &&
      !is_richer(settings.motion)) {
    add("--motion auto (perspective)");
  }
  const bool deformable = settings.motion == Motion::deformable;
  if (settings.modality == Modality::same && !deformable)
    add("--modality auto (another sensor or stain)");
  if (settings.search != Effort::thorough) add("--search thorough (finer grids)");
  return text;
}

/// Advice if the result is not reliable, else an empty string.
std::string untried_line(const RegistrationReport& report) {
  const std::string text = report.result.reliable ? "" : untried_text(report.settings);
  return text.empty() ? "" : report_line("not tried", text);
}

/// Names the model if it has more degrees of freedom than a similarity.
std::string model_text(const Alignment& found) {
  if (!is_richer(found.motion)) return "";
  return std::string(name_of(found.motion)) + ", about the centre ";
}

/// The summary on the first line: whether the images fit, the pose of the moving image, and the
/// confidence.
std::string headline(const RegistrationResult& result) {
  const Similarity& found = result.similarity;
  const std::string motion = fmt::format(
      "{}rotation {:.2f} degrees, scale {:.4f}, shift ({:.2f}, {:.2f}) pixels", model_text(result),
      found.rotation_deg, found.scale, found.translation.x, found.translation.y);
  if (result.reliable) {
    return fmt::format("{}: {}; confidence {:.2f}\n", coloured("The images fit", Colour::green),
                       motion, result.confidence);
  }
  return fmt::format("{}: confidence {:.2f}, 0.5 is needed; at best {}\n",
                     coloured("No reliable fit", Colour::red), result.confidence, motion);
}

std::string matrix_lines(const Alignment& found) {
  const std::array<double, 9>& h = found.homography.h;
  const bool projective = found.motion == Motion::homography;
  std::string text =
      report_line("matrix", fmt::format("[{:12.6f} {:12.6f} {:12.4f} ]  reference pixel (x, y, 1)",
                                        h[0], h[1], h[2])) +
      report_line("", fmt::format("[{:12.6f} {:12.6f} {:12.4f} ]  -> moving pixel{}", h[3], h[4],
                                  h[5], projective ? ", after division by" : ""));
  if (projective) {
    text += report_line("", fmt::format("[{:12.4e} {:12.4e} {:12.4f} ]  this", h[6], h[7], h[8]));
  }
  return text;
}

std::string similarity_text(const Alignment& registered) {
  const Similarity& found = registered.similarity;
  return fmt::format("{}rotation {:.4f} degrees, scale {:.6f}, translation ({:.3f}, {:.3f}) pixels",
                     model_text(registered), found.rotation_deg, found.scale, found.translation.x,
                     found.translation.y);
}

std::string fit_text(const Alignment& found, bool fast) {
  const std::string common =
      fast ? "" : fmt::format(", {:.1f} % of the reference in common", 100 * found.overlap);
  return fmt::format("correlation {:.4f}, significance {:.1f}{}, {}", found.correlation,
                     found.significance, common, found.refined ? "refined" : "not refined");
}

std::string runner_up_lines(const std::vector<Alignment>& others) {
  std::string text;
  for (std::size_t i = 0; i < others.size(); ++i) {
    text += report_line(
        i == 0 ? "or else" : "",
        fmt::format("{}; confidence {:.2f}, correlation {:.4f}", similarity_text(others[i]),
                    others[i].confidence, others[i].correlation));
  }
  return text;
}

}  // namespace

std::string json_text(const RegistrationReport& report) {
  const RegistrationResult& result = report.result;
  Json object;
  object["status"] = status_of(result);
  object.update(registered_json(result, report.settings.fast));
  if (result.deformation) object["motion"] = name_of(Motion::deformable);
  object["deformation"] = deformation_json(result.deformation);
  object["tried"] = names_of(result.tried);
  object["places_searched"] = result.num_trials;
  object["missing"] = missing_json(result.missing);
  add_ambiguity(object, result.period, result.undetermined_direction);
  object["runners_up"] = Json::array();
  for (const Alignment& other : result.runners_up) {
    object["runners_up"].push_back(registered_json(other, report.settings.fast));
  }
  add_orientation(object, report.reference_orientation, report.moving_orientation);
  object["device"] = report.device.name;
  object["backend"] = report.device.backend;
  object["timings_ms"] = timings_json(result.timings);
  return object.text();
}

std::string human_text(const RegistrationReport& report) {
  const RegistrationResult& result = report.result;
  return headline(result) + "\n" +
         report_line("reference",
                     fmt::format("{} ({})", report.reference, report.reference_description)) +
         report_line("moving", fmt::format("{} ({})", report.moving, report.moving_description)) +
         report_line("found", similarity_text(result)) +
         report_line("confidence", fmt::format("{:.2f}, {}", result.confidence, verdict(report))) +
         report_line("fit", fit_text(result, report.settings.fast)) +
         report_line("search", search_text(result)) + untried_line(report) +
         runner_up_lines(result.runners_up) + matrix_lines(result) +
         missing_line(result.missing, "pixels") + deformation_line(result.deformation) +
         closing_lines(report.device, report.files, report.seconds, result.timings);
}

}  // namespace warpalign::program

// The schedule of a search: which steps the options select, which tables are invalid, and whether
// the page that prints the schedule is up to date.
#include "registration/search/schedule.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using namespace detail::schedule_terms;
using detail::Action;
using detail::Step;
using warpalign::Effort;
using warpalign::Modality;
using warpalign::Motion;
using warpalign::RegistrationOptions;

std::string name_of(Action action) {
  switch (action) {
    case Action::try_initial:
      return "try the initial transform";
    case Action::propose:
      return "propose";
    case Action::search_orientation:
      return "search orientation";
    case Action::probe_orientation:
      return "probe orientation";
    case Action::select_model:
      return "select model";
    case Action::verify_orientation:
      return "verify orientation";
    case Action::choose_signal:
      return "choose signal";
    case Action::compare_shifts:
      return "compare shifts";
  }
  return "";
}

std::string efforts_of(const Step& step) {
  constexpr const char* names[] = {"fast", "standard", "thorough"};
  const auto [from, to] = step.efforts;
  if (from == Effort::fast && to == Effort::thorough) return "any";
  const std::string least = names[static_cast<int>(from)];
  return from == to ? least : "from " + least;
}

std::string name_of(detail::When when) {
  switch (when) {
    case always:
      return "always";
    case compares_intensity:
      return "modality not `other`";
    case translation:
      return "`translation`";
    case rotating:
      return "motions that rotate";
    case matching_points:
      return "motions up to a similarity, `auto`";
    case shifting:
      return "motions that shift";
    case projective:
      return "motions that may be homographies";
    case both_signals:
      return "modality `auto`";
    case other_modality:
      return "modality `other`, or `auto` above `fast`";
  }
  return "";
}

std::string name_of(detail::Unless unless) {
  switch (unless) {
    case nothing:
      return "";
    case not_sparse:
      return "an image is not sparse";
    case no_initial:
      return "there is none";
    case accepted:
      return "a candidate is accepted";
    case significant:
      return "a candidate is significant";
    case certain_homography:
      return "a homography is certain";
    case conclusive:
      return "orientation is conclusive";
    case certain_intensity:
      return "that, or intensity is certain";
    case certain_orientation:
      return "that, or orientation confirms intensity";
    case reliable:
      return "the result is reliable";
  }
  return "";
}

std::string name_of(detail::Fit fit) {
  switch (fit) {
    case none:
      return "";
    case best_first:
      return "similarities, the best first";
    case together:
      return "similarities, together";
    case as_proposed:
      return "as proposed";
    case homographies:
      return "homographies";
    case rectified:
      return "homographies, rectified";
  }
  return "";
}

std::string row_of(const Step& step) {
  std::ostringstream row;
  row << "| " << name_of(step.action) << " | " << std::string(step.proposer.name) << " | ";
  if (step.action == Action::propose) row << step.round + 1;
  row << " | " << efforts_of(step) << " | " << name_of(step.when) << " | " << name_of(step.unless)
      << " | " << name_of(step.fit) << " | " << (step.begins == early ? "yes" : "") << " |\n";
  return row.str();
}

template <class Schedule>
std::string table_of(const Schedule& schedule) {
  std::string table =
      "| step | proposer | round | effort | for | unless | fit | early |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Step& step : schedule) table += row_of(step);
  return table;
}

std::vector<std::string> steps_of(Motion motion, Modality modality, Effort effort) {
  RegistrationOptions options;
  options.motion = motion;
  options.modality = modality;
  options.search = effort;
  std::vector<std::string> steps;
  for (const Step& step : detail::search_schedule) {
    if (!applies(step, options)) continue;
    steps.push_back(step.action == Action::propose ? std::string(step.proposer.name)
                                                   : name_of(step.action));
  }
  return steps;
}

}  // namespace

TEST_CASE("schedule: options select its steps") {
  using Steps = std::vector<std::string>;
  CHECK(steps_of(Motion::translation, Modality::same, Effort::thorough) ==
        Steps{"point sources", "try the initial transform", "log-polar spectra", "select model",
              "choose signal", "compare shifts", "point sources"});
  CHECK(steps_of(Motion::similarity, Modality::same, Effort::fast) ==
        Steps{"point sources", "try the initial transform", "log-polar spectra",
              "log-polar spectra", "log-polar spectra", "select model", "choose signal",
              "compare shifts", "point sources"});
  CHECK(steps_of(Motion::rigid, Modality::other, Effort::fast) ==
        Steps{"try the initial transform", "verify orientation", "search orientation",
              "choose signal", "compare shifts"});
  CHECK(steps_of(Motion::automatic, Modality::automatic, Effort::standard) ==
        Steps{"point sources", "try the initial transform", "log-polar spectra",
              "log-polar spectra", "log-polar spectra", "grid", "probe orientation", "select model",
              "verify orientation", "search orientation", "choose signal", "local features",
              "compare shifts", "point sources"});
  CHECK(steps_of(Motion::affine, Modality::automatic, Effort::thorough) ==
        Steps{"try the initial transform", "log-polar spectra", "log-polar spectra",
              "log-polar spectra", "grid", "finer log-polar spectra", "finer log-polar spectra",
              "select model", "verify orientation", "search orientation", "choose signal",
              "compare shifts"});
}

TEST_CASE("schedule: an invalid table does not compile") {
  constexpr Step good{
      propose,  grid, detail::intensity_grid, intensity, 0, detail::any_effort, rotating, nothing,
      together, early};
  static_assert(is_sound(std::array{good}));
  constexpr auto with = [](Step step, auto change) {
    change(step);
    return step;
  };
  static_assert(
      !is_sound(std::array{with(good, [](Step& step) { step.proposer = detail::no_proposer; })}));
  static_assert(!is_sound(std::array{with(good, [](Step& step) { step.fit = none; })}));
  static_assert(!is_sound(std::array{with(good, [](Step& step) { step.round = 1; })}));
  static_assert(
      !is_sound(std::array{with(good, [](Step& step) { step.action = Action::choose_signal; })}));
  static_assert(!is_sound(std::array{with(good, [](Step& step) {
    step.efforts = {Effort::thorough, Effort::fast};
  })}));
}

TEST_CASE("schedule: docs/architecture.md prints the tables of the code") {
  std::ifstream file(WARPALIGN_DEMO_DATA "/../architecture.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  REQUIRE_FALSE(page.empty());
  const std::string search = table_of(detail::search_schedule);
  CAPTURE(search);
  CHECK(page.find(search) != std::string::npos);
  const std::string homographies = table_of(detail::homography_schedule);
  CAPTURE(homographies);
  CHECK(page.find(homographies) != std::string::npos);
}

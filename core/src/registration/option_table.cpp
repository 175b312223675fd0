// The table of all registration options.
#include "registration/option_table.hpp"

#include "device/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

namespace warpalign {

namespace {

using detail::ChoiceMember;
using detail::OptionMember;
using detail::OptionRow;
using Options = RegistrationOptions;
using COptions = warpalign_register_options;
using Names = std::span<const std::string_view>;

constexpr const char* stage = "register";
constexpr double infinity = std::numeric_limits<double>::infinity();

// In the order of the enumerators.
constexpr std::array<std::string_view, 8> motions{
    "similarity", "rigid", "rotation", "translation", "affine", "homography", "auto", "deformable"};
constexpr std::array<std::string_view, 3> modalities{"same", "other", "auto"};
constexpr std::array<std::string_view, 3> efforts{"fast", "standard", "thorough"};
constexpr std::array<std::string_view, 2> spectra{"grey", "gradient"};
constexpr std::array<std::string_view, 2> windows{"none", "hann"};
static_assert(static_cast<std::size_t>(Motion::deformable) + 1 == motions.size() &&
              static_cast<std::size_t>(Modality::automatic) + 1 == modalities.size() &&
              static_cast<std::size_t>(Effort::thorough) + 1 == efforts.size() &&
              static_cast<std::size_t>(SpectrumSignal::gradient) + 1 == spectra.size() &&
              static_cast<std::size_t>(Window::hann) + 1 == windows.size());

template <auto member>
constexpr ChoiceMember choice() {
  return {[](const Options& options) { return static_cast<std::size_t>(options.*member); },
          [](Options& options, std::size_t number) {
            using Enum = std::remove_reference_t<decltype(options.*member)>;
            options.*member = static_cast<Enum>(number);
          }};
}

// The properties of a row besides its name and its members.
struct Range {
  double minimum = -infinity;
  double maximum = infinity;
  bool or_zero = false;
};
struct Offered {
  bool with_fast = false;
  std::string_view program = {};
  bool program_uses_set_option = false;
  bool changes_results = true;
};

constexpr RegistrationOptionInfo described(std::string_view name, OptionKind kind, Range range,
                                           Names choices, bool in_c, Offered offered,
                                           std::string_view help) {
  return {name,
          kind,
          range.minimum,
          range.maximum,
          range.or_zero,
          choices,
          offered.with_fast,
          offered.changes_results,
          in_c,
          offered.program,
          offered.program_uses_set_option,
          help};
}

constexpr OptionRow row(std::string_view name, bool Options::*member, detail::COptionMember in_c,
                        Offered offered, std::string_view help) {
  return {described(name, OptionKind::flag, {0, 0}, {}, in_c.index() != 0, offered, help), member,
          in_c};
}
template <class Number>
constexpr OptionRow row(std::string_view name, Number Options::*member, detail::COptionMember in_c,
                        Range range, Offered offered, std::string_view help) {
  constexpr auto kind = std::is_integral_v<Number> ? OptionKind::integer : OptionKind::real;
  return {described(name, kind, range, {}, in_c.index() != 0, offered, help), member, in_c};
}
constexpr OptionRow row(std::string_view name, ChoiceMember member, Names names, bool in_c,
                        Offered offered, std::string_view help) {
  return {described(name, OptionKind::choice, {0, 0}, names, in_c, offered, help), member, {}};
}

constexpr double max_ratio = Options::max_scale_ratio;
constexpr std::monostate none;

constexpr std::array rows{
    row("fast", &Options::fast, &COptions::fast, {.with_fast = true, .program = "--fast"},
        "Fourier-Mellin registration: errors of a fraction of a pixel, no verification"),
    row("refine", &Options::refine, &COptions::refine,
        {.with_fast = true, .program = "--no-refine"},
        "Refine to thousandths of a pixel, at full resolution"),
    row("motion", choice<&Options::motion>(), motions, true, {.program = "--motion NAME"},
        "The transform between the images"),
    row("modality", choice<&Options::modality>(), modalities, true,
        {.program = "--modality NAME", .program_uses_set_option = true},
        "Whether both images have the same contrast: same; other, for reversed or unrelated "
        "contrast (MRI weightings, stains, infrared, maps); or auto, which tries other if same "
        "finds nothing reliable"),
    row("search", choice<&Options::search>(), efforts, true,
        {.program = "--search NAME", .program_uses_set_option = true},
        "How much to try for difficult pairs: fast (log-polar spectra only), standard, or "
        "thorough (all methods, on finer grids)"),
    row("min_scale", &Options::min_scale, &COptions::min_scale, {1 / max_ratio, max_ratio},
        {.program = "--scale-range A,B"}, "The smallest scale"),
    row("max_scale", &Options::max_scale, &COptions::max_scale, {1 / max_ratio, max_ratio},
        {.program = "--scale-range A,B"}, "The largest scale"),
    row("min_angle", &Options::min_angle, &COptions::min_angle, {},
        {.program = "--angle-range A,B"}, "The smallest rotation, in degrees"),
    row("max_angle", &Options::max_angle, &COptions::max_angle, {},
        {.program = "--angle-range A,B"}, "The largest rotation, in degrees"),
    row("max_shift", &Options::max_shift, &COptions::max_shift, {.minimum = 0},
        {.program = "--max-shift N|X,Y"}, "The largest translation, in pixels; 0: any"),
    row("max_shift_x", &Options::max_shift_x, &COptions::max_shift_x, {.minimum = 0},
        {.program = "--max-shift N|X,Y"}, "The largest translation along x, in pixels; 0: any"),
    row("max_shift_y", &Options::max_shift_y, &COptions::max_shift_y, {.minimum = 0},
        {.program = "--max-shift N|X,Y"}, "The largest translation along y, in pixels; 0: any"),
    row("candidates", &Options::candidates, none, {1, 10}, {.program = "--candidates N"},
        "The number of alignments to search and list"),
    row("spectrum", choice<&Options::spectrum>(), spectra, false,
        {.program = "--spectrum NAME", .program_uses_set_option = true},
        "Find rotation and scale from spectra of the intensities or of their gradients: grey or "
        "gradient"),
    row("window", choice<&Options::window>(), windows, false, {.with_fast = true},
        "The window function applied before Fourier transforms"),
    row("spectrum_exponent", &Options::spectrum_exponent, none, {.minimum = 0}, {.with_fast = true},
        "The exponent applied to the spectrum's magnitude"),
    row("log_polar_sigma", &Options::log_polar_sigma, none, {.minimum = 0}, {.with_fast = true},
        "Sigma of the Gaussian weight of the log-polar correlation, in units of the Nyquist "
        "frequency; 0: no weight"),
    row("collect_timings", &Options::collect_timings, none,
        {.with_fast = true, .program = "--timings", .changes_results = false},
        "Measure the device time of each stage"),
    row("max_threads", &Options::max_threads, &COptions::max_threads,
        {0, RegistrationOptions::thread_limit},
        {.with_fast = true,
         .program = "--threads N",
         .program_uses_set_option = true,
         .changes_results = false},
        "The maximum number of threads of a search, including the calling thread; by default as "
        "many as the device benefits from. Results do not depend on it"),
    row("grid_spacing", &Options::grid_spacing, &COptions::grid_spacing,
        {Options::min_grid_spacing, static_cast<double>(detail::max_side), true},
        {.program = "--grid-spacing PIXELS", .program_uses_set_option = true},
        "The distance between control points of a deformation, in pixels of the reference; 0: 5, "
        "or 2 where that follows too little"),
    row("bending_weight", &Options::bending_weight, &COptions::bending_weight,
        {Options::min_bending_weight, Options::max_bending_weight},
        {.program = "--bending-weight WEIGHT", .program_uses_set_option = true},
        "The weight of a deformation's bending energy; larger weights make the field smoother"),
};

static_assert(rows.size() == detail::number_of_members<Options>(),
              "every member of RegistrationOptions needs a row in the table");

static_assert(
    static_cast<std::size_t>(
        std::ranges::count_if(rows, [](const OptionRow& one) { return one.info.in_c; })) +
            1 ==
        detail::number_of_members<COptions>(),
    "every member of warpalign_register_options but struct_size needs a row in the table");

constexpr auto infos = [] {
  std::array<RegistrationOptionInfo, rows.size()> all;
  for (std::size_t i = 0; i < rows.size(); ++i) all[i] = rows[i].info;
  return all;
}();

const OptionRow& find_row(std::string_view name) {
  for (const OptionRow& one : rows) {
    if (one.info.name == name) return one;
  }
  detail::refuse(stage, "there is no option " + std::string(name));
}

/// Reads a member of any kind.
struct Value {
  const Options& options;
  RegistrationOptionValue operator()(bool Options::*member) const { return options.*member; }
  RegistrationOptionValue operator()(int Options::*member) const { return options.*member; }
  RegistrationOptionValue operator()(double Options::*member) const { return options.*member; }
  RegistrationOptionValue operator()(float Options::*member) const {
    return static_cast<double>(options.*member);
  }
  RegistrationOptionValue operator()(const ChoiceMember& member) const {
    return static_cast<int>(member.get(options));
  }
};

[[noreturn]] void refuse_kind(const RegistrationOptionInfo& info) {
  constexpr std::array kinds{"true or false", "an integer", "a number", "the name of a choice"};
  detail::refuse(stage,
                 std::string(info.name) + " must be " + kinds[static_cast<std::size_t>(info.kind)]);
}

double real_of(const RegistrationOptionInfo& info, const RegistrationOptionValue& value) {
  if (const auto* integer = std::get_if<int>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  refuse_kind(info);
}

std::string list_of(Names names) {
  std::string list;
  for (const std::string_view name : names) {
    if (!list.empty()) list += ", ";
    list += "'" + std::string(name) + "'";
  }
  return list;
}

/// Sets a member of any kind.
struct Set {
  Options& options;
  const RegistrationOptionInfo& info;
  const RegistrationOptionValue& value;

  void operator()(bool Options::*member) const { exactly<bool>(member); }
  void operator()(int Options::*member) const { exactly<int>(member); }
  void operator()(double Options::*member) const { options.*member = real_of(info, value); }
  void operator()(float Options::*member) const {
    options.*member = static_cast<float>(real_of(info, value));
  }
  void operator()(const ChoiceMember& member) const {
    const auto* name = std::get_if<std::string>(&value);
    if (name == nullptr) refuse_kind(info);
    const auto found = std::find(info.choices.begin(), info.choices.end(), *name);
    if (found == info.choices.end()) {
      detail::refuse(stage, std::string(info.name) + " must be one of " + list_of(info.choices) +
                                ", not '" + *name + "'");
    }
    member.set(options, static_cast<std::size_t>(found - info.choices.begin()));
  }

 private:
  template <class T>
  void exactly(T Options::*member) const {
    const auto* same = std::get_if<T>(&value);
    if (same == nullptr) refuse_kind(info);
    options.*member = *same;
  }
};

std::string text_of(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

void check_range(const RegistrationOptionInfo& info, double value) {
  const std::string name(info.name);
  if (!std::isfinite(value)) detail::refuse(stage, name + " must be a finite number");
  if (value >= info.minimum && value <= info.maximum) return;
  if (info.or_zero && value == 0) return;
  const std::string least = text_of(info.minimum);
  if (info.maximum == infinity) detail::refuse(stage, name + " must be " + least + " or more");
  detail::refuse(stage, name + " must be " + least + " to " + text_of(info.maximum) +
                            (info.or_zero ? ", or 0" : ""));
}

}  // namespace

std::span<const OptionRow> detail::option_rows() noexcept { return rows; }

void detail::check_option_ranges(const RegistrationOptions& options) {
  for (const OptionRow& one : rows) {
    if (one.info.kind != OptionKind::integer && one.info.kind != OptionKind::real) continue;
    check_range(one.info, real_of(one.info, std::visit(Value{options}, one.member)));
  }
}

bool detail::changes_options_without_fast(const RegistrationOptions& options) {
  const RegistrationOptions defaults;
  return std::any_of(rows.begin(), rows.end(), [&](const OptionRow& one) {
    return !one.info.with_fast &&
           std::visit(Value{options}, one.member) != std::visit(Value{defaults}, one.member);
  });
}

std::span<const RegistrationOptionInfo> registration_options() noexcept { return infos; }

RegistrationOptionValue option_value(const RegistrationOptions& options, std::string_view name) {
  const OptionRow& one = find_row(name);
  const RegistrationOptionValue value = std::visit(Value{options}, one.member);
  if (one.info.kind != OptionKind::choice) return value;
  return std::string(one.info.choices[static_cast<std::size_t>(std::get<int>(value))]);
}

void set_option(RegistrationOptions& options, std::string_view name,
                const RegistrationOptionValue& value) {
  const OptionRow& one = find_row(name);
  std::visit(Set{options, one.info, value}, one.member);
}

}  // namespace warpalign

// Registration of images, one pair at a time.
#include "registration.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "device_array.hpp"
#include "opened_device.hpp"

#include <warpalign/batch.hpp>
#include <warpalign/compilation.hpp>
#include <warpalign/interop.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/registration_options.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

template <typename Enum, std::size_t n>
using Names = std::array<std::pair<Enum, const char*>, n>;

constexpr Names<Motion, 8> motions{{{Motion::similarity, "similarity"},
                                    {Motion::rigid, "rigid"},
                                    {Motion::rotation, "rotation"},
                                    {Motion::translation, "translation"},
                                    {Motion::affine, "affine"},
                                    {Motion::homography, "homography"},
                                    {Motion::automatic, "auto"},
                                    {Motion::deformable, "deformable"}}};
constexpr Names<Modality, 3> modalities{
    {{Modality::same, "same"}, {Modality::other, "other"}, {Modality::automatic, "auto"}}};
constexpr Names<SearchMethod, 8> generators{{{SearchMethod::shifts, "shifts"},
                                             {SearchMethod::log_polar, "log-polar"},
                                             {SearchMethod::grid, "grid"},
                                             {SearchMethod::patches, "windows"},
                                             {SearchMethod::gradient_orientation, "gradient-field"},
                                             {SearchMethod::features, "features"},
                                             {SearchMethod::points, "points"},
                                             {SearchMethod::initial, "initial"}}};

template <typename Enum, std::size_t n>
Enum value_named(const Names<Enum, n>& names, const char* what, const std::string& name) {
  std::string known;
  for (const auto& [value, known_name] : names) {
    if (name == known_name) return value;
    known += std::string(known.empty() ? "'" : ", '") + known_name + "'";
  }
  throw nb::value_error(
      (std::string(what) + " must be one of " + known + ", not '" + name + "'").c_str());
}

template <typename Enum, std::size_t n>
const char* name_of(const Names<Enum, n>& names, Enum value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "";
}

/// A registrar that several threads may call; calls wait for each other.
class SharedRegistrar {
 public:
  /// The nine numbers of a homography in (x, y), or nothing.
  using Initial = std::optional<std::array<double, 9>>;

  SharedRegistrar(OpenedDevice& opened, const RegistrationOptions& options)
      : opened_(opened), ready_(opened.device), registrar_(opened.device, options) {}

  void set_reference(const InputArray& image, const std::optional<InputArray>& mask) {
    const HostImage view = host_image(image);
    const std::optional<HostImage> mask_view = view_of(mask);
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    if (mask_view) return registrar_.set_reference(view, *mask_view);
    registrar_.set_reference(view);
  }

  nb::dict align(const InputArray& image, const std::optional<InputArray>& mask,
                 const Initial& initial) {
    return dict_of(find(host_image(image), view_of(mask), initial));
  }

  void set_reference_on_device(const DeviceArray& image, const std::optional<std::uintptr_t>& queue,
                               const std::optional<InputArray>& mask) {
    const std::optional<HostImage> mask_view = view_of(mask);
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    wait_for(queue);
    const Image& pixels = image.image(image.shape(2));
    if (mask_view) return registrar_.set_reference(pixels, image_on(opened_.device, *mask_view));
    registrar_.set_reference(pixels);
  }

  nb::dict align_on_device(const DeviceArray& image, const std::optional<std::uintptr_t>& queue,
                           const std::optional<InputArray>& mask, const Initial& initial) {
    return dict_of(find_on_device(image, queue, view_of(mask), initial));
  }

 private:
  void set_initial(const Initial& initial) {
    if (initial) return registrar_.set_initial(*initial);
    registrar_.clear_initial();
  }

  /// Makes the registrar wait for the work that is on the queue now, which computes the image.
  void wait_for(const std::optional<std::uintptr_t>& queue) {
    opened_.with_stream(queue, [&](Stream& stream) { ready_.record(stream); });
    registrar_.wait_for(ready_);
  }

  RegistrationResult find_on_device(const DeviceArray& image,
                                    const std::optional<std::uintptr_t>& queue,
                                    const std::optional<HostImage>& mask, const Initial& initial) {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    set_initial(initial);
    wait_for(queue);
    const Image& pixels = image.image(image.shape(2));
    return mask ? registrar_.align(pixels, image_on(opened_.device, *mask))
                : registrar_.align(pixels);
  }

  static std::optional<HostImage> view_of(const std::optional<InputArray>& mask) {
    if (!mask) return {};
    return host_image(*mask);
  }

  RegistrationResult find(const HostImage& image, const std::optional<HostImage>& mask,
                          const Initial& initial) {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    set_initial(initial);
    return mask ? registrar_.align(image, *mask) : registrar_.align(image);
  }

  OpenedDevice& opened_;
  std::mutex mutex_;
  Event ready_;
  Registrar registrar_;
};

nb::dict dict_of_registered(const Alignment& found) {
  nb::dict fields;
  const std::array<double, 9>& h = found.homography.h;
  fields["matrix"] = nb::make_tuple(h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7], h[8]);
  fields["motion"] = name_of(motions, found.motion);
  fields["rotation_deg"] = found.similarity.rotation_deg;
  fields["scale"] = found.similarity.scale;
  fields["translation"] =
      nb::make_tuple(found.similarity.translation.x, found.similarity.translation.y);
  fields["confidence"] = found.confidence;
  fields["correlation"] = found.correlation;
  fields["significance"] = found.significance;
  fields["overlap"] = found.overlap;
  fields["refined"] = found.refined;
  fields["modality"] = name_of(modalities, found.modality);
  fields["proposed_by"] = name_of(generators, found.proposed_by);
  fields["chance"] = nb::none();
  if (found.null_test) {
    fields["chance"] = nb::make_tuple(found.null_test->z_score, found.null_test->max_null_z,
                                      found.null_test->second_best_ratio);
  }
  return fields;
}

/// Converts a Python value to the option's type. Throws TypeError.
RegistrationOptionValue value_of(const RegistrationOptionInfo& info, nb::handle value) {
  const auto cast = [&](auto example) -> RegistrationOptionValue {
    if (!nb::try_cast(value, example)) throw nb::type_error("the value has the wrong type");
    return example;
  };
  switch (info.kind) {
    case OptionKind::flag:
      return cast(false);
    case OptionKind::integer:
      return cast(0);
    case OptionKind::real:
      return cast(0.0);
    case OptionKind::choice:
      break;
  }
  return cast(std::string());
}

nb::object object_of(const RegistrationOptionValue& value) {
  return std::visit([](const auto& one) { return nb::cast(one); }, value);
}

/// One property for each option.
void bind_options(nb::module_& module) {
  using Options = RegistrationOptions;
  nb::class_<Options> options(module, "RegistrationOptions",
                              "Options of a registration; see :func:`warpalign.register`.");
  options.def(nb::init<>());
  for (const RegistrationOptionInfo& info : registration_options()) {
    options.def_prop_rw(
        info.name.data(),
        [&info](const Options& self) { return object_of(option_value(self, info.name)); },
        [&info](Options& self, nb::handle value) {
          set_option(self, info.name, value_of(info, value));
        });
  }
  module.def(
      "registration_options",
      [] {
        nb::list all;
        for (const RegistrationOptionInfo& info : registration_options()) {
          nb::list choices;
          for (const std::string_view name : info.choices) choices.append(std::string(name));
          nb::dict one;
          one["name"] = std::string(info.name);
          one["default"] = object_of(option_value({}, info.name));
          one["choices"] = choices;
          one["help"] = std::string(info.help);
          one["program"] = std::string(info.program);
          all.append(one);
        }
        return all;
      },
      "The library's description of each option: a list of dictionaries.");
}

void compile_piece(const OpenedDevice& opened, std::size_t piece, const std::string& dtype) {
  const nb::gil_scoped_release released;
  const PixelType type = dtype == "uint8"    ? PixelType::u8
                         : dtype == "uint16" ? PixelType::u16
                                             : PixelType::f32;
  compile_registration_piece(opened.device, piece, type);
}

}  // namespace

Motion motion_named(const std::string& name) { return value_named(motions, "motion", name); }
const char* name_of(Motion motion) { return name_of(motions, motion); }
Modality modality_named(const std::string& name) {
  return value_named(modalities, "modality", name);
}
const char* name_of(Modality modality) { return name_of(modalities, modality); }

nb::list list_of(const std::vector<StageTiming>& timings) {
  nb::list list;
  for (const StageTiming& timing : timings) {
    list.append(nb::make_tuple(timing.stage.c_str(), timing.milliseconds));
  }
  return list;
}

nb::object object_of(const std::optional<Deformation>& deformation) {
  if (!deformation) return nb::none();
  nb::dict fields;
  fields["transform"] = deformation->transform;
  fields["correlation_before"] = deformation->correlation_before;
  fields["correlation"] = deformation->correlation;
  fields["min_jacobian"] = deformation->min_jacobian;
  fields["max_jacobian"] = deformation->max_jacobian;
  fields["extreme_jacobians"] = deformation->extreme_jacobians;
  return fields;
}

nb::dict dict_of(const RegistrationResult& result) {
  nb::dict fields = dict_of_registered(result);
  if (result.deformation) fields["motion"] = name_of(motions, Motion::deformable);
  fields["deformation"] = object_of(result.deformation);
  fields["reliable"] = result.reliable;
  fields["ambiguous"] = result.ambiguous;
  nb::list period;
  for (const Point& vector : result.period) period.append(nb::make_tuple(vector.x, vector.y));
  fields["period"] = period;
  fields["undetermined_direction"] = nb::none();
  if (const auto& direction = result.undetermined_direction) {
    fields["undetermined_direction"] = nb::make_tuple(direction->x, direction->y);
  }
  nb::list others;
  for (const Alignment& other : result.runners_up) others.append(dict_of_registered(other));
  fields["runners_up"] = others;
  nb::list tried;
  for (const SearchMethod generator : result.tried) tried.append(name_of(generators, generator));
  fields["tried"] = tried;
  fields["places_searched"] = result.num_trials;
  fields["missing"] = nb::make_tuple(result.missing.reference, result.missing.moving);
  fields["timings"] = list_of(result.timings);
  return fields;
}

void bind_registration(nb::module_& module) {
  bind_options(module);
  nb::class_<SharedRegistrar>(module, "Registrar",
                              "Registers images to a reference; see :class:`warpalign.Registrar`.")
      .def(nb::init<OpenedDevice&, const RegistrationOptions&>(), nb::arg("device"),
           nb::arg("options"), nb::keep_alive<1, 2>(), nb::call_guard<nb::gil_scoped_release>())
      .def("set_reference_on_device", &SharedRegistrar::set_reference_on_device, nb::arg("image"),
           nb::arg("queue").none(), nb::arg("mask").noconvert().none() = nb::none())
      .def("align_on_device", &SharedRegistrar::align_on_device, nb::arg("image"),
           nb::arg("queue").none(), nb::arg("mask").noconvert().none() = nb::none(),
           nb::arg("initial").none() = nb::none())
      .def("set_reference", &SharedRegistrar::set_reference, nb::arg("image").noconvert(),
           nb::arg("mask").noconvert().none() = nb::none())
      .def("align", &SharedRegistrar::align, nb::arg("image").noconvert(),
           nb::arg("mask").noconvert().none() = nb::none(), nb::arg("initial").none() = nb::none());
  module.def(
      "check_initial",
      [](const std::array<double, 9>& initial, const RegistrationOptions& options,
         const std::array<std::int64_t, 2>& reference, const std::array<std::int64_t, 2>& moving) {
        check_initial(initial, options, {reference[1], reference[0], 1}, {moving[1], moving[0], 1});
      },
      nb::arg("initial"), nb::arg("options"), nb::arg("reference"), nb::arg("moving"),
      "Raise ValueError for an initial transform that no registration of images of these shapes, "
      "(rows, columns), accepts.");
  module.def(
      "registration_pieces", &registration_pieces,
      "Number of pieces into which the kernels of registrations are divided for compilation.");
  module.def("compile_registration_piece", &compile_piece, nb::arg("device"), nb::arg("piece"),
             nb::arg("dtype"), "Compile one of these pieces for images of a type.");
  module.def(
      "store_compiled_kernels",
      [](const OpenedDevice& opened) {
        const nb::gil_scoped_release released;
        store_compiled_kernels(opened.device);
      },
      nb::arg("device"), "Store the compiled programs where later processes load them fastest.");
}

}  // namespace warpalign::python

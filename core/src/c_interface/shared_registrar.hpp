// Registrars of the C interface, which several threads may use.
#pragma once

#include "c_interface/call.hpp"

#include <warpalign/warpalign.h>
#include <warpalign/device.hpp>

#include <memory>
#include <mutex>

namespace warpalign::c_interface {

/// A registrar with a mutex. `Kind` distinguishes registrars of images from those of volumes:
///
/// - types: Registrar, Options, View (of host memory), Initial (the initial transform)
/// - words of errors: no_registrar, moving_mask
/// - conversions: view(image, what), shape_of(view), options_of(options), initial_of(matrix)
template <class Kind>
class SharedRegistrar {
 public:
  using Options = typename Kind::Options;
  using View = typename Kind::View;

  SharedRegistrar(const Device& device, const Options& options)
      : options_(options), registrar_(device, options) {}

  [[nodiscard]] const Options& options() const { return options_; }

  /// `mask`: may be null.
  void set_reference(const View& reference, const warpalign_image* mask) {
    const std::lock_guard lock(mutex_);
    if (mask == nullptr) {
      registrar_.set_reference(reference);
    } else {
      registrar_.set_reference(reference, Kind::view(mask, "the reference's mask"));
    }
    reference_ = Kind::shape_of(reference);
  }

  /// `matrix`: null for no initial transform.
  void set_initial(const double* matrix) {
    const std::lock_guard lock(mutex_);
    if (matrix == nullptr) return registrar_.clear_initial();
    registrar_.set_initial(Kind::initial_of(matrix));
  }

  /// Calls `take(result, shape of the reference)` before another thread can change the reference.
  /// `mask`: may be null.
  template <class Take>
  void align(const View& moving, const warpalign_image* mask, Take&& take) {
    const std::lock_guard lock(mutex_);
    take(mask == nullptr ? registrar_.align(moving)
                         : registrar_.align(moving, Kind::view(mask, Kind::moving_mask)),
         reference_);
  }

 private:
  const Options options_;
  std::mutex mutex_;
  typename Kind::Registrar registrar_;
  Shape reference_;
};

/// The registrar of a handle. Throws InvalidHandle.
template <class Kind, class Handle>
std::shared_ptr<SharedRegistrar<Kind>> registrar_of(Handle handle) {
  return object_of<SharedRegistrar<Kind>>(handle.id, Kind::no_registrar);
}

// The functions of the C interface that are the same for images and volumes.

template <class Kind, class Options, class Handle>
warpalign_status make_registrar(warpalign_device device, const Options* options,
                                Handle* registrar) noexcept {
  return call([&] {
    Handle& target = required(registrar, "registrar");
    target.id = 0;
    const auto opened = object_of<Device>(device.id, no_device);
    target.id = handles<SharedRegistrar<Kind>>().insert(
        std::make_shared<SharedRegistrar<Kind>>(*opened, Kind::options_of(options)));
  });
}

template <class Kind, class Handle>
warpalign_status set_reference(Handle registrar, const warpalign_image* reference,
                               const warpalign_image* mask) noexcept {
  return call([&] {
    const auto shared = registrar_of<Kind>(registrar);
    shared->set_reference(Kind::view(reference, "the reference"), mask);
  });
}

template <class Kind, class Handle>
warpalign_status set_initial(Handle registrar, const double* matrix) noexcept {
  return call([&] { registrar_of<Kind>(registrar)->set_initial(matrix); });
}

template <class Kind, class Handle>
warpalign_status destroy_registrar(Handle registrar) noexcept {
  return call([&] {
    if (!handles<SharedRegistrar<Kind>>().remove(registrar.id)) {
      throw InvalidHandle{Kind::no_registrar};
    }
  });
}

}  // namespace warpalign::c_interface

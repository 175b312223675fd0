// What every function of the C interface does: turns exceptions into a status and a text.
#pragma once

#include "c_interface/handles.hpp"

#include <warpalign/warpalign.h>
#include <warpalign/error.hpp>

#include <exception>
#include <new>
#include <string>

namespace warpalign::c_interface {

/// A handle that is null or not in use (any more).
struct InvalidHandle {
  const char* what;
};

/// Sets the text of this thread's last error; never throws.
void set_last_error(const char* text) noexcept;
[[nodiscard]] warpalign_status status_of(ErrorKind kind) noexcept;
/// The status of the exception that is being handled, whose text becomes the last error.
[[nodiscard]] warpalign_status report_exception() noexcept;

[[noreturn]] void refuse(const std::string& message);

template <class Work>
warpalign_status call(Work&& work) noexcept {
  try {
    work();
    set_last_error("");
    return WARPALIGN_OK;
  } catch (...) {
    return report_exception();
  }
}

/// The object of a handle. Throws InvalidHandle.
template <class T>
std::shared_ptr<T> object_of(std::uint64_t id, const char* what) {
  std::shared_ptr<T> object = handles<T>().find(id);
  if (!object) throw InvalidHandle{what};
  return object;
}

/// Throws Error(invalid_argument) for null.
template <class T>
T& required(T* pointer, const char* what) {
  if (pointer == nullptr) refuse(std::string(what) + " is null");
  return *pointer;
}

/// Checks the size that the caller gives for a structure.
template <class Struct>
void check_size(std::size_t size, const char* what) {
  if (size == sizeof(Struct)) return;
  refuse(std::string("the size of ") + what + " is given as " + std::to_string(size) + ", not as " +
         std::to_string(sizeof(Struct)));
}
template <class Struct>
void check_size(const Struct& given, const char* what) {
  check_size<Struct>(given.struct_size, what);
}

}  // namespace warpalign::c_interface

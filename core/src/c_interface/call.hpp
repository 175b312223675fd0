// The frame of every function of the C interface: converts exceptions to a status and a message.
#pragma once

#include "c_interface/handles.hpp"

#include <warpalign/warpalign.h>
#include <warpalign/error.hpp>

#include <exception>
#include <new>
#include <string>

namespace warpalign::c_interface {

/// The exception for a handle that is null or no longer in use.
struct InvalidHandle {
  const char* what;
};

/// Sets the message of this thread's last error. Never throws.
void set_last_error(const char* text) noexcept;
[[nodiscard]] warpalign_status status_of(ErrorKind kind) noexcept;
/// Returns the status of the current exception, and sets the last error to its message.
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

/// Dereferences a pointer. Throws Error(invalid_argument) for null.
template <class T>
T& required(T* pointer, const char* what) {
  if (pointer == nullptr) refuse(std::string(what) + " is null");
  return *pointer;
}

/// Checks the struct_size of a structure.
template <class Struct>
void check_size(std::size_t size, const char* what) {
  if (size == sizeof(Struct)) return;
  refuse(std::string("struct_size of ") + what + " is " + std::to_string(size) + ", but must be " +
         std::to_string(sizeof(Struct)));
}
template <class Struct>
void check_size(const Struct& given, const char* what) {
  check_size<Struct>(given.struct_size, what);
}
/// Requires a structure for the result, of the right size.
template <class Struct>
void check_result(const Struct* result) {
  check_size(required(result, "result"), "result");
}

}  // namespace warpalign::c_interface

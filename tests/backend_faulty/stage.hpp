// A stage of another backend, each call of which can be made to fail.
//
// Most stages have one function, enqueue(), whose arguments the template deduces. The others are
// in other_stages.hpp.
#pragma once

#include "arguments.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

namespace warpalign::faulty {

/// The name of a stage: "Sobel", ...
template <class Stage>
const std::string& stage_name() {
  static const std::string name = [] {
    int status = 0;
    char* whole = abi::__cxa_demangle(typeid(Stage).name(), nullptr, nullptr, &status);
    std::string text = status == 0 ? whole : typeid(Stage).name();
    std::free(whole);
    return text.substr(text.rfind(':') + 1);
  }();
  return name;
}

/// The members that all wrapped stages share: the other backend's stage, and the point of each
/// call.
template <class Stage>
class Wrapped : public Stage {
 public:
  Wrapped(std::unique_ptr<Stage> inner, backend::DeviceLoss& loss)
      : inner_(std::move(inner)), loss_(loss) {}

 protected:
  [[nodiscard]] Stage& reach() {
    static const std::string what = "enqueue " + stage_name<Stage>();
    point(what.c_str(), stage_name<Stage>().c_str(), ErrorKind::device_failure, &loss_);
    return *inner_;
  }
  [[nodiscard]] const Stage& inner() const noexcept { return *inner_; }
  [[nodiscard]] Stage& inner() noexcept { return *inner_; }

 private:
  Counted counted_;
  std::unique_ptr<Stage> inner_;
  backend::DeviceLoss& loss_;
};

template <class Stage, class Enqueue = decltype(&Stage::enqueue)>
class Faulty;

template <class Stage, class Result, class... Arguments>
class Faulty<Stage, Result (Stage::*)(Arguments...)> final : public Wrapped<Stage> {
 public:
  using Wrapped<Stage>::Wrapped;
  Result enqueue(Arguments... arguments) override {
    return this->reach().enqueue(inner_of(arguments)...);
  }
};

}  // namespace warpalign::faulty

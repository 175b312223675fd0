// One case of a property, on all devices at once.
#include "properties/trial.hpp"

#include <cmath>
#include <exception>
#include <future>

namespace properties {

void Trial::on_every_device(const std::function<double(const warpalign::Device&)>& body) {
  std::vector<std::future<double>> results;
  for (const warpalign::Device& device : devices_) {
    results.push_back(std::async(std::launch::async, [&body, &device] { return body(device); }));
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string& id = devices_[i].info().id;
    try {
      const double error = results[i].get();
      if (error <= 1) {
        worst_ = std::max(worst_, error);
      } else {
        fail(id + ": " + std::to_string(error) + " times the tolerance");
      }
    } catch (const std::exception& exception) {
      fail(id + ": " + exception.what());
    }
  }
}

}  // namespace properties

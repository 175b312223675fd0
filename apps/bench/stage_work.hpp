// Sets of images on a device and their transfers, shared by the benchmarks of all stages.
#pragma once

#include "bench/descriptor.hpp"
#include "bench/pixels.hpp"

namespace warpalign::program::bench {

/// An input or output of a stage.
struct Slot {
  PixelType type = PixelType::f32;
  Shape shape;
  Pixels pixels{};  ///< pixels of an input; null for an output
};

class StageWork : public Work {
 public:
  StageWork(Device device, std::vector<Slot> inputs, std::vector<Slot> outputs);

  [[nodiscard]] std::size_t set_bytes() const override;
  void make_sets(Stream& stream, std::size_t sets) override;
  void run(Stream& stream, std::size_t round) final;
  void upload(Stream& stream) override;
  void download(Stream& stream) override;

 protected:
  struct Set {
    std::vector<Image> inputs;
    std::vector<Image> outputs;
  };

  virtual void run_on(Stream& stream, Set& set) = 0;

  [[nodiscard]] const Device& device() const noexcept { return device_; }
  [[nodiscard]] const Slot& input(std::size_t i) const { return inputs_[i]; }
  /// Runs once on the first set and downloads output `i`, as `Value` (float or two of them).
  template <class Value>
  std::vector<Value> result(Stream& stream, std::size_t i = 0) {
    run(stream, 0);
    const Image& image = sets_.front().outputs[i];
    std::vector<Value> values(image.size_bytes() / sizeof(Value));
    stream.download(image, values.data(), image.size_bytes());
    return values;
  }
  [[nodiscard]] Set& first_set() { return sets_.front(); }

 private:
  Device device_;
  std::vector<Slot> inputs_;
  std::vector<Slot> outputs_;
  std::vector<Set> sets_;
  std::vector<std::byte> returned_;  ///< the outputs copied by download()
};

}  // namespace warpalign::program::bench

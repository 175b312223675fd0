// A benchmark case: a task of one size, with everything that is needed to run it, to verify it, and
// to count its operations.
#pragma once

#include <warpalign/device.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace warpalign::program::bench {

/// The comparison of a result with its reference.
struct Verdict {
  double error = 0;
  double tolerance = 0;
  std::string against;  ///< a description of the reference

  [[nodiscard]] bool right() const noexcept { return error <= tolerance; }  // false for NaN
};

/// A named part of a run's device time.
struct Part {
  std::string name;
  double milliseconds = 0;
};

/// A figure of merit other than time, such as an RMS error.
struct Quality {
  std::string name;  ///< empty if there is no figure
  double value = 0;
};

/// A case on one device: plans, buffers, and one run at a time.
class Work {
 public:
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;

  /// The device memory of one set of inputs and outputs. Runs rotate through several sets.
  [[nodiscard]] virtual std::size_t set_bytes() const = 0;
  /// Replaces the sets by `sets` new ones with initialized inputs.
  virtual void make_sets(Stream& stream, std::size_t sets) = 0;
  /// Creates the plans, replacing earlier ones.
  virtual void make_plans() = 0;
  /// Enqueues one run on set `round` modulo the number of sets.
  virtual void run(Stream& stream, std::size_t round) = 0;
  /// Whether a run uses its own stream and returns only when it is complete. It is then timed by
  /// the host's clock.
  [[nodiscard]] virtual bool waits() const { return false; }
  /// Compares the outputs of a run on set 0 with the reference.
  virtual Verdict verify(Stream& stream) = 0;

  /// Copies the first set's inputs to the device, and its outputs back.
  virtual void upload(Stream& stream) = 0;
  virtual void download(Stream& stream) = 0;

  /// The median device time of the parts of a run, if it has parts.
  virtual std::vector<Part> parts(std::size_t /*runs*/) { return {}; }
  /// Called after verify().
  [[nodiscard]] virtual Quality quality() const { return {}; }
};

/// The same case on one thread of the host, in the implementation that a paper times.
class HostWork {
 public:
  HostWork() = default;
  HostWork(const HostWork&) = delete;
  HostWork& operator=(const HostWork&) = delete;
  virtual ~HostWork() = default;

  /// One run on fresh inputs, whose preparation is not timed. `share`: the fraction of the case's
  /// operations.
  virtual void prepare() = 0;
  virtual void run() = 0;
  [[nodiscard]] virtual double share() const { return 1; }
  virtual Verdict verify() = 0;
};

struct Case {
  std::string suite;
  std::string name;  ///< unique within a suite and size
  Shape size;        ///< of the row; the copy that it is compared with is an f32 image of this size
  std::string yardstick;  ///< the name of the case of this suite and size to compare with, or empty
  std::string unit;       ///< what `operations` counts: "pixels", "interpolations", "pairs"
  double operations = 0;
  double bytes = 0;                ///< each input read once and each output written once
  std::size_t memory_bytes = 0;    ///< device memory for one set, scratch memory included
  std::size_t max_allocation = 0;  ///< the largest allocation

  std::function<std::unique_ptr<Work>(const Device&)> on_device;
  std::function<std::unique_ptr<HostWork>()> on_host;  ///< empty if no paper times it on a CPU
};

}  // namespace warpalign::program::bench

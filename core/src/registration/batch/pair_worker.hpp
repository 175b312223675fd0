// Registers the pairs of one worker of a batch.
#pragma once

#include "registration/batch/batch_run.hpp"
#include "registration/batch/pair_batch.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/registrar.hpp>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Registers groups of pairs that are alike by a PairBatch, and all others by a Registrar.
class PairWorker {
 public:
  PairWorker(const Device& device, const RegistrationOptions& options)
      : device_(device), options_(options), registrar_(device, options) {}

  /// An aligner that owns a worker.
  [[nodiscard]] static Aligner aligner(const Device& device, const RegistrationOptions& options);

  [[nodiscard]] RegistrationResult align(const HostPair& pair);
  /// The number of pairs of a batch that a worker takes at once: 1 if it hardly gains from groups.
  [[nodiscard]] static std::size_t at_once(std::size_t pairs, const RegistrationOptions& options);
  /// The most pairs like this one in a group.
  [[nodiscard]] std::size_t group_size(const HostPair& pair) const;
  /// A result is empty if align() is needed for the pair.
  [[nodiscard]] std::vector<std::optional<RegistrationResult>> align_group(
      std::span<const HostPair> pairs);

 private:
  bool prepare(const HostImage& image);
  void align_part(std::span<const HostPair> pairs,
                  std::span<std::optional<RegistrationResult>> results);

  Device device_;
  RegistrationOptions options_;
  Registrar registrar_;
  std::optional<Stream> stream_;
  std::optional<StageClock> clock_;
  std::unique_ptr<PairBatch> batch_;
  bool lacks_memory_ = false;
  std::vector<HostImage> references_, moving_;  // locals that keep their memory
};

}  // namespace warpalign::detail

// Registers the pairs of one worker of a batch.
#include "registration/batch/pair_worker.hpp"

#include "device/host_rows.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cstddef>

namespace warpalign::detail {

namespace {

// Fewer pairs than that are registered one by one.
constexpr std::size_t min_group = 8;
// What workers take at once, by the number of pairs of the call: few enough for several workers to
// have some, and for the first result to come soon.
constexpr std::size_t some_pairs = 128, of_some_pairs = 16;
constexpr std::size_t many_pairs = 512, of_many_pairs = 32;

// Workers of one device, usually (BatchOptions::streams_per_device).
constexpr std::size_t usual_streams = 2;

bool is_batched(const HostImage& image) {
  return image.data != nullptr && can_be_batched(image.type, image.shape()) &&
         has_valid_rows(image);
}

bool is_batched(const HostPair& pair) {
  return !pair.reference_mask && !pair.moving_mask && !pair.initial && is_batched(pair.reference) &&
         is_batched(pair.moving) && pair.reference.type == pair.moving.type &&
         pair.reference.shape() == pair.moving.shape();
}

bool are_alike(const HostPair& a, const HostPair& b) {
  return is_batched(b) && a.reference.type == b.reference.type &&
         a.reference.shape() == b.reference.shape();
}

}  // namespace

Aligner PairWorker::aligner(const Device& device, const RegistrationOptions& options) {
  const auto worker = std::make_shared<PairWorker>(device, options);
  return {[worker](const HostPair& pair) { return worker->align(pair); },
          {[worker](const HostPair& pair) { return worker->group_size(pair); }, are_alike,
           [worker](std::span<const HostPair> pairs) { return worker->align_group(pairs); }}};
}

std::size_t PairWorker::at_once(std::size_t pairs, const RegistrationOptions& options) {
  if (!can_pairs_be_batched(options) || pairs < some_pairs) return 1;
  return pairs < many_pairs ? of_some_pairs : of_many_pairs;
}

RegistrationResult PairWorker::align(const HostPair& pair) {
  if (pair.initial) {
    registrar_.set_initial(*pair.initial);
  } else {
    registrar_.clear_initial();
  }
  if (pair.reference_mask) {
    registrar_.set_reference(pair.reference, *pair.reference_mask);
  } else {
    registrar_.set_reference(pair.reference);
  }
  if (pair.moving_mask) return registrar_.align(pair.moving, *pair.moving_mask);
  return registrar_.align(pair.moving);
}

std::size_t PairWorker::group_size(const HostPair& pair) const {
  if (lacks_memory_ || !can_pairs_be_batched(options_) || !is_batched(pair)) return 1;
  const std::size_t size = pairs_at_once(device_, pair.reference.type, pair.reference.shape());
  return size < min_group ? 1 : size;
}

// Halves the batch if the device has not enough memory. Returns false if it has hardly any.
bool PairWorker::prepare(const HostImage& image) {
  if (batch_ && batch_->matches(image.type, image.shape())) return true;
  if (!stream_) clock_.emplace(stream_.emplace(device_.make_stream()));
  batch_.reset();  // frees its memory before the new one allocates
  std::size_t pairs = pairs_at_once(device_, image.type, image.shape());
  for (; pairs >= min_group; pairs /= 2) {
    try {
      batch_ = std::make_unique<PairBatch>(device_, options_, image.type, image.shape(), pairs,
                                           host_threads_of(device_, usual_streams));
      return true;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_memory) throw;
    }
  }
  lacks_memory_ = true;
  return false;
}

void PairWorker::align_part(std::span<const HostPair> pairs,
                            std::span<std::optional<RegistrationResult>> results) {
  references_.clear();
  moving_.clear();
  for (const HostPair& pair : pairs) {
    references_.push_back(pair.reference);
    moving_.push_back(pair.moving);
  }
  const auto found = batch_->run(*clock_, references_, moving_);
  std::copy(found.begin(), found.end(), results.begin());
}

std::vector<std::optional<RegistrationResult>> PairWorker::align_group(
    std::span<const HostPair> pairs) {
  std::vector<std::optional<RegistrationResult>> results(pairs.size());
  if (pairs.size() < min_group) return results;
  try {
    if (!prepare(pairs.front().reference)) return results;
    for (std::size_t done = 0; done < pairs.size(); done += batch_->pairs()) {
      const std::size_t count = std::min(batch_->pairs(), pairs.size() - done);
      align_part(pairs.subspan(done, count), std::span(results).subspan(done, count));
    }
  } catch (const Error&) {
    batch_.reset();  // a Registrar reports what is wrong, for each pair
  }
  return results;
}

}  // namespace warpalign::detail

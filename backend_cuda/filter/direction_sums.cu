// Stage: the sums from which the mean and the energy of a field of orientations follow.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "shared/kernel_language.h"

#include <warpalign/backend/stages/filter/direction_sums.hpp>

namespace warpalign::cuda {
namespace {

#define GROUP 256
#include "shared/direction_sums.cl"
static_assert(DIRECTION_SUMS == backend::direction_sum_count);

class DirectionSumsStage final : public backend::DirectionSums {
 public:
  explicit DirectionSumsStage(const Context& context) : site_{context, "direction_sums"} {
    load(&direction_sums, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& cosines, const backend::Memory& sines,
               std::int64_t pixels, std::int64_t result, backend::Memory& partials) override {
    constexpr auto groups = static_cast<int>(backend::direction_sum_groups);
    launch_dependent(site_, queue, dim3(groups), dim3(GROUP), &direction_sums, data<float>(cosines),
                 data<float>(sines), static_cast<int>(pixels), groups,
                 static_cast<int>(result) * DIRECTION_SUMS, data<float>(partials));
  }

 private:
  CallSite site_;
};

}  // namespace

template <>
std::unique_ptr<backend::DirectionSums> make(const Context& context, const DirectionSumsSpec&) {
  return std::make_unique<DirectionSumsStage>(context);
}

}  // namespace warpalign::cuda

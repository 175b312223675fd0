// Stage: computes B-spline coefficients from samples by the chosen method.
#include "device/stage.hpp"
#include "spline/prefilter_method.hpp"

#include <warpalign/backend/stages/spline/prefilter.hpp>

namespace warpalign::cuda {

template <>
std::unique_ptr<backend::Prefilter> make(const Context& context,
                                         const backend::Prefilter::Setup& setup) {
  const auto& [spec, details] = setup;
  switch (*spec.spline.prefilter) {
    case PrefilterMethod::fir:
      return make_prefilter_fir(context, spec, details);
    case PrefilterMethod::iir_line:
      return make_prefilter_iir(context, spec, details);
    default:
      return make_prefilter_exact(context, spec, details);
  }
}

}  // namespace warpalign::cuda

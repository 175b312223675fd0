// Stage: from samples to B-spline coefficients, by the method asked for.
#include "spline/prefilter_method.hpp"
#include "stages.hpp"

namespace warpalign::cuda {

std::unique_ptr<backend::Prefilter> make_prefilter(const Context& context,
                                                   const PrefilterSpec& spec,
                                                   const backend::PrefilterDetails& details) {
  switch (spec.method) {
    case PrefilterMethod::fir:
      return make_prefilter_fir(context, spec, details);
    case PrefilterMethod::iir_line:
      return make_prefilter_line(context, spec, details);
    default:
      return make_prefilter_exact(context, spec, details);
  }
}

}  // namespace warpalign::cuda

// The prefilter's methods, each in the file of its name; prefilter.cpp chooses one.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/stages/spline/prefilter.hpp>

#include <memory>

namespace warpalign::cuda {

std::unique_ptr<backend::Prefilter> make_prefilter_exact(const Context& context,
                                                         const PrefilterSpec& spec,
                                                         const backend::PrefilterDetails& details);
std::unique_ptr<backend::Prefilter> make_prefilter_iir(const Context& context,
                                                       const PrefilterSpec& spec,
                                                       const backend::PrefilterDetails& details);
std::unique_ptr<backend::Prefilter> make_prefilter_fir(const Context& context,
                                                       const PrefilterSpec& spec,
                                                       const backend::PrefilterDetails& details);

}  // namespace warpalign::cuda

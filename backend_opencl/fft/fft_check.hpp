// Tests whether an FFT plan transforms correctly.
#pragma once

#include "fft/fft_provider.hpp"

namespace warpalign::opencl {

/// Runs a plan on images, or a volume, of a few impulses, whose spectra are known, in the
/// directions of the plan. Returns what is wrong; empty if nothing is.
[[nodiscard]] std::string check_plan(const Context& context, FftPlan& plan,
                                     const RealFftSpec& spec);

}  // namespace warpalign::opencl

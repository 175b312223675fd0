// The complete public interface of warpalign.
#pragma once

#include <warpalign/batch.hpp>
#include <warpalign/boundary.hpp>
#include <warpalign/compilation.hpp>
#include <warpalign/config.hpp>
#include <warpalign/device.hpp>
#include <warpalign/error.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/installation.hpp>
#include <warpalign/interop.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/pixel.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/convert.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/interpolate.hpp>
#include <warpalign/stages/log_polar.hpp>
#include <warpalign/stages/magnitude.hpp>
#include <warpalign/stages/phase_correlation.hpp>
#include <warpalign/stages/prefilter.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/stages/sobel.hpp>
#include <warpalign/transform.hpp>
#include <warpalign/version.hpp>
#include <warpalign/volume_registrar.hpp>
#include <warpalign/window.hpp>

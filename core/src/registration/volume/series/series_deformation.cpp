// The deformations of the volumes of a series.
#include "registration/volume/series/series_deformation.hpp"

#include "registration/volume/deformation_options.hpp"

namespace warpalign::detail {

SeriesDeformation::SeriesDeformation(const Device& device, Stream& stream,
                                     const VolumeRegistrationOptions& options)
    : device_(device),
      stream_(stream),
      clock_(stream),
      options_(options),
      reference_(device),
      moving_(device) {}

void SeriesDeformation::take(DeformationSource& source, const Image& values,
                             const MissingVoxels* missing) {
  if (missing == nullptr) {
    source.take<Image, HostVolume>(stream_, clock_, values, nullptr, false);
    return;
  }
  const HostVolume known = missing->known();
  source.take(stream_, clock_, values, &known, false);
}

void SeriesDeformation::set_reference(const Image& values, const MissingVoxels* missing) {
  check_grid_fits(options_, values.shape());
  take(reference_, values, missing);
}

Deformation SeriesDeformation::fit(const Image& values, const MissingVoxels* missing,
                                   const HomogeneousMatrix& affine) {
  take(moving_, values, missing);
  const Shape& shape = values.shape();
  DeformableFit& fit = DeformableFit::of(fit_, device_, shape, options_.reference_spacing, shape,
                                         options_.moving_spacing, deformable_settings(options_));
  return fit.run(stream_, clock_, {reference_.values(), reference_.known()},
                 {moving_.values(), moving_.known()}, affine);
}

}  // namespace warpalign::detail

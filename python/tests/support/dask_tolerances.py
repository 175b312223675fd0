"""How far results on Dask may be from those of SciPy or of the whole array."""

# Prefilter and evaluation are each within 4e-7 of the largest coefficient (single precision), which
# for random samples of 0 to 1 is at most 8.
TOLERANCE = 6.4e-6
# SciPy, and warpalign.ndimage as SciPy, pads by 12 samples in these modes, which limits its
# accuracy to this.
PADDED = {4: 2e-5, 5: 3e-4}


def tolerance_for(order, mode):
    if mode in ("nearest", "grid-constant"):
        return max(TOLERANCE, PADDED.get(order, 0))
    return TOLERANCE

// Conversion between real and complex for images one pixel wide, whose half spectrum is the whole
// spectrum.
//
// variant: gpu

kernel void widen(global const float* real, global float2* spectrum, ulong count) {
  const size_t i = get_global_id(0);
  if (i < count) spectrum[i] = (float2)(real[i], 0.0f);
}

kernel void narrow(global const float2* spectrum, global float* real, ulong count) {
  const size_t i = get_global_id(0);
  if (i < count) real[i] = spectrum[i].x;
}

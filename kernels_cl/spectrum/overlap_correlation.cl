// The products of spectra for the correlation at every shift that overlap_peaks.cl scores by
// overlap.
//
// Option: SECOND_CHANNEL, if the images have two channels.
//
// variant: gpu
// variant: gpu -DSECOND_CHANNEL
// A conj(B), and A B.
inline float4 both_products(float2 p, float2 q) {
  return (float4)(fma(p.x, q.x, p.y * q.y), fma(p.y, q.x, -p.x * q.y), fma(p.x, q.x, -p.y * q.y),
                  fma(p.y, q.x, p.x * q.y));
}

// Writes the products to one slice and the next. The second index of a work-item is the number of
// the image b.
kernel void overlap_products(global const float2* a, global const float2* b,
#ifdef SECOND_CHANNEL
                             global const float2* a_second, global const float2* b_second,
#endif
                             int plane, int batch, global float2* products) {
  const int i = (int)get_global_id(0);
  const size_t image = get_global_id(1);
  if (i >= plane || image >= (size_t)batch) return;
  const size_t of_image = image * (size_t)plane + (size_t)i;
  float4 both = both_products(a[i], b[of_image]);
#ifdef SECOND_CHANNEL
  both += both_products(a_second[i], b_second[of_image]);
#endif
  products += image * 2 * (size_t)plane;
  products[i] = both.xy;
  products[(size_t)plane + (size_t)i] = both.zw;
}

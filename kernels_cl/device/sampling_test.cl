// Reads an image at given points with linear filtering, for the self-test of a device's texture
// unit.
//
// variant: gpu

kernel void sampling_test(read_only image2d_t image, sampler_t linear, global const float2* points,
                          global float* values, int count) {
  const int i = (int)get_global_id(0);
  if (i < count) values[i] = read_imagef(image, linear, points[i] + (float2)(0.5f)).x;
}

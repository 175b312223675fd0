// Copies pixels of a buffer, from number `first` on, to a whole image. It exists because the copy
// of some drivers takes several times as long.
//
// Option: COMPLEX, if pixels are pairs of floats.
//
// variant: gpu
// variant: gpu -DCOMPLEX
#ifdef COMPLEX
typedef float2 Value;
#define COLOUR(value) ((float4)((value).x, (value).y, 0.0f, 1.0f))
#else
typedef float Value;
#define COLOUR(value) ((float4)((value), 0.0f, 0.0f, 1.0f))
#endif

kernel void texture_fill(global const Value* restrict source, write_only image2d_t image, int width,
                         int height, ulong first) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width || y >= height) return;
  const Value value = source[(size_t)first + (size_t)y * (size_t)width + (size_t)x];
  write_imagef(image, (int2)(x, y), COLOUR(value));
}

// Gaussian smoothing, sampled on a separate output grid, one axis per pass.
//
// Options: PIXEL_U8, PIXEL_U16 or PIXEL_F32, the type of the first pass's input; MASKED, if there
// is a mask: the kernels then compute the sums of weights along with the sums of pixels.
//
// Output i of an axis is the sum over k of weights[k n + i] times input first[i] + k.
//
// variant: gpu -DPIXEL_U8
// variant: gpu -DPIXEL_F32 -DMASKED

#if defined(PIXEL_U8)
typedef uchar Pixel;
#elif defined(PIXEL_U16)
typedef ushort Pixel;
#else
typedef float Pixel;
#endif

#ifdef MASKED

// between: (sum, weight) for each output column of each input row.
kernel void smooth_rows(global const Pixel* input, global const uchar* mask, int width, int height,
                        global const int* first, global const float* weights, int taps, int columns,
                        global float2* between) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= columns || y >= height) return;
  const size_t start = (size_t)y * (size_t)width + (size_t)first[x];
  float sum = 0.0f;
  float counted = 0.0f;
  for (int k = 0; k < taps; ++k) {
    const float weight = weights[k * columns + x];
    const bool counts = mask[start + k] != 0;
    sum = fma(weight, counts ? (float)input[start + k] : 0.0f, sum);
    counted += counts ? weight : 0.0f;
  }
  between[(size_t)y * (size_t)columns + (size_t)x] = (float2)(sum, counted);
}

kernel void smooth_columns(global const float2* between, int columns, int rows,
                           global const int* first, global const float* weights, int taps,
                           global float* output, global float* weight_of_output) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= columns || y >= rows) return;
  const size_t start = (size_t)first[y] * (size_t)columns + (size_t)x;
  float2 sum = (float2)(0.0f, 0.0f);
  for (int k = 0; k < taps; ++k) {
    sum = fma((float2)(weights[k * rows + y]), between[start + (size_t)k * (size_t)columns], sum);
  }
  const size_t at = (size_t)y * (size_t)columns + (size_t)x;
  output[at] = sum.y > 0.0f ? sum.x / sum.y : 0.0f;
  weight_of_output[at] = sum.y;
}

#else

kernel void smooth_rows(global const Pixel* input, int width, int height, global const int* first,
                        global const float* weights, int taps, int columns, global float* between) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= columns || y >= height) return;
  global const Pixel* from = input + (size_t)y * (size_t)width + (size_t)first[x];
  float sum = 0.0f;
  for (int k = 0; k < taps; ++k) sum = fma(weights[k * columns + x], (float)from[k], sum);
  between[(size_t)y * (size_t)columns + (size_t)x] = sum;
}

kernel void smooth_columns(global const float* between, int columns, int rows,
                           global const int* first, global const float* weights, int taps,
                           global float* output) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= columns || y >= rows) return;
  const size_t start = (size_t)first[y] * (size_t)columns + (size_t)x;
  float sum = 0.0f;
  for (int k = 0; k < taps; ++k) {
    sum = fma(weights[k * rows + y], between[start + (size_t)k * (size_t)columns], sum);
  }
  output[(size_t)y * (size_t)columns + (size_t)x] = sum;
}

#endif

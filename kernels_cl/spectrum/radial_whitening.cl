// The radial profile divided out of a log-polar spectrum, in place.
//
// Options: COLUMNS x ROWS, the work-group's size; ROWS a power of two.
//
// variant: gpu -DCOLUMNS=8 -DROWS=32

// A group takes COLUMNS radii; its rows of items share the angles.
kernel __attribute__((reqd_work_group_size(COLUMNS, ROWS, 1)))
void radial_whitening(global float* image, int width, int height) {
  local float sums[ROWS][COLUMNS];
  local float counts[ROWS][COLUMNS];
  const int column = (int)get_local_id(0);
  const int row = (int)get_local_id(1);
  const int x = (int)get_group_id(0) * COLUMNS + column;
  float sum = 0.0f;
  float count = 0.0f;
  if (x < width) {
    for (int y = row; y < height; y += ROWS) {
      const float value = image[y * width + x];
      sum += value;
      count += value != 0.0f ? 1.0f : 0.0f;
    }
  }
  sums[row][column] = sum;
  counts[row][column] = count;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_rows = ROWS / 2; half_rows > 0; half_rows /= 2) {
    if (row < half_rows) {
      sums[row][column] += sums[row + half_rows][column];
      counts[row][column] += counts[row + half_rows][column];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (x >= width || !(sums[0][column] > 0.0f)) return;
  const float one_over_mean = counts[0][column] / sums[0][column];
  for (int y = row; y < height; y += ROWS) {
    const float value = image[y * width + x];
    if (value != 0.0f) image[y * width + x] = fma(value, one_over_mean, -1.0f);
  }
}

/* A C program: finds how one volume bends onto another, and warps it back. */
#include <warpalign/warpalign.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { SIDE = 40, VOXELS = SIDE * SIDE * SIDE };

/* Both volumes show the same scene; the moving one shows the scene's point x + bend at x. */
static void draw(float* voxels, double height) {
  for (int z = 0; z < SIDE; ++z) {
    for (int y = 0; y < SIDE; ++y) {
      for (int x = 0; x < SIDE; ++x) {
        const double u = x + height * sin(0.09 * y + 0.05 * z);
        voxels[(z * SIDE + y) * SIDE + x] =
            (float)(sin(0.5 * u + 0.011 * y * y) + cos(0.4 * y - 0.013 * z * z) +
                    sin(0.45 * z + 0.009 * u * u));
      }
    }
  }
}

static int failed(warpalign_status status, const char* what) {
  if (status == WARPALIGN_OK) return 0;
  fprintf(stderr, "%s: %s: %s\n", what, warpalign_status_name(status), warpalign_last_error());
  return 1;
}

/* The mean difference of two volumes, away from the faces. */
static double mean_difference(const float* a, const float* b) {
  const int margin = 6;
  double sum = 0;
  int count = 0;
  for (int z = margin; z < SIDE - margin; ++z) {
    for (int y = margin; y < SIDE - margin; ++y) {
      for (int x = margin; x < SIDE - margin; ++x, ++count) {
        const int i = (z * SIDE + y) * SIDE + x;
        sum += fabs((double)a[i] - b[i]);
      }
    }
  }
  return sum / count;
}

static int run(warpalign_device device) {
  static float reference[VOXELS];
  static float moving[VOXELS];
  static float aligned[VOXELS];
  draw(reference, 0);
  draw(moving, 2);
  const warpalign_image first = {reference, WARPALIGN_F32, SIDE, SIDE, SIDE, 0};
  const warpalign_image second = {moving, WARPALIGN_F32, SIDE, SIDE, SIDE, 0};

  warpalign_volume_options options;
  if (failed(warpalign_default_volume_options(&options, sizeof options), "options")) return 1;
  options.motion = WARPALIGN_DEFORMABLE;
  options.max_rotation = 20;
  for (int axis = 0; axis < 3; ++axis) { /* millimetres from voxel to voxel */
    options.reference_spacing[axis] = 0.8;
    options.moving_spacing[axis] = 0.8;
  }
  warpalign_volume_registration found = {.struct_size = sizeof found};
  warpalign_transform transform;
  if (failed(warpalign_register_volumes(device, &first, &second, &options, &found, &transform),
             "register_volumes")) {
    return 1;
  }
  if (!found.reliable) return 1;

  const warpalign_output output = {aligned, WARPALIGN_F32, SIDE, SIDE, SIDE};
  const warpalign_status warped = warpalign_warp(device, transform, &second, NULL, &output);
  if (failed(warped, "warp")) return 1;
  if (failed(warpalign_destroy_transform(transform), "destroy_transform")) return 1;
  const double before = mean_difference(reference, moving);
  const double after = mean_difference(reference, aligned);
  printf("mean difference: %.2f before, %.2f after\n", before, after);
  return after < 0.2 * before ? 0 : 1;
}

int main(void) {
  warpalign_device device;
  if (failed(warpalign_open_device(NULL, &device), "open_device")) return 2;
  const int status = run(device);
  if (failed(warpalign_close_device(device), "close_device")) return 2;
  return status;
}

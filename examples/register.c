/* A C program: registers two images, then warps the second to the first. */
#include <warpalign/warpalign.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 256 };

static void draw(uint8_t* pixels, int ox, int oy) {
  for (int y = 0; y < SIDE; ++y) {
    for (int x = 0; x < SIDE; ++x) {
      const double u = x + ox;
      const double v = y + oy;
      pixels[y * SIDE + x] =
          (uint8_t)(128 + 60 * sin(0.11 * u + 0.004 * v * v) + 50 * cos(0.09 * v - 0.003 * u * u));
    }
  }
}

static int failed(warpalign_status status, const char* what) {
  if (status == WARPALIGN_OK) return 0;
  fprintf(stderr, "%s: %s: %s\n", what, warpalign_status_name(status), warpalign_last_error());
  return 1;
}

/* The mean difference between the aligned image and the reference, away from the edges. */
static double mean_difference(const uint8_t* reference, const uint8_t* aligned) {
  double sum = 0;
  int count = 0;
  for (int y = 20; y < SIDE - 20; ++y) {
    for (int x = 20; x < SIDE - 20; ++x, ++count) {
      sum += abs(reference[y * SIDE + x] - aligned[y * SIDE + x]);
    }
  }
  return sum / count;
}

static int run(warpalign_device device) {
  static uint8_t reference[SIDE * SIDE];
  static uint8_t moving[SIDE * SIDE];
  static uint8_t aligned[SIDE * SIDE];
  draw(reference, 0, 0);
  draw(moving, 12, -7);
  const warpalign_image first = {reference, WARPALIGN_U8, SIDE, SIDE, 1, 0};
  const warpalign_image second = {moving, WARPALIGN_U8, SIDE, SIDE, 1, 0};
  warpalign_registration found = {.struct_size = sizeof found};
  if (failed(warpalign_register(device, &first, &second, NULL, &found), "register")) return 1;
  printf("shifted by %.3f, %.3f; confidence %.3f\n", found.translation_x, found.translation_y,
         found.confidence);

  double transform[16];
  const warpalign_output output = {aligned, WARPALIGN_U8, SIDE, SIDE, 1};
  if (failed(warpalign_transform_from_affine(found.matrix, transform), "transform_of")) return 1;
  if (failed(warpalign_resample(device, &second, transform, NULL, &output), "resample")) return 1;
  const double difference = mean_difference(reference, aligned);
  printf("mean difference after alignment: %.2f grey levels\n", difference);
  return found.reliable && difference < 1 ? 0 : 1;
}

int main(void) {
  warpalign_device device;
  if (failed(warpalign_open_device(NULL, &device), "open_device")) return 2;
  const int status = run(device);
  if (failed(warpalign_close_device(device), "close_device")) return 2;
  return status;
}

/* A C program: builds the mean shape and intensities of three images, of which one has a stain that
 * a mask leaves out. */
#include <warpalign/warpalign.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { SIDE = 160, PIXELS = SIDE * SIDE, COUNT = 3, ROUNDS = 2 };

/* All images show one scene, each shifted along x by another wave. */
static void draw(float* pixels, double height) {
  for (int y = 0; y < SIDE; ++y) {
    for (int x = 0; x < SIDE; ++x) {
      const double u = x + height * sin(0.05 * y);
      const double v = y;
      pixels[y * SIDE + x] =
          (float)(sin(0.31 * u + 0.004 * v * v) + cos(0.27 * v - 0.003 * u * u) +
                  sin(0.11 * u + 0.13 * v));
    }
  }
}

static void stain(float* pixels, uint8_t* mask) {
  for (int y = 0; y < SIDE; ++y) {
    for (int x = 0; x < SIDE; ++x) {
      const int is_stained = hypot(x - 80.0, y - 90.0) < 12;
      mask[y * SIDE + x] = is_stained ? 0 : 255;
      if (is_stained) pixels[y * SIDE + x] = 30;
    }
  }
}

static int failed(warpalign_status status, const char* what) {
  if (status == WARPALIGN_OK) return 0;
  fprintf(stderr, "%s: %s: %s\n", what, warpalign_status_name(status), warpalign_last_error());
  return 1;
}

/* The mean difference of two images where both are known, away from the edges. */
static double mean_difference(const float* a, const float* b) {
  double sum = 0;
  int count = 0;
  for (int y = 16; y < SIDE - 16; ++y) {
    for (int x = 16; x < SIDE - 16; ++x) {
      const double difference = fabs((double)a[y * SIDE + x] - b[y * SIDE + x]);
      if (isnan(difference)) continue;
      sum += difference;
      ++count;
    }
  }
  return sum / count;
}

static int run(warpalign_device device) {
  static float pixels[COUNT][PIXELS];
  static uint8_t mask[PIXELS];
  static float mean[PIXELS];
  static float laid[PIXELS];
  warpalign_image images[COUNT];
  warpalign_image masks[COUNT] = {{0}}; /* no data: no mask */
  for (int i = 0; i < COUNT; ++i) {
    draw(pixels[i], 3.0 * (i - 1));
    images[i] = (warpalign_image){pixels[i], WARPALIGN_F32, SIDE, SIDE, 1, 0};
  }
  stain(pixels[2], mask);
  masks[2] = (warpalign_image){mask, WARPALIGN_U8, SIDE, SIDE, 1, 0};

  warpalign_template_options options;
  if (failed(warpalign_default_template_options(&options, sizeof options), "options")) return 1;
  options.rounds = ROUNDS;
  warpalign_transform transforms[COUNT]; /* from the template to each image */
  double changes[ROUNDS];
  warpalign_template found = {.struct_size = sizeof found,
                              .pixels = {mean, WARPALIGN_F32, SIDE, SIDE, 1},
                              .transforms = transforms,
                              .changes = changes};
  if (failed(warpalign_build_template(device, images, masks, COUNT, NULL, NULL, &options, &found),
             "build_template")) {
    return 1;
  }
  printf("%d of %d images used; moved by %.2f, then %.2f pixels\n", (int)found.used, COUNT,
         changes[0], changes[1]);

  double difference = 0;
  for (int i = 0; i < COUNT; ++i) {
    if (transforms[i].id == 0) continue; /* not used */
    const warpalign_output output = {laid, WARPALIGN_F32, SIDE, SIDE, 1};
    if (failed(warpalign_warp(device, transforms[i], &images[i], NULL, &output), "warp")) return 1;
    if (i == 0) difference = mean_difference(laid, mean);
    if (failed(warpalign_destroy_transform(transforms[i]), "destroy_transform")) return 1;
  }
  printf("mean difference from the first image: %.2f as it is, %.2f laid on the template\n",
         mean_difference(pixels[0], mean), difference);
  return found.used == COUNT && changes[1] < 0.3 * changes[0] && difference < 0.1 ? 0 : 1;
}

int main(void) {
  warpalign_device device;
  if (failed(warpalign_open_device(NULL, &device), "open_device")) return 2;
  const int status = run(device);
  if (failed(warpalign_close_device(device), "close_device")) return 2;
  return status;
}

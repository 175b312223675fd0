// The arguments of local normalization that tell the mean and the square of the floor of a row's
// image: of all rows, or BY_IMAGE.
#ifndef WARPALIGN_LIB_LOCAL_LEVELS_H
#define WARPALIGN_LIB_LOCAL_LEVELS_H

#ifdef BY_IMAGE
#define LEVELS int rows_of_image, global const float2* levels
#define MEAN_OF(y) levels[(y) / rows_of_image].x
#define FLOOR_SQUARE_OF(y) levels[(y) / rows_of_image].y
#else
#define LEVELS float mean, float floor_square
#define MEAN_OF(y) mean
#define FLOOR_SQUARE_OF(y) floor_square
#endif

#endif

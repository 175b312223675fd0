// The common area of two images, in zero-padded frames, and the moments of its texture.
#ifndef WARPALIGN_FORMULAS_COMMON_FRAMES_H
#define WARPALIGN_FORMULAS_COMMON_FRAMES_H

#include "formulas/language.h"

// A pixel is valid if its weight is above this.
#define WA_COMMON_MIN_WEIGHT 0.5f
// Half the side of the square over which the energy of texture is summed.
#define WA_COMMON_RADIUS 8
// The sums of the first pass: the number of common pixels, and their values in the two channels of
// the reference and of the moving image.
#define WA_COMMON_MOMENTS 5
// The members of warpalign::CommonSums.
#define WA_COMMON_SUMS 4

// The rotation of two channels.
typedef struct {
  float cosine, sine;
} WaChannelRotation;

WA_INLINE WA_REAL wa_rotated_first(WaChannelRotation turn, WA_REAL first, WA_REAL second) {
  return WA_FMA(WA_NUMBER(turn.cosine), first, -turn.sine * second);
}

WA_INLINE WA_REAL wa_rotated_second(WaChannelRotation turn, WA_REAL first, WA_REAL second) {
  return WA_FMA(WA_NUMBER(turn.sine), first, turn.cosine * second);
}

#endif

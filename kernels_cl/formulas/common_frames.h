// What two images have in common, in frames of zeros, and how its texture is spread.
#ifndef WARPALIGN_FORMULAS_COMMON_FRAMES_H
#define WARPALIGN_FORMULAS_COMMON_FRAMES_H

#include "formulas/language.h"

// Pixels with weights above this count.
#define WA_COMMON_MIN_WEIGHT 0.5f
// Half the side of the square over which the energy of texture is summed.
#define WA_COMMON_RADIUS 8
// The sums of the first pass: pixels in common, and the values there of the reference's two
// channels and of the moving image's.
#define WA_COMMON_MOMENTS 5
// The members of warpalign::CommonSums.
#define WA_COMMON_SUMS 4

// How two channels are turned.
typedef struct {
  float cosine, sine;
} WaChannelTurn;

WA_INLINE WA_REAL wa_turned_first(WaChannelTurn turn, WA_REAL first, WA_REAL second) {
  return WA_FMA(WA_NUMBER(turn.cosine), first, -turn.sine * second);
}

WA_INLINE WA_REAL wa_turned_second(WaChannelTurn turn, WA_REAL first, WA_REAL second) {
  return WA_FMA(WA_NUMBER(turn.sine), first, turn.cosine * second);
}

#endif

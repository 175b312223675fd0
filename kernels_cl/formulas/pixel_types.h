// The numbers of warpalign::PixelType.
#ifndef WARPALIGN_FORMULAS_PIXEL_TYPES_H
#define WARPALIGN_FORMULAS_PIXEL_TYPES_H

#define WA_PIXEL_U8 0
#define WA_PIXEL_I8 1
#define WA_PIXEL_U16 2
#define WA_PIXEL_I16 3
#define WA_PIXEL_U32 4
#define WA_PIXEL_I32 5
#define WA_PIXEL_F16 6
#define WA_PIXEL_F32 7
#define WA_PIXEL_F64 8

#endif

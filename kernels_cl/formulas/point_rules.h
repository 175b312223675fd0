// The numbers of warpalign::backend::InterpolateDetails::Points.
#ifndef WARPALIGN_FORMULAS_POINT_RULES_H
#define WARPALIGN_FORMULAS_POINT_RULES_H

#define WA_FREE_POINTS 0
#define WA_REJECT_OUTSIDE 1
#define WA_CLAMP_TO_MARGIN 2
#define WA_PERIOD_MINUS_ONE 3

#endif

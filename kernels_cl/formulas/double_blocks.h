// The blocks in which GPUs filter lines in double precision (double_blocks.cl).
#ifndef WARPALIGN_FORMULAS_DOUBLE_BLOCKS_H
#define WARPALIGN_FORMULAS_DOUBLE_BLOCKS_H

// The work-items and the lines of a group, and the samples of a line that it holds.
#define WA_BLOCK_ITEMS 64
#define WA_BLOCK_LANES 16
#define WA_BLOCK_WINDOW 240
// Samples before and behind a block, over which the recursions forget how they started. The largest
// pole of one, 0.268, to the power 32 is 5e-19; of two, 0.431 to the power 48 is 3e-18, and 0.043,
// the second one, needs at most 16 samples more.
#define WA_WARM_UP_OF_ONE_POLE 32
#define WA_WARM_UP_OF_TWO_POLES 64

#endif

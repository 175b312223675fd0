// Finds the missing samples of arrays, fills them, and marks results that are missing.
//
// An array is dense: width x height x depth samples, and several arrays follow one another. Fills
// minimise the squared Laplacian over the missing samples (biharmonic inpainting), by Chebyshev's
// iteration: it needs no sums over samples, so holes do not depend on each other. The Laplacian
// counts along each axis on which a sample has two neighbours.
//
// A state is 0 for a sample without a value, 1 for a known one, d + 1 for one filled in layer d,
// and WA_FAR for one that is filled but not smoothed.
//
// Options: GROUP, the size of the work-group, a power of two; CHUNK, the samples of a work-item.
// The samples of a group's work-items are interleaved.
//
// variant: gpu -DGROUP=256 -DCHUNK=4
// variant: cpu -DGROUP=1 -DCHUNK=1024
#include "formulas/fill_missing.h"
#include "formulas/rounded.h"
#include "shared/group_sum.h"
#include "shared/kernel_language.h"

// Runs `statement` for each sample `i` of the work-item. There are fewer than 2^31, because
// divisions of numbers of 64 bits take most of a kernel's time.
#define WA_FOR_EACH_SAMPLE(statement)                                                     \
  unsigned int i =                                                                        \
      (unsigned int)WA_GROUP_X * (unsigned int)(GROUP * CHUNK) + (unsigned int)WA_ITEM_X; \
  for (int k = 0; k < CHUNK && i < count; ++k, i += GROUP) {                              \
    statement                                                                             \
  }

// One axis at a sample: its index there, the extent, and the distance of neighbours in memory.
typedef struct {
  int at, n;
  unsigned int stride;
} WaAxis;

WA_INLINE void wa_axes_of(unsigned int i, int width, int height, int depth, WaAxis* axes) {
  const unsigned int row = i / (unsigned int)width;
  const unsigned int plane = row / (unsigned int)height;
  axes[0].at = (int)(i - row * (unsigned int)width);
  axes[0].n = width;
  axes[0].stride = 1;
  axes[1].at = (int)(row - plane * (unsigned int)height);
  axes[1].n = height;
  axes[1].stride = (unsigned int)width;
  axes[2].at = (int)(plane % (unsigned int)depth);
  axes[2].n = depth;
  axes[2].stride = (unsigned int)width * (unsigned int)height;
}

// The neighbours of sample i along an axis, or i itself where there is none: loads need not wait
// for a condition then.
WA_INLINE unsigned int wa_lower(unsigned int i, const WaAxis* axis) {
  return axis->at > 0 ? i - axis->stride : i;
}
WA_INLINE unsigned int wa_upper(unsigned int i, const WaAxis* axis) {
  return axis->at + 1 < axis->n ? i + axis->stride : i;
}

WA_INLINE int wa_has_both(const WaAxis* axis) { return axis->at > 0 && axis->at + 1 < axis->n; }

// known: 1 for each sample that is finite and not `nodata`. counts: the missing ones of each group.
WA_KERNEL(GROUP, 1)
find_missing(WA_GLOBAL const float* values, int has_nodata, float nodata, unsigned int count,
             WA_GLOBAL unsigned char* known, WA_GLOBAL float* counts) {
  WA_BEGIN();
  WA_LOCAL float sums[GROUP];
  const int item = WA_ITEM_X;
  float missing = 0.0f;
  WA_FOR_EACH_SAMPLE({
    const float value = values[i];
    const int is_missing = !isfinite(value) || (has_nodata && value == nodata);
    known[i] = is_missing ? 0 : 1;
    missing += is_missing ? 1.0f : 0.0f;
  })
  WA_ADD_UP(sums, item, GROUP, missing)
  if (item == 0) counts[WA_GROUP_X] = missing;
}

// Gives each sample beside one of the layers before `layer` the mean of these neighbours. Before
// the first layer, any number but 0 stands for a known sample.
WA_KERNEL(GROUP, 1)
fill_layer(WA_GLOBAL const unsigned char* from, int width, int height, int depth, int layer,
           unsigned int count, WA_GLOBAL float* values, WA_GLOBAL unsigned char* to) {
  WA_BEGIN();
  WA_FOR_EACH_SAMPLE({
    int state = layer == 1 && from[i] != 0 ? 1 : from[i];
    if (state == 0) {
      WaAxis axes[3];
      wa_axes_of(i, width, height, depth, axes);
      float sum = 0.0f;
      int neighbours = 0;
      WA_UNROLL
      for (int a = 0; a < 3; ++a) {
        // Sample i itself has no value, so that its place never counts.
        const unsigned int lower = wa_lower(i, &axes[a]);
        const unsigned int upper = wa_upper(i, &axes[a]);
        if (from[lower] != 0) {
          sum += values[lower];
          ++neighbours;
        }
        if (from[upper] != 0) {
          sum += values[upper];
          ++neighbours;
        }
      }
      if (neighbours > 0) {
        values[i] = sum / (float)neighbours;
        state = layer + 1;
      }
    }
    to[i] = (unsigned char)state;
  })
}

// furthest: for each group its last layer + 1, or WA_FAR if a sample has no value.
WA_KERNEL(GROUP, 1)
furthest_layer(WA_GLOBAL const unsigned char* states, unsigned int count,
               WA_GLOBAL float* furthest) {
  WA_BEGIN();
  WA_LOCAL float most[GROUP];
  const int item = WA_ITEM_X;
  float own = 0.0f;
  WA_FOR_EACH_SAMPLE({
    const int given = states[i];  // a float of a byte crashes LLVM 15 within rusticl here
    const float state = given == 0 ? (float)WA_FAR : (float)given;
    own = state > own ? state : own;
  })
  most[item] = own;
  WA_BARRIER();
  for (int reached = GROUP / 2; reached > 0; reached /= 2) {
    if (item < reached && most[item + reached] > most[item]) most[item] = most[item + reached];
    WA_BARRIER();
  }
  if (item == 0) furthest[WA_GROUP_X] = most[0];
}

// Jump flooding (Rong and Tan 2006): nearest[i] becomes the sample with a value that is nearest to
// sample i, as far as steps of this length tell; -1 is none.
WA_KERNEL(GROUP, 1)
start_nearest(WA_GLOBAL const unsigned char* states, unsigned int count, WA_GLOBAL int* nearest) {
  WA_BEGIN();
  WA_FOR_EACH_SAMPLE({ nearest[i] = states[i] != 0 ? (int)i : -1; })
}

WA_INLINE float wa_squared_distance(unsigned int i, unsigned int j, int width, int height,
                                    int depth) {
  WaAxis a[3];
  WaAxis b[3];
  wa_axes_of(i, width, height, depth, a);
  wa_axes_of(j, width, height, depth, b);
  float sum = 0.0f;
  WA_UNROLL
  for (int axis = 0; axis < 3; ++axis) {
    const float difference = (float)(a[axis].at - b[axis].at);
    sum += difference * difference;
  }
  return sum;
}

WA_KERNEL(GROUP, 1)
step_nearest(WA_GLOBAL const int* from, int width, int height, int depth, int step,
             unsigned int count, WA_GLOBAL int* to) {
  WA_BEGIN();
  WA_FOR_EACH_SAMPLE({
    int best = from[i];
    if (best != (int)i) {
      WaAxis axes[3];
      wa_axes_of(i, width, height, depth, axes);
      float least =
          best < 0 ? INFINITY : wa_squared_distance(i, (unsigned int)best, width, height, depth);
      for (int n = 0; n < 27; ++n) {
        const int x = axes[0].at + (n % 3 - 1) * step;
        const int y = axes[1].at + (n / 3 % 3 - 1) * step;
        const int z = axes[2].at + (n / 9 - 1) * step;
        if (x < 0 || y < 0 || z < 0 || x >= width || y >= height || z >= depth) continue;
        const int own = (axes[2].at * height + axes[1].at) * width + axes[0].at;
        const int other = (z * height + y) * width + x;
        const int candidate = from[(int)i - own + other];
        if (candidate < 0 || candidate == best) continue;
        const float distance =
            wa_squared_distance(i, (unsigned int)candidate, width, height, depth);
        if (distance < least || (distance == least && candidate < best)) {
          least = distance;
          best = candidate;
        }
      }
    }
    to[i] = best;
  })
}

// Gives samples without a value that of the nearest one that has one, or 0.
WA_KERNEL(GROUP, 1)
copy_nearest(WA_GLOBAL const int* nearest, unsigned int count, WA_GLOBAL float* values,
             WA_GLOBAL unsigned char* states) {
  WA_BEGIN();
  WA_FOR_EACH_SAMPLE({
    if (states[i] == 0) {
      const int from = nearest[i];
      values[i] = from < 0 ? 0.0f : values[from];
      states[i] = WA_FAR;
    }
  })
}

WA_INLINE int wa_is_smoothed(int state) { return state > 1 && state != WA_FAR; }

// A role has the bit WA_SMOOTHED for a sample to be smoothed, and WA_COUNTED << axis if the
// Laplacian counts at the sample along the axis: at smoothed samples and their neighbours, unless
// it includes one that is not smoothed though missing. residual: the Laplacian of the values.
WA_KERNEL(GROUP, 1)
set_equations(WA_GLOBAL const unsigned char* states, WA_GLOBAL const float* values, int width,
              int height, int depth, unsigned int count, WA_GLOBAL unsigned char* roles,
              WA_GLOBAL float* residual, WA_GLOBAL float* direction) {
  WA_BEGIN();
  WA_FOR_EACH_SAMPLE({
    const int state = states[i];
    int is_near = wa_is_smoothed(state);
    int is_far = state == WA_FAR;
    int role = is_near ? WA_SMOOTHED : 0;
    float laplacian = 0.0f;
    WaAxis axes[3];
    wa_axes_of(i, width, height, depth, axes);
    WA_UNROLL
    for (int a = 0; a < 3; ++a) {
      const int lower = states[wa_lower(i, &axes[a])];
      const int upper = states[wa_upper(i, &axes[a])];
      is_near |= wa_is_smoothed(lower) | wa_is_smoothed(upper);
      is_far |= (lower == WA_FAR) | (upper == WA_FAR);
      if (wa_has_both(&axes[a])) role |= WA_COUNTED << a;
    }
    if (is_far || !is_near) {
      role &= WA_SMOOTHED;
    } else {
      WA_UNROLL
      for (int a = 0; a < 3; ++a) {
        if ((role & (WA_COUNTED << a)) != 0) {
          laplacian += (values[wa_lower(i, &axes[a])] - values[i]) +
                       (values[wa_upper(i, &axes[a])] - values[i]);
        }
      }
    }
    roles[i] = (unsigned char)role;
    residual[i] = laplacian;
    direction[i] = 0.0f;
  })
}

// A link is the sample's role, and at smoothed samples WA_LOWER << axis and WA_UPPER << axis where
// the Laplacian counts along the axis at these neighbours: iterations need no indices then.
WA_KERNEL(GROUP, 1)
link_equations(WA_GLOBAL const unsigned char* roles, int width, int height, int depth,
               unsigned int count, WA_GLOBAL unsigned short* links) {
  WA_BEGIN();
  WA_FOR_EACH_SAMPLE({
    const int role = roles[i];
    int link = role;
    if ((role & WA_SMOOTHED) != 0) {
      WaAxis axes[3];
      wa_axes_of(i, width, height, depth, axes);
      WA_UNROLL
      for (int a = 0; a < 3; ++a) {
        const int bit = WA_COUNTED << a;
        const int lower = axes[a].at > 0 ? roles[wa_lower(i, &axes[a])] : 0;
        const int upper = axes[a].at + 1 < axes[a].n ? roles[wa_upper(i, &axes[a])] : 0;
        if ((lower & bit) != 0) link |= WA_LOWER << a;
        if ((upper & bit) != 0) link |= WA_UPPER << a;
      }
    }
    links[i] = (unsigned short)link;
  })
}

// counts: for each group, its smoothed samples; behind all of these, its equations.
WA_KERNEL(GROUP, 1)
count_links(WA_GLOBAL const unsigned short* links, int groups, unsigned int count,
            WA_GLOBAL float* counts) {
  WA_BEGIN();
  WA_LOCAL float sums[GROUP];
  const int item = WA_ITEM_X;
  float smoothed = 0.0f;
  float counted = 0.0f;
  WA_FOR_EACH_SAMPLE({
    smoothed += (links[i] & WA_SMOOTHED) != 0 ? 1.0f : 0.0f;
    counted += (links[i] & WA_COUNTED_ANY) != 0 ? 1.0f : 0.0f;
  })
  WA_ADD_UP(sums, item, GROUP, smoothed)
  WA_ADD_UP(sums, item, GROUP, counted)
  if (item == 0) {
    counts[WA_GROUP_X] = smoothed;
    counts[groups + WA_GROUP_X] = counted;
  }
}

// Writes the indices of the smoothed samples and of the equations to lists, in which each group
// begins at its offset: iterations visit few samples of an image. A work-item has CHUNK samples
// that follow one another.
WA_KERNEL(GROUP, 1)
list_links(WA_GLOBAL const unsigned short* links, int groups, unsigned int count,
           WA_GLOBAL const unsigned int* offsets, WA_GLOBAL unsigned int* smoothed,
           WA_GLOBAL unsigned int* equations) {
  WA_BEGIN();
  WA_LOCAL int smoothed_before[GROUP];
  WA_LOCAL int counted_before[GROUP];
  const int item = WA_ITEM_X;
  const unsigned int begin = ((unsigned int)WA_GROUP_X * GROUP + (unsigned int)item) * CHUNK;
  int own_smoothed = 0;
  int own_counted = 0;
  for (int k = 0; k < CHUNK; ++k) {
    const unsigned int i = begin + (unsigned int)k;
    const int link = i < count ? links[i] : 0;
    own_smoothed += (link & WA_SMOOTHED) != 0 ? 1 : 0;
    own_counted += (link & WA_COUNTED_ANY) != 0 ? 1 : 0;
  }
  smoothed_before[item] = own_smoothed;
  counted_before[item] = own_counted;
  WA_BARRIER();
  for (int reach = 1; reach < GROUP; reach *= 2) {
    const int a = item >= reach ? smoothed_before[item - reach] : 0;
    const int b = item >= reach ? counted_before[item - reach] : 0;
    WA_BARRIER();
    smoothed_before[item] += a;
    counted_before[item] += b;
    WA_BARRIER();
  }
  unsigned int at = offsets[WA_GROUP_X] + (unsigned int)(smoothed_before[item] - own_smoothed);
  unsigned int equation =
      offsets[groups + WA_GROUP_X] + (unsigned int)(counted_before[item] - own_counted);
  for (int k = 0; k < CHUNK; ++k) {
    const unsigned int i = begin + (unsigned int)k;
    const int link = i < count ? links[i] : 0;
    if ((link & WA_SMOOTHED) != 0) {
      smoothed[at] = i;
      at += 1;
    }
    if ((link & WA_COUNTED_ANY) != 0) {
      equations[equation] = i;
      equation += 1;
    }
  }
}

// A neighbour's number where the bit is set, else 0. It loads always, so that loads do not wait for
// one another; without the bit the neighbour may not exist, and the sample itself is loaded.
#define WA_NEIGHBOUR(numbers, bit, at) \
  ((link & (bit)) != 0 ? 1.0f : 0.0f) * numbers[(link & (bit)) != 0 ? (at) : i]

// Runs `statement` for each entry `j` of a list; `i` is its sample.
#define WA_FOR_EACH_OF(list, statement) \
  WA_FOR_EACH_SAMPLE({                  \
    const unsigned int j = i;           \
    const unsigned int i = list[j];     \
    const int link = links[i];          \
    statement                           \
  })

// The direction becomes momentum times itself less rate times the gradient, the transposed
// Laplacian of the residual; and the steps, in the order of the list, are its sum.
WA_KERNEL(GROUP, 1)
turn_direction(WA_GLOBAL const unsigned int* smoothed, WA_GLOBAL const unsigned short* links,
               WA_GLOBAL const float* residual, int width, int height, float momentum, float rate,
               unsigned int count, WA_GLOBAL float* direction, WA_GLOBAL float* steps) {
  WA_BEGIN();
  const unsigned int line = (unsigned int)width;
  const unsigned int plane = line * (unsigned int)height;
  const int is_first = momentum == 0.0f;
  WA_FOR_EACH_OF(smoothed, {
    const float own = (float)((link >> 1 & 1) + (link >> 2 & 1) + (link >> 3 & 1));
    const float gradient = WA_NEIGHBOUR(residual, WA_LOWER, i - 1) +
                           WA_NEIGHBOUR(residual, WA_UPPER, i + 1) +
                           WA_NEIGHBOUR(residual, WA_LOWER << 1, i - line) +
                           WA_NEIGHBOUR(residual, WA_UPPER << 1, i + line) +
                           WA_NEIGHBOUR(residual, WA_LOWER << 2, i - plane) +
                           WA_NEIGHBOUR(residual, WA_UPPER << 2, i + plane) -
                           2.0f * own * residual[i];
    const float turned = momentum * direction[i] - rate * gradient;
    direction[i] = turned;
    steps[j] = is_first ? turned : steps[j] + turned;
  })
}

// Adds the Laplacian of the direction to the residual.
WA_KERNEL(GROUP, 1)
follow_direction(WA_GLOBAL const unsigned int* equations, WA_GLOBAL const unsigned short* links,
                 WA_GLOBAL const float* direction, int width, int height, unsigned int count,
                 WA_GLOBAL float* residual) {
  WA_BEGIN();
  const unsigned int line = (unsigned int)width;
  const unsigned int plane = line * (unsigned int)height;
  WA_FOR_EACH_OF(equations, {
    const float own = (float)((link >> 1 & 1) + (link >> 2 & 1) + (link >> 3 & 1));
    residual[i] += WA_NEIGHBOUR(direction, WA_COUNTED, i - 1) +
                   WA_NEIGHBOUR(direction, WA_COUNTED, i + 1) +
                   WA_NEIGHBOUR(direction, WA_COUNTED << 1, i - line) +
                   WA_NEIGHBOUR(direction, WA_COUNTED << 1, i + line) +
                   WA_NEIGHBOUR(direction, WA_COUNTED << 2, i - plane) +
                   WA_NEIGHBOUR(direction, WA_COUNTED << 2, i + plane) -
                   2.0f * own * direction[i];
  })
}

WA_KERNEL(GROUP, 1)
add_steps(WA_GLOBAL const unsigned int* smoothed, WA_GLOBAL const float* steps, unsigned int count,
          WA_GLOBAL float* values) {
  WA_BEGIN();
  WA_FOR_EACH_SAMPLE({ values[smoothed[i]] += steps[i]; })
}

// Shares above `outside` belong to results beyond the edges: these become `beyond` if `has_beyond`
// is set, and the shares 0. Other results become `missing` if their share is below `least`; if
// `avoids` is set, those that are rounded to `missing` within lowest to highest become `next`.
WA_KERNEL(GROUP, 1)
mark_missing(float outside, int has_beyond, float beyond, float least, float missing, int avoids,
             float lowest, float highest, float next, unsigned int count, WA_GLOBAL float* shares,
             WA_GLOBAL float* results) {
  WA_BEGIN();
  WA_FOR_EACH_SAMPLE({
    const float share = shares[i];
    if (share > outside) {
      shares[i] = 0.0f;
      if (has_beyond) results[i] = beyond;
    } else {
      if (share > WA_WHOLE_SHARE) shares[i] = 1.0f;
      if (share < least) {
        results[i] = missing;
      } else if (avoids && wa_rounded(results[i], lowest, highest) == missing) {
        results[i] = next;
      }
    }
  })
}

/* The C interface: devices, registration of images and volumes, transforms, templates, and B-spline
 * resampling and prefiltering of host arrays. The C++ interface (warpalign.hpp) has more.
 *
 * Every function that can fail returns a status; warpalign_last_error() returns a description.
 * Handles are numbers, not addresses: functions return WARPALIGN_INVALID_HANDLE for a null handle,
 * and for one that was closed. Any number of threads may call any function at once; calls on the
 * same registrar wait for each other.
 *
 * Coordinates: pixel centres have integer coordinates, x to the right, y down, z deep. Arrays are
 * row-major with x fastest. Matrices map output points to the input points that are sampled. */
#ifndef WARPALIGN_WARPALIGN_H
#define WARPALIGN_WARPALIGN_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#if defined(WARPALIGN_BUILDING)
#define WARPALIGN_C_API __declspec(dllexport)
#else
#define WARPALIGN_C_API __declspec(dllimport)
#endif
#else
#define WARPALIGN_C_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The status that every function that can fail returns. */
typedef int32_t warpalign_status;
enum {
  WARPALIGN_OK = 0,                 /**< done */
  WARPALIGN_INVALID_HANDLE = 1,     /**< a handle is null, closed, or was never created */
  WARPALIGN_INVALID_ARGUMENT = 2,   /**< an argument is wrong; nothing was run */
  WARPALIGN_INVALID_IMAGE = 3,      /**< the pixels cannot be used: constant, NaN, too small, ... */
  WARPALIGN_CONFIGURATION = 4,      /**< a configuration file or environment variable is wrong */
  WARPALIGN_DEVICE_UNAVAILABLE = 5, /**< the device or its backend cannot be opened here */
  WARPALIGN_OUT_OF_MEMORY = 6,      /**< the device or the host has too little memory */
  WARPALIGN_BUILD_FAILED = 7,       /**< a kernel or FFT plan could not be compiled */
  WARPALIGN_DEVICE_FAILURE = 8,     /**< a call to the device's runtime failed */
  WARPALIGN_INTERNAL_ERROR = 9      /**< a bug in warpalign: please report it */
};

/** What went wrong in the last call of this thread, and what to do about it; empty if the call
 * succeeded. The text is valid until the next call of this thread. */
WARPALIGN_C_API const char* warpalign_last_error(void);
/** The name of a status: "WARPALIGN_OK", ...; "unknown status" for any other number. */
WARPALIGN_C_API const char* warpalign_status_name(warpalign_status status);
/** The version of the library that is linked: "0.1.0", ... */
WARPALIGN_C_API const char* warpalign_version(void);

/* Structures that may grow in later versions begin with struct_size. The caller sets it to the
 * sizeof the structure; the functions warpalign_default_... set it to their argument. */

/* Devices. */

/** An opened device. */
typedef struct warpalign_device {
  uint64_t id; /**< 0: null */
} warpalign_device;

/** The kind of a device. */
typedef int32_t warpalign_device_kind;
enum {
  WARPALIGN_CPU = 0,         /**< the processor of the machine */
  WARPALIGN_GPU = 1,         /**< a graphics processor */
  WARPALIGN_OTHER_DEVICE = 2 /**< an OpenCL accelerator or custom device */
};

/** Properties of a device. Longer texts are truncated. */
typedef struct warpalign_device_info {
  size_t struct_size; /**< sizeof(warpalign_device_info) */
  char id[32];        /**< a name for warpalign_open_device(): "cuda:0", "opencl:1" */
  char backend[32];   /**< "cuda" or "opencl" */
  char name[256];     /**< the device's own name */
  char platform[256]; /**< the OpenCL platform's name, or "NVIDIA CUDA" */
  char driver[256];   /**< the driver's version */
  warpalign_device_kind kind; /**< processor, graphics processor or other */
  uint64_t memory_bytes;      /**< size of the global memory, in bytes */
} warpalign_device_info;

/** Writes the properties of the first `capacity` devices to `infos`, and the number of all devices
 * to `count`. Set the struct_size of each element of `infos` first. `infos` may be null if
 * `capacity` is 0. */
WARPALIGN_C_API warpalign_status warpalign_list_devices(warpalign_device_info* infos,
                                                        size_t capacity, size_t* count);
/** Opens a device. `name` is "cuda:0", "opencl:pocl", ... (see open_device.hpp). If it is null or
 * empty, the environment variable WARPALIGN_DEVICE or the configuration names the device; otherwise
 * the best device that works is opened. */
WARPALIGN_C_API warpalign_status warpalign_open_device(const char* name, warpalign_device* device);
/** Writes the properties of an opened device. Set `info->struct_size` first. */
WARPALIGN_C_API warpalign_status warpalign_describe_device(warpalign_device device,
                                                           warpalign_device_info* info);
/** Closes a device. Calls that use it finish normally, and its registrars remain usable. */
WARPALIGN_C_API warpalign_status warpalign_close_device(warpalign_device device);

/* Images in host memory. */

/** The type of a pixel. */
typedef int32_t warpalign_pixel_type;
enum {
  WARPALIGN_U8 = 0,  /**< unsigned 8-bit integer */
  WARPALIGN_I8 = 1,  /**< signed 8-bit integer */
  WARPALIGN_U16 = 2, /**< unsigned 16-bit integer */
  WARPALIGN_I16 = 3, /**< signed 16-bit integer */
  WARPALIGN_U32 = 4, /**< unsigned 32-bit integer */
  WARPALIGN_I32 = 5, /**< signed 32-bit integer */
  WARPALIGN_F16 = 6, /**< IEEE half precision */
  WARPALIGN_F32 = 7, /**< IEEE single precision */
  WARPALIGN_F64 = 8, /**< IEEE double precision; the arithmetic is single precision */
  WARPALIGN_C32 = 9  /**< complex, two floats */
};

/** A read-only image or volume in the caller's memory. */
typedef struct warpalign_image {
  const void* data;          /**< the first pixel */
  warpalign_pixel_type type; /**< the type of every pixel */
  int64_t width;             /**< pixels */
  int64_t height;            /**< pixels */
  int64_t depth;             /**< pixels; 0 or 1 for images */
  int64_t row_bytes;         /**< bytes from one row to the next; 0: dense. Volumes are dense. */
} warpalign_image;

/** An image or volume in the caller's memory that a function writes, with dense rows. */
typedef struct warpalign_output {
  void* data;                /**< the first pixel */
  warpalign_pixel_type type; /**< the type of every pixel */
  int64_t width;             /**< pixels */
  int64_t height;            /**< pixels */
  int64_t depth;             /**< pixels; 0 or 1 for images */
} warpalign_output;

/* Registration. */

/** The family of transforms that a registration may return. */
typedef int32_t warpalign_motion;
enum {
  WARPALIGN_SIMILARITY = 0, /**< rotation, scale and translation */
  WARPALIGN_RIGID = 1,      /**< rotation and translation; the scale is 1 */
  WARPALIGN_ROTATION = 2,   /**< rotation about the centres only */
  WARPALIGN_TRANSLATION = 3, /**< translation only */
  WARPALIGN_AFFINE = 4,      /**< parallel lines stay parallel */
  WARPALIGN_HOMOGRAPHY = 5,  /**< straight lines stay straight */
  WARPALIGN_AUTOMATIC = 6,   /**< a similarity, unless an affine transform or a homography explains
                                  the pair significantly better */
  WARPALIGN_DEFORMABLE = 7   /**< an affine transform, then a smooth deformation, which
                                  warpalign_align_deformable() or warpalign_align_volume()
                                  returns */
};

/** How the intensities of the two images are related. */
typedef int32_t warpalign_modality;
enum {
  WARPALIGN_MODALITY_SAME = 0,  /**< equal up to brightness and contrast */
  WARPALIGN_MODALITY_OTHER = 1, /**< reversed or unrelated contrast; the search compares gradient
                                     orientations */
  WARPALIGN_MODALITY_AUTO = 2   /**< same, then other if the first result is not reliable */
};

/** How much time the search may spend on a difficult pair. */
typedef int32_t warpalign_search;
enum {
  WARPALIGN_SEARCH_STANDARD = 0, /**< one method after the other, until a result is conclusive */
  WARPALIGN_SEARCH_FAST = 1,     /**< log-polar spectra only */
  WARPALIGN_SEARCH_THOROUGH = 2  /**< all methods, on finer grids; takes several times as long */
};

/** Options of a registration; see RegistrationOptions in registrar.hpp. */
typedef struct warpalign_register_options {
  size_t struct_size;      /**< sizeof(warpalign_register_options) */
  int32_t fast;            /**< whether to use the registration paper's pipeline: 0 or 1 */
  int32_t refine;          /**< whether to refine at full resolution: 0 or 1 */
  /** the allowed transforms; a limit on a parameter that the motion fixes is an error */
  warpalign_motion motion;
  double min_scale;        /**< the smallest scale factor to search, 1/8 or more */
  double max_scale;        /**< the largest scale factor to search, 8 or less */
  double min_angle;        /**< the smallest rotation to search, in degrees */
  double max_angle;        /**< the largest rotation, in degrees, at most 360 above min_angle */
  double max_shift;        /**< the largest translation, in moving pixels; 0: unlimited */
  warpalign_modality modality; /**< how the intensities of the images are related */
  warpalign_search search;     /**< how much time a difficult pair may take */
  int32_t max_threads;     /**< threads that a search may use, including the calling one: 1 to 16;
                            * 0: as many as the device benefits from. Does not change results. */
  double max_shift_x;      /**< the largest translation along x, in moving pixels; 0: unlimited */
  double max_shift_y;      /**< the largest translation along y, in moving pixels; 0: unlimited */
  double grid_spacing;     /**< the distance between control points of a deformation, in pixels of
                            * the reference, 2 or more; 0: 5, or 2 where that follows too
                            * little; only for WARPALIGN_DEFORMABLE */
  double bending_weight;   /**< the weight of a deformation's bending energy, 0.01 to 100; only for
                            * WARPALIGN_DEFORMABLE */
} warpalign_register_options;

/** The result of a registration. */
typedef struct warpalign_registration {
  size_t struct_size; /**< sizeof(warpalign_registration) */
  /** Maps reference to moving coordinates: x' = m[0] x + m[1] y + m[2], y' = m[3] x + m[4] y +
   * m[5]. For a homography, its first-order approximation about the reference's centre. */
  double matrix[6];
  double rotation_deg; /**< degrees; > 0: the moving image's content is rotated counter-clockwise */
  double scale;        /**< a factor; > 1: the content is larger in the moving image */
  double translation_x; /**< mapped reference centre minus centre of the moving image, in pixels */
  double translation_y; /**< the same along y, down */
  double confidence;    /**< 0 to 1 */
  double correlation;   /**< normalised correlation over the overlap, at most 1 */
  double significance;  /**< of the correlation, in standard deviations */
  double overlap;       /**< fraction of the reference that the moving image covers, 0 to 1 */
  int32_t reliable;     /**< whether the confidence is at least 0.5 */
  int32_t refined;      /**< whether the refinement converged */
  /** The result for every motion, row by row: x' = (h[0] x + h[1] y + h[2]) / w and
   * y' = (h[3] x + h[4] y + h[5]) / w with w = h[6] x + h[7] y + h[8]. */
  double homography[9];
  warpalign_motion motion; /**< the family of `homography`; never WARPALIGN_AUTOMATIC */
  warpalign_modality modality; /**< how the images were compared; never WARPALIGN_MODALITY_AUTO */
  /** whether the images match at other shifts about as well; then not reliable */
  int32_t ambiguous;
  int32_t period_count; /**< how many vectors of `period` are set: 0 to 2; 0 unless ambiguous */
  /** The vectors (x, y) by which the texture repeats itself, in pixels of the reference, the
   * shortest first; 0 beyond `period_count`. */
  double period[2][2];
  /** The unit vector (x, y) in the reference along which lines leave the shift of an ambiguous
   * result open; (0, 0) if there is none. */
  double undetermined_direction[2];
  /** How many pixels of the reference were ignored because they are NaN or infinite. */
  int64_t missing_reference;
  int64_t missing_moving; /**< the same of the moving image, in its pixels */
} warpalign_registration;

/** Writes the defaults. `struct_size`: sizeof(warpalign_register_options). */
WARPALIGN_C_API warpalign_status
warpalign_default_register_options(warpalign_register_options* options, size_t struct_size);

/** Registers one pair, as Registrar does (registrar.hpp, which cites the papers). `options` may be
 * null for the defaults. An unreliable result is not an error: check `result->reliable`. */
WARPALIGN_C_API warpalign_status warpalign_register(warpalign_device device,
                                                    const warpalign_image* reference,
                                                    const warpalign_image* moving,
                                                    const warpalign_register_options* options,
                                                    warpalign_registration* result);

/** Registers several images to one reference. Keeps the reference, plans and memory between calls.
 * */
typedef struct warpalign_registrar {
  uint64_t id; /**< 0: null */
} warpalign_registrar;

/** Creates a registrar. `options` may be null for the defaults. */
WARPALIGN_C_API warpalign_status warpalign_make_registrar(warpalign_device device,
                                                          const warpalign_register_options* options,
                                                          warpalign_registrar* registrar);
/** Sets the reference. `mask`: u8 of the image's size, 0 where a pixel is ignored; or null. */
WARPALIGN_C_API warpalign_status warpalign_set_reference(warpalign_registrar registrar,
                                                         const warpalign_image* reference,
                                                         const warpalign_image* mask);
/** Makes later calls of warpalign_align() look for the answer near a transform from reference to
 * moving coordinates, as Registrar::set_initial() does. `homography`: nine numbers, as
 * `warpalign_registration::homography`; null: search without one again. */
WARPALIGN_C_API warpalign_status warpalign_set_initial(warpalign_registrar registrar,
                                                       const double* homography);
/** Registers an image to the reference, as warpalign_register() does. `mask` as for the reference.
 * An unreliable result is not an error: check `result->reliable`. */
WARPALIGN_C_API warpalign_status warpalign_align(warpalign_registrar registrar,
                                                 const warpalign_image* moving,
                                                 const warpalign_image* mask,
                                                 warpalign_registration* result);
/** Destroys a registrar. Calls on it that are still running finish normally. */
WARPALIGN_C_API warpalign_status warpalign_destroy_registrar(warpalign_registrar registrar);

/** What warpalign_find_sensor_pattern() has found. */
typedef struct warpalign_sensor_pattern {
  size_t struct_size; /**< sizeof(warpalign_sensor_pattern) */
  int32_t is_found;   /**< 0 or 1; if 0, the other members are 0 */
  int32_t has_scene;  /**< 0: the frames show nothing else, so there is nothing to register */
  int32_t is_clear;   /**< 0: the scene moves too little to be separated from the pattern */
  double rms; /**< the root mean square of the offsets, in units of the frames */
  int64_t frames;     /**< from how many frames it was found */
} warpalign_sensor_pattern;

/** Finds what a sensor adds to each pixel of the frames of a moving scene, as find_sensor_pattern()
 * does (sensor_pattern.hpp). `frames`: `count` images of one size, 8 to 16 that are spread over the
 * stack. `mask`: u8 of their size, 0 where a pixel is ignored; or null. `options` may be null for
 * the defaults. `offsets`: memory for width * height numbers, row by row, to be subtracted from
 * every frame; 0 where nothing was found. Finding nothing is not an error: check
 * `pattern->is_found`. */
WARPALIGN_C_API warpalign_status warpalign_find_sensor_pattern(
    warpalign_device device, const warpalign_image* frames, size_t count,
    const warpalign_image* mask, const warpalign_register_options* options, float* offsets,
    warpalign_sensor_pattern* pattern);

/* B-splines. */

/** Boundary modes, with SciPy's names and meanings. */
typedef int32_t warpalign_boundary;
enum {
  WARPALIGN_MIRROR = 0,        /**< mirrored about the edge samples' centres */
  WARPALIGN_REFLECT = 1,       /**< mirrored about the edge */
  WARPALIGN_NEAREST = 2,       /**< the edge sample repeated */
  WARPALIGN_CONSTANT = 3,      /**< cval at every point outside */
  WARPALIGN_GRID_CONSTANT = 4, /**< cval at the grid points outside, interpolated */
  WARPALIGN_WRAP = 5,          /**< points repeat with period n - 1 */
  WARPALIGN_GRID_WRAP = 6      /**< samples repeat with period n */
};

/** How samples are converted to coefficients. */
typedef int32_t warpalign_prefilter_method;
enum {
  WARPALIGN_PREFILTER_EXACT = 0, /**< the recursive filter, exact to single precision */
  WARPALIGN_PREFILTER_FIR = 1,   /**< Champagnat & Le Sant's truncated filter; cubic only */
  WARPALIGN_PREFILTER_NONE = 2   /**< the samples are the coefficients; degrees 0 and 1 need this */
};

/** Options of a spline. */
typedef struct warpalign_spline_options {
  size_t struct_size;                   /**< sizeof(warpalign_spline_options) */
  int32_t dimensions;                   /**< 1, 2 or 3 */
  int32_t degree;                       /**< 0 to 5 */
  warpalign_prefilter_method prefilter; /**< how the coefficients are computed */
  int32_t taps;                         /**< for WARPALIGN_PREFILTER_FIR: odd, 3 to 63 */
  warpalign_boundary boundary;          /**< how the samples continue beyond the edges */
  double cval; /**< the value beyond the edges, with the constant boundaries */
} warpalign_spline_options;

/** Writes the defaults: cubic, exact prefilter, mirrored edges, two dimensions. `struct_size`:
 * sizeof(warpalign_spline_options). */
WARPALIGN_C_API warpalign_status warpalign_default_spline_options(warpalign_spline_options* options,
                                                                  size_t struct_size);

/** Evaluates the spline at transform(output point), as ResamplePlan does (resample.hpp).
 * `transform` is a homogeneous 4 x 4 matrix, row-major, acting on (x, y, z, 1). `options` may be
 * null for the defaults. Integer results are rounded and saturated. */
WARPALIGN_C_API warpalign_status warpalign_resample(warpalign_device device,
                                                    const warpalign_image* input,
                                                    const double transform[16],
                                                    const warpalign_spline_options* options,
                                                    const warpalign_output* output);
/** Like warpalign_resample(), for an input of which samples may be missing: those that are NaN or
 * infinite, and those that equal `*nodata` unless it is null. They stay missing and change nothing
 * else, as resample_known() says (missing.hpp): where less than half of the spline's support is
 * known, the result is NaN, or `*nodata`. `weights`: f32 of the output's size, receives the known
 * share of each result's support, 0 to 1; or null. `missing` receives the number of missing samples
 * of the input, and may be null. */
WARPALIGN_C_API warpalign_status warpalign_resample_known(
    warpalign_device device, const warpalign_image* input, const double transform[16],
    const warpalign_spline_options* options, const double* nodata, const warpalign_output* output,
    const warpalign_output* weights, int64_t* missing);
/** Converts a 2 x 3 matrix, such as that of a registration, to a 4 x 4 matrix. */
WARPALIGN_C_API warpalign_status warpalign_transform_from_affine(const double matrix[6],
                                                        double transform[16]);
/** Converts a homography, such as that of a registration, to a 4 x 4 matrix. */
WARPALIGN_C_API warpalign_status warpalign_transform_from_homography(const double homography[9],
                                                                   double transform[16]);

/** Converts samples to coefficients, as PrefilterPlan does (prefilter.hpp). Coefficients are c32 if
 * the samples are c32, otherwise f32. With the boundaries `nearest` and `grid-constant` there are
 * more coefficients than samples: call warpalign_describe_coefficients(). `options` may be null for
 * the defaults. */
WARPALIGN_C_API warpalign_status warpalign_prefilter(warpalign_device device,
                                                     const warpalign_image* samples,
                                                     const warpalign_spline_options* options,
                                                     const warpalign_output* coefficients);
/** Writes the type, width, height and depth of the coefficients. Does not use the `data` of either
 * structure. */
WARPALIGN_C_API warpalign_status warpalign_describe_coefficients(
    const warpalign_image* samples, const warpalign_spline_options* options,
    warpalign_output* coefficients);

/* Deformations. */

/** The deformation that a registration found. Several threads may use it. */
typedef struct warpalign_deformation {
  uint64_t id; /**< 0: null */
} warpalign_deformation;

/** Measures of a deformation; see Deformation in deformation.hpp. */
typedef struct warpalign_deformation_info {
  size_t struct_size;        /**< sizeof(warpalign_deformation_info) */
  /** the mean correlation of small windows after the affine step, -1 to 1; of another modality, the
   * root of the mean of its square */
  double correlation_before;
  double correlation;        /**< the same correlation after the deformation, -1 to 1 */
  double min_jacobian;       /**< the least factor by which the deformation changes areas, above 0 */
  double max_jacobian;       /**< the greatest such factor, above 0 */
  double extreme_jacobians;  /**< the share of pixels with a factor below 0.3 or above 3 */
  int64_t width;             /**< of the reference, in pixels */
  int64_t height;            /**< of the reference, in pixels */
} warpalign_deformation_info;

/** Registers an image to the reference by a registrar with WARPALIGN_DEFORMABLE, as
 * warpalign_align() does with other motions. `result` describes the affine step. `deformation`
 * receives the deformation of a reliable result, which the caller destroys, else null. */
WARPALIGN_C_API warpalign_status
warpalign_align_deformable(warpalign_registrar registrar, const warpalign_image* moving,
                           const warpalign_image* mask, warpalign_registration* result,
                           warpalign_deformation* deformation);
/** Writes the measures of a deformation. Set `info->struct_size` before. */
WARPALIGN_C_API warpalign_status warpalign_describe_deformation(warpalign_deformation deformation,
                                                                warpalign_deformation_info* info);
/** Maps points of the reference to the moving image, the affine step included: `count` pairs of x
 * and y. `mapped` may be `points`. */
WARPALIGN_C_API warpalign_status warpalign_map_points(warpalign_deformation deformation,
                                                      const double* points, int64_t count,
                                                      double* mapped);
/** Writes the displacements of the reference's pixels to the moving image, the affine step
 * included, in pixels: f32, of the reference's width and height and depth 2, along x, then y. */
WARPALIGN_C_API warpalign_status warpalign_deformation_field(warpalign_deformation deformation,
                                                             const warpalign_output* field);
/** Resamples the moving image, or another one on its grid, to the reference, as
 * warpalign_resample() does. `options` of two dimensions, or null for the defaults; `output` has
 * the reference's width and height. */
WARPALIGN_C_API warpalign_status warpalign_warp_deformed(warpalign_device device,
                                                         warpalign_deformation deformation,
                                                         const warpalign_image* input,
                                                         const warpalign_spline_options* options,
                                                         const warpalign_output* output);
/** Destroys a deformation. Calls that still use it finish normally. */
WARPALIGN_C_API warpalign_status warpalign_destroy_deformation(warpalign_deformation deformation);

/* Transforms. */

/** A transform of the plane or of space, which maps points of the reference to points of the moving
 * image; see Transform in transform.hpp. It never changes, and several threads may use it. */
typedef struct warpalign_transform {
  uint64_t id; /**< 0: null */
} warpalign_transform;

/** What a transform consists of. */
typedef int32_t warpalign_transform_kind;
enum {
  WARPALIGN_KIND_TRANSLATION = 0,  /**< p -> p + t */
  WARPALIGN_KIND_RIGID = 1,        /**< rotation and translation */
  WARPALIGN_KIND_SIMILARITY = 2,   /**< rotation, uniform scale and translation */
  WARPALIGN_KIND_AFFINE = 3,       /**< a linear map and a translation */
  WARPALIGN_KIND_HOMOGRAPHY = 4,   /**< a projective map */
  WARPALIGN_KIND_DISPLACEMENT = 5, /**< p -> p + u(p), with samples of u on a grid */
  WARPALIGN_KIND_BSPLINE = 6,      /**< p -> p + u(p), with coefficients of a cubic B-spline */
  WARPALIGN_KIND_INVERSE = 7,      /**< of a displacement, B-spline or thin-plate spline */
  WARPALIGN_KIND_CHAIN = 8,        /**< transforms that are applied one after the other */
  WARPALIGN_KIND_THIN_PLATE = 9    /**< the thin-plate spline through pairs of points */
};

/** The coordinates that a transform maps. */
typedef int32_t warpalign_coordinates;
enum {
  WARPALIGN_PIXELS = 0, /**< pixels of the reference to pixels of the moving image */
  WARPALIGN_WORLD = 1   /**< millimetres: x to the patient's left, y to the back, z to the head */
};

/** How to interpolate a displacement field between its samples. */
typedef int32_t warpalign_field_interpolation;
enum {
  WARPALIGN_FIELD_LINEAR = 0, /**< between the 4 or 8 nearest samples */
  WARPALIGN_FIELD_CUBIC = 1   /**< the cubic B-spline through the samples */
};

/** The displacement outside of the grid of a field. */
typedef int32_t warpalign_outside_field;
enum {
  WARPALIGN_OUTSIDE_EDGE = 0, /**< that of the nearest point of the edge */
  WARPALIGN_OUTSIDE_ZERO = 1, /**< none */
  WARPALIGN_OUTSIDE_NAN = 2   /**< the point is mapped to NaN */
};

/** A regular grid of points: origin + direction * (i spacing[0], j spacing[1], k spacing[2]). */
typedef struct warpalign_point_grid {
  size_t struct_size;  /**< sizeof(warpalign_point_grid) */
  int64_t width;       /**< points along x */
  int64_t height;      /**< points along y */
  int64_t depth;       /**< points along z; 1 in the plane */
  double origin[3];    /**< the point of the index (0, 0, 0), in pixels or millimetres */
  double spacing[3];   /**< between neighbours, in pixels or millimetres, above 0 */
  double direction[9]; /**< row-major; its columns are the unit vectors along the grid's axes */
} warpalign_point_grid;

/** Properties of a transform. */
typedef struct warpalign_transform_info {
  size_t struct_size;                /**< sizeof(warpalign_transform_info) */
  warpalign_transform_kind kind;     /**< what it consists of */
  int32_t dimensions;                /**< 2 or 3 */
  warpalign_coordinates coordinates; /**< what it maps */
  int32_t has_matrix;                /**< 1 for the kinds up to a homography */
  double matrix[16];                 /**< row-major, for (x, y, z, 1); the identity without one */
  /** of the inverse of a field or thin-plate spline: the largest distance, over a sample of
   * points, between a point and where the transform and its inverse lead it */
  double inverse_residual;
} warpalign_transform_info;

/** Writes a grid of these extents: the pixels of an image. `struct_size`:
 * sizeof(warpalign_point_grid). */
WARPALIGN_C_API warpalign_status warpalign_pixel_grid(int64_t width, int64_t height, int64_t depth,
                                                      warpalign_point_grid* grid,
                                                      size_t struct_size);
/** Makes a transform of a matrix, of a kind up to WARPALIGN_KIND_HOMOGRAPHY and of 2 or 3
 * dimensions. `matrix`: 4 x 4, row-major, for (x, y, z, 1). The caller destroys each transform. */
WARPALIGN_C_API warpalign_status warpalign_matrix_transform(warpalign_transform_kind kind,
                                                            int32_t dimensions,
                                                            const double matrix[16],
                                                            warpalign_coordinates coordinates,
                                                            warpalign_transform* transform);
/** Makes p -> p + u(p). `samples`: of WARPALIGN_F32 or WARPALIGN_F64 and of the grid's shape, for
 * each of x, y and (with `dimensions` 3) z one after the other. They are copied. */
WARPALIGN_C_API warpalign_status warpalign_displacement_transform(
    int32_t dimensions, const warpalign_point_grid* grid, const void* samples,
    warpalign_pixel_type type, warpalign_field_interpolation interpolation,
    warpalign_coordinates coordinates, warpalign_transform* transform);
/** Makes p -> p + u(p), with u given by the coefficients of a uniform cubic B-spline, at least 4
 * along each axis, in the layout of warpalign_displacement_transform(). */
WARPALIGN_C_API warpalign_status warpalign_bspline_transform(
    int32_t dimensions, const warpalign_point_grid* grid, const void* coefficients,
    warpalign_pixel_type type, warpalign_coordinates coordinates, warpalign_transform* transform);
/** Makes the thin-plate spline that maps `count` points of the reference to those of the moving
 * image. Both are rows of `dimensions` coordinates. */
WARPALIGN_C_API warpalign_status warpalign_thin_plate_transform(int32_t dimensions,
                                                                const double* reference,
                                                                const double* moving,
                                                                int64_t count,
                                                                warpalign_coordinates coordinates,
                                                                warpalign_transform* transform);
/** Makes the transform of a deformation: an affine transform and a displacement field. */
WARPALIGN_C_API warpalign_status
warpalign_transform_of_deformation(warpalign_deformation deformation,
                                   warpalign_transform* transform);
/** Makes the transform that applies `first` and then `second`. */
WARPALIGN_C_API warpalign_status warpalign_compose_transforms(warpalign_transform second,
                                                              warpalign_transform first,
                                                              warpalign_transform* composed);
/** Makes the inverse. A singular matrix and a field that folds have none: the message says where.
 */
WARPALIGN_C_API warpalign_status warpalign_invert_transform(warpalign_transform transform,
                                                            warpalign_transform* inverse);
/** Makes the same transform for pixels or for world coordinates, for images whose pixels are the
 * points of these grids. */
WARPALIGN_C_API warpalign_status warpalign_convert_transform(warpalign_transform transform,
                                                             warpalign_coordinates coordinates,
                                                             const warpalign_point_grid* reference,
                                                             const warpalign_point_grid* moving,
                                                             warpalign_transform* converted);
/** Writes the properties of a transform. Set `info->struct_size` before. */
WARPALIGN_C_API warpalign_status warpalign_describe_transform(warpalign_transform transform,
                                                              warpalign_transform_info* info);
/** Maps `count` points of the reference: rows of the transform's dimensions. `mapped` may be
 * `points`. A point for which an inverse is not found becomes NaN. */
WARPALIGN_C_API warpalign_status warpalign_transform_points(warpalign_transform transform,
                                                            const double* points, int64_t count,
                                                            warpalign_outside_field outside,
                                                            double* mapped);
/** Writes the displacements T(p) - p of a grid's points, in the layout and types of
 * warpalign_displacement_transform(). */
WARPALIGN_C_API warpalign_status warpalign_transform_field(warpalign_transform transform,
                                                           const warpalign_point_grid* grid,
                                                           warpalign_outside_field outside,
                                                           warpalign_pixel_type type,
                                                           void* samples);
/** Writes the determinants of the Jacobian matrix at a grid's points: the factors by which the
 * transform changes areas or volumes, 0 or less where it folds. */
WARPALIGN_C_API warpalign_status warpalign_transform_jacobian(warpalign_transform transform,
                                                              const warpalign_point_grid* grid,
                                                              double* determinants);
/** Resamples an image or volume of the moving image's grid to the pixels of `output`, in one
 * interpolation, as warpalign_resample() does. The transform maps pixels. `options` of its
 * dimensions, or null for the defaults. */
WARPALIGN_C_API warpalign_status warpalign_warp(warpalign_device device,
                                                warpalign_transform transform,
                                                const warpalign_image* input,
                                                const warpalign_spline_options* options,
                                                const warpalign_output* output);
/** Destroys a transform. Calls that still use it finish normally. */
WARPALIGN_C_API warpalign_status warpalign_destroy_transform(warpalign_transform transform);

/* Registration of volumes. */

/** Options of a registration of volumes; see VolumeRegistrationOptions in volume_registrar.hpp. */
typedef struct warpalign_volume_options {
  size_t struct_size;      /**< sizeof(warpalign_volume_options) */
  /** WARPALIGN_TRANSLATION, WARPALIGN_RIGID, WARPALIGN_SIMILARITY, WARPALIGN_AFFINE or
   * WARPALIGN_DEFORMABLE */
  warpalign_motion motion;
  warpalign_modality modality; /**< how the intensities of the volumes are related */
  int32_t refine;          /**< whether to refine at full resolution: 0 or 1 */
  double max_rotation;     /**< the largest rotation, in degrees, above 0 to 180 */
  /** the distances between voxels along x, y and z, in millimetres or any other unit that is the
   * same for both volumes; rotations are rigid in this unit */
  double reference_spacing[3];
  double moving_spacing[3]; /**< the same of the moving volume */
  double max_shift[3];     /**< the largest translation along each axis, in voxels; 0: unlimited */
  /** the distance between control points of a deformation, in the unit of the spacings: at least 2
   * voxels of the reference along the axis with the smallest spacing; 0: 5 such voxels, or 2 where
   * that follows too little; only for WARPALIGN_DEFORMABLE */
  double grid_spacing;
  double bending_weight;   /**< the weight of a deformation's bending energy, 0.01 to 100; only for
                            * WARPALIGN_DEFORMABLE */
} warpalign_volume_options;

/** The result of a registration of volumes. */
typedef struct warpalign_volume_registration {
  size_t struct_size; /**< sizeof(warpalign_volume_registration) */
  /** Maps voxels of the reference to voxels of the moving volume: 4 x 4, row-major, for
   * (x, y, z, 1). With WARPALIGN_DEFORMABLE, the affine step. */
  double matrix[16];
  double translation[3]; /**< mapped reference centre minus that centre, along x, y, z, in voxels */
  double rotation_deg;   /**< the angle of the rotation in millimetres, 0 to 180 degrees */
  double rotation_axis[3]; /**< a unit vector, by the right-hand rule; 0 without rotation */
  double scale;         /**< a factor; > 1: the content is larger in the moving volume */
  double confidence;    /**< 0 to 1 */
  double correlation;   /**< normalised correlation over the overlap, at most 1 */
  double significance;  /**< of the correlation, in standard deviations */
  double overlap;       /**< fraction of the reference that the moving volume covers, 0 to 1 */
  int32_t reliable;     /**< whether the confidence is at least 0.5 */
  int32_t refined;      /**< whether the refinement converged */
  warpalign_motion motion; /**< the family of `matrix`; WARPALIGN_AFFINE for WARPALIGN_DEFORMABLE */
  warpalign_modality modality; /**< how the volumes were compared; never WARPALIGN_MODALITY_AUTO */
  /** How many voxels of the reference were ignored because they are NaN or infinite. */
  int64_t missing_reference;
  int64_t missing_moving; /**< the same of the moving volume */
  /** whether there is a deformation; the measures below are 0 without one */
  int32_t deformed;
  /** the mean correlation of small windows after the affine step, -1 to 1; of another modality, the
   * root of the mean of its square */
  double window_correlation_before;
  double window_correlation; /**< the same correlation after the deformation, -1 to 1 */
  double min_jacobian;       /**< the least factor by which the deformation changes volumes */
  double max_jacobian;       /**< the greatest such factor */
  double extreme_jacobians;  /**< the share of voxels with a factor below 0.3 or above 3 */
} warpalign_volume_registration;

/** Writes the defaults: a translation, voxels of 1. `struct_size`:
 * sizeof(warpalign_volume_options). */
WARPALIGN_C_API warpalign_status
warpalign_default_volume_options(warpalign_volume_options* options, size_t struct_size);

/** Registers one pair of volumes, as VolumeRegistrar does (volume_registrar.hpp). The volumes are
 * dense, of any type but WARPALIGN_C32, with 8 to 16384 voxels a side. `options` may be null for
 * the defaults. An unreliable result is not an error: check `result->reliable`. `transform`
 * receives the transform of a reliable result, which the caller destroys, else null: an affine
 * transform of voxels or, with WARPALIGN_DEFORMABLE, a chain of a B-spline and an affine transform.
 * It may be null if it is not wanted. */
WARPALIGN_C_API warpalign_status warpalign_register_volumes(
    warpalign_device device, const warpalign_image* reference, const warpalign_image* moving,
    const warpalign_volume_options* options, warpalign_volume_registration* result,
    warpalign_transform* transform);

/** Registers many volumes to one reference, of which it keeps what the search needs. */
typedef struct warpalign_volume_registrar {
  uint64_t id; /**< 0: null */
} warpalign_volume_registrar;

/** Makes a registrar of volumes. `options` may be null for the defaults. The caller destroys it. */
WARPALIGN_C_API warpalign_status
warpalign_make_volume_registrar(warpalign_device device, const warpalign_volume_options* options,
                                warpalign_volume_registrar* registrar);
/** Sets the reference. The voxels may be freed afterwards. `mask`: u8 of the reference's size, 0
 * where a voxel is ignored; or null. After an error the registrar has no reference. */
WARPALIGN_C_API warpalign_status warpalign_set_reference_volume(
    warpalign_volume_registrar registrar, const warpalign_image* reference,
    const warpalign_image* mask);
/** Makes later calls of warpalign_align_volume() look for the answer near an affine transform from
 * voxels of the reference to those of the moving volume, as VolumeRegistrar::set_initial() says:
 * 4 x 4, row-major. Null: search everywhere again. */
WARPALIGN_C_API warpalign_status warpalign_set_initial_matrix(warpalign_volume_registrar registrar,
                                                              const double* matrix);
/** Registers a volume to the reference. `mask`: u8 of the moving volume's size, 0 where a voxel is
 * ignored; or null. `result` and `transform` as of warpalign_register_volumes(). */
WARPALIGN_C_API warpalign_status
warpalign_align_volume(warpalign_volume_registrar registrar, const warpalign_image* moving,
                       const warpalign_image* mask, warpalign_volume_registration* result,
                       warpalign_transform* transform);
/** Destroys a registrar of volumes. Calls that still use it finish normally. */
WARPALIGN_C_API warpalign_status
warpalign_destroy_volume_registrar(warpalign_volume_registrar registrar);

/* Templates. */

/** How to build a template, besides the options of its registrations. */
typedef struct warpalign_template_options {
  size_t struct_size; /**< sizeof(warpalign_template_options) */
  int32_t rounds;     /**< how often the images are registered to the template, 1 to 100 */
} warpalign_template_options;

/** A template, in memory of the caller, who sets all members but `used` before the call. */
typedef struct warpalign_template {
  size_t struct_size; /**< sizeof(warpalign_template) */
  /** The template: WARPALIGN_F32, of the extents of the initial image, or else of the first one.
   * NaN where no image lies, or all that do are missing or masked. */
  warpalign_output pixels;
  /** For each image, the transform from pixels of the template to those of the image, which the
   * caller destroys; null for an image that the last round did not use. May be a null pointer. */
  warpalign_transform* transforms;
  /** For each image, the confidence of its registration in the last round, 0 to 1; or null. */
  double* confidences;
  /** For each round, the root mean square displacement in pixels by which it moved the template
   * towards the mean shape; or null. */
  double* changes;
  size_t used; /**< how many of the images the last round used */
} warpalign_template;

/** Writes the defaults. `struct_size`: sizeof(warpalign_template_options). */
WARPALIGN_C_API warpalign_status
warpalign_default_template_options(warpalign_template_options* options, size_t struct_size);

/** Builds the template of `count` images, their mean in shape and intensity, as build_template()
 * does (template.hpp, which cites the papers). `masks`: for each image a mask, u8 of the image's
 * size, 0 where a pixel does not count, or one whose `data` is null; or null without masks.
 * `initial`: the image that the first round registers to, whose pixels the template has, and of
 * which NaN and infinities do not count; null: the first of `images`. `registration`: of the motion
 * WARPALIGN_RIGID, WARPALIGN_SIMILARITY, WARPALIGN_AFFINE or WARPALIGN_DEFORMABLE; null: the
 * defaults, with WARPALIGN_DEFORMABLE. `options` may be null for the defaults.
 *
 * Returns WARPALIGN_INVALID_IMAGE if fewer than 2 images register reliably in a round. After an
 * error all transforms are null. */
WARPALIGN_C_API warpalign_status warpalign_build_template(
    warpalign_device device, const warpalign_image* images, const warpalign_image* masks,
    size_t count, const warpalign_image* initial, const warpalign_register_options* registration,
    const warpalign_template_options* options, warpalign_template* result);
/** The same for volumes, as build_volume_template() does. `registration->reference_spacing` is that
 * of the initial volume, and `registration->moving_spacing` that of all volumes. */
WARPALIGN_C_API warpalign_status warpalign_build_volume_template(
    warpalign_device device, const warpalign_image* volumes, const warpalign_image* masks,
    size_t count, const warpalign_image* initial, const warpalign_volume_options* registration,
    const warpalign_template_options* options, warpalign_template* result);

/* Agreement. */

/** Writes how well two images or volumes on the same grid agree at each pixel, as
 * local_agreement() does (local_agreement.hpp): all f32, dense and of the same shape. `mask`: u8,
 * 0 where a pixel is unknown; or null. */
WARPALIGN_C_API warpalign_status warpalign_local_agreement(const warpalign_image* reference,
                                                           const warpalign_image* warped,
                                                           const warpalign_image* mask,
                                                           const warpalign_output* agreement);

#ifdef __cplusplus
}
#endif

#endif

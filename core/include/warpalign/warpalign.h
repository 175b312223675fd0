/* The C interface: devices, registration of images, and B-spline resampling and prefiltering of
 * host arrays. The C++ interface (warpalign.hpp) has more.
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
  WARPALIGN_AUTOMATIC = 6    /**< a similarity, unless an affine transform or a homography explains
                                  the pair significantly better */
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

#ifdef __cplusplus
}
#endif

#endif

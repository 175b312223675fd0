/* The C interface: devices, registration of images, and B-spline resampling and prefiltering of
 * host arrays. The C++ interface (warpalign.hpp) has more.
 *
 * Every function that can fail returns a status; warpalign_last_error() says in words what
 * happened. Handles are numbers, not addresses: a null handle, or one that was closed, is refused
 * with WARPALIGN_INVALID_HANDLE. All functions may be called by any number of threads at once;
 * calls on one registrar follow one another.
 *
 * Coordinates: pixel centres stand at integers, x to the right, y down, z deep. Arrays are
 * row-major with x fastest. Matrices map output points to the points of the input where they are
 * read. */
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

/** What every function that can fail returns. */
typedef int32_t warpalign_status;
enum {
  WARPALIGN_OK = 0,                 /**< done */
  WARPALIGN_INVALID_HANDLE = 1,     /**< null, closed, or never given out */
  WARPALIGN_INVALID_ARGUMENT = 2,   /**< nothing was run */
  WARPALIGN_INVALID_IMAGE = 3,      /**< constant, NaN, too small, ... */
  WARPALIGN_CONFIGURATION = 4,      /**< a configuration file or environment variable */
  WARPALIGN_DEVICE_UNAVAILABLE = 5, /**< the device or its backend cannot be opened here */
  WARPALIGN_OUT_OF_MEMORY = 6,      /**< of the device or of the host */
  WARPALIGN_BUILD_FAILED = 7,       /**< a kernel or FFT plan could not be compiled */
  WARPALIGN_DEVICE_FAILURE = 8,     /**< a call to the device's runtime failed */
  WARPALIGN_INTERNAL_ERROR = 9      /**< a mistake in warpalign: please report it */
};

/** What went wrong in this thread's last call, in words, with what to do; empty if it succeeded.
 * Valid until the thread's next call. */
WARPALIGN_C_API const char* warpalign_last_error(void);
/** The name of a status: "WARPALIGN_OK", ...; "unknown status" for any other number. */
WARPALIGN_C_API const char* warpalign_status_name(warpalign_status status);
/** The version of the library that is linked: "0.1.0", ... */
WARPALIGN_C_API const char* warpalign_version(void);

/* Structures that may grow in later versions begin with struct_size, which the caller sets to
 * sizeof; the functions named warpalign_default_... set it to what they are given. */

/* Devices. */

/** An opened device. */
typedef struct warpalign_device {
  uint64_t id; /**< 0: null */
} warpalign_device;

/** What a device is. */
typedef int32_t warpalign_device_kind;
enum {
  WARPALIGN_CPU = 0,         /**< the machine's processor */
  WARPALIGN_GPU = 1,         /**< a graphics processor */
  WARPALIGN_OTHER_DEVICE = 2 /**< an OpenCL accelerator or custom device */
};

/** Properties of a device. Texts that are longer are cut. */
typedef struct warpalign_device_info {
  size_t struct_size; /**< sizeof(warpalign_device_info) */
  char id[32];        /**< a name that warpalign_open_device() takes: "cuda:0", "opencl:1" */
  char backend[32];   /**< "cuda" or "opencl" */
  char name[256];     /**< the device's own name */
  char platform[256]; /**< the OpenCL platform's name, or "NVIDIA CUDA" */
  char driver[256];   /**< the driver's version */
  warpalign_device_kind kind; /**< processor or graphics processor */
  uint64_t memory_bytes;      /**< global memory */
} warpalign_device_info;

/** Writes what is known of at most `capacity` devices, and to `count` how many there are. Each
 * element of `infos` has its struct_size set; `infos` may be null when the capacity is 0. */
WARPALIGN_C_API warpalign_status warpalign_list_devices(warpalign_device_info* infos,
                                                        size_t capacity, size_t* count);
/** Opens a device. `name`: "cuda:0", "opencl:pocl", ...; null or empty: WARPALIGN_DEVICE, the
 * configuration, or the best that works. */
WARPALIGN_C_API warpalign_status warpalign_open_device(const char* name, warpalign_device* device);
/** Writes the properties of an opened device; `info` has its struct_size set. */
WARPALIGN_C_API warpalign_status warpalign_describe_device(warpalign_device device,
                                                           warpalign_device_info* info);
/** Closes a device. What uses it meanwhile ends first. Registrars made on it go on working. */
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
  WARPALIGN_F64 = 8, /**< IEEE double precision; arithmetic is single precision all the same */
  WARPALIGN_C32 = 9  /**< complex, two floats */
};

/** An image or a volume in the caller's memory, which is only read. */
typedef struct warpalign_image {
  const void* data;          /**< the first pixel */
  warpalign_pixel_type type; /**< of every pixel */
  int64_t width;             /**< pixels */
  int64_t height;            /**< pixels */
  int64_t depth;             /**< pixels; 0 or 1 for planes */
  int64_t row_bytes;         /**< bytes from one row to the next; 0: dense. Volumes are dense. */
} warpalign_image;

/** Where results go: dense rows. */
typedef struct warpalign_output {
  void* data;                /**< the first pixel */
  warpalign_pixel_type type; /**< of every pixel */
  int64_t width;             /**< pixels */
  int64_t height;            /**< pixels */
  int64_t depth;             /**< pixels; 0 or 1 for planes */
} warpalign_output;

/* Registration. */

/** Which transforms are allowed between the images. */
typedef int32_t warpalign_motion;
enum {
  WARPALIGN_SIMILARITY = 0, /**< rotation, scale and translation */
  WARPALIGN_RIGID = 1,      /**< rotation and translation; the scale is 1 */
  WARPALIGN_ROTATION = 2,   /**< rotation about the centres only */
  WARPALIGN_TRANSLATION = 3, /**< translation only */
  WARPALIGN_AFFINE = 4,      /**< parallel lines stay parallel */
  WARPALIGN_HOMOGRAPHY = 5,  /**< straight lines stay straight */
  WARPALIGN_AUTOMATIC = 6    /**< a similarity, or one of the last two where it explains the pair
                                  significantly better */
};

/** Whether the same things look alike in both images. */
typedef int32_t warpalign_modality;
enum {
  WARPALIGN_MODALITY_SAME = 0,  /**< but for brightness and contrast */
  WARPALIGN_MODALITY_OTHER = 1, /**< contrast may be reversed or unrelated: directions of edges are
                                     compared */
  WARPALIGN_MODALITY_AUTO = 2   /**< the second where the first leads to no reliable result */
};

/** How much is tried where a pair is difficult. */
typedef int32_t warpalign_search;
enum {
  WARPALIGN_SEARCH_STANDARD = 0, /**< one thing after the other, until a result is convincing */
  WARPALIGN_SEARCH_FAST = 1,     /**< log-polar spectra only */
  WARPALIGN_SEARCH_THOROUGH = 2  /**< all that there is, on finer grids */
};

/** How images are registered; see RegistrationOptions in registrar.hpp. */
typedef struct warpalign_register_options {
  size_t struct_size;      /**< sizeof(warpalign_register_options) */
  int32_t fast;            /**< whether to use the registration paper's pipeline: 0 or 1 */
  int32_t refine;          /**< whether to refine at full resolution: 0 or 1 */
  /** which transforms are allowed; limits of what it keeps fixed are refused */
  warpalign_motion motion;
  double min_scale;        /**< the smallest scale factor to search, 1/8 or more */
  double max_scale;        /**< the largest scale factor to search, 8 or less */
  double min_angle;        /**< degrees */
  double max_angle;        /**< degrees, at most 360 above min_angle */
  double max_shift;        /**< pixels of the moving image; 0: any */
  warpalign_modality modality; /**< whether the same things look alike in both images */
  warpalign_search search;     /**< how much is tried where a pair is difficult */
  int32_t max_threads;     /**< threads that a search may use, the calling one included: 1 to 16; 0:
                            * as many as the device makes use of. Results do not depend on it. */
} warpalign_register_options;

/** What a registration found. */
typedef struct warpalign_registration {
  size_t struct_size; /**< sizeof(warpalign_registration) */
  /** Reference to moving coordinates: x' = m[0] x + m[1] y + m[2], y' = m[3] x + m[4] y + m[5]. Of a
   * homography, what agrees with it to first order about the reference's centre. */
  double matrix[6];
  double rotation_deg; /**< degrees; > 0: the moving image's content is rotated counter-clockwise */
  double scale;        /**< a factor; > 1: the content is larger in the moving image */
  double translation_x; /**< where the reference's centre lies from the moving image's, pixels */
  double translation_y; /**< likewise, down */
  double confidence;    /**< 0 to 1 */
  double correlation;   /**< normalised correlation over the overlap, at most 1 */
  double significance;  /**< of the correlation, in standard deviations */
  double overlap;       /**< the fraction of the reference in common */
  int32_t reliable;     /**< whether the confidence is at least 0.5 */
  int32_t refined;      /**< whether the refinement converged */
  /** The same as `matrix` whatever was found, row by row: x' = (h[0] x + h[1] y + h[2]) / w and
   * y' = (h[3] x + h[4] y + h[5]) / w with w = h[6] x + h[7] y + h[8]. */
  double homography[9];
  warpalign_motion motion; /**< of `homography`; never WARPALIGN_AUTOMATIC */
  warpalign_modality modality; /**< what was compared; never WARPALIGN_MODALITY_AUTO */
} warpalign_registration;

/** Writes the defaults. `struct_size`: sizeof(warpalign_register_options). */
WARPALIGN_C_API warpalign_status
warpalign_default_register_options(warpalign_register_options* options, size_t struct_size);

/** Registers one pair, as Registrar does (registrar.hpp, with the papers). `options` may be null. A
 * result that is not reliable is no failure. */
WARPALIGN_C_API warpalign_status warpalign_register(warpalign_device device,
                                                    const warpalign_image* reference,
                                                    const warpalign_image* moving,
                                                    const warpalign_register_options* options,
                                                    warpalign_registration* result);

/** For several images with one reference: keeps the reference, plans and memory between calls. */
typedef struct warpalign_registrar {
  uint64_t id; /**< 0: null */
} warpalign_registrar;

/** Makes a registrar. `options` may be null. */
WARPALIGN_C_API warpalign_status warpalign_make_registrar(warpalign_device device,
                                                          const warpalign_register_options* options,
                                                          warpalign_registrar* registrar);
/** Sets the reference. `mask`: u8 of the image's size, 0 where a pixel does not count; or null. */
WARPALIGN_C_API warpalign_status warpalign_set_reference(warpalign_registrar registrar,
                                                         const warpalign_image* reference,
                                                         const warpalign_image* mask);
/** Registers an image to the reference, as warpalign_register() does. `mask` as for the reference.
 * A result that is not reliable is no failure. */
WARPALIGN_C_API warpalign_status warpalign_align(warpalign_registrar registrar,
                                                 const warpalign_image* moving,
                                                 const warpalign_image* mask,
                                                 warpalign_registration* result);
/** Frees a registrar. Calls on it that run meanwhile go on to their end. */
WARPALIGN_C_API warpalign_status warpalign_destroy_registrar(warpalign_registrar registrar);

/* B-splines. */

/** What lies beyond the edges, with SciPy's names and meanings. */
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

/** Which spline is computed. */
typedef struct warpalign_spline_options {
  size_t struct_size;                   /**< sizeof(warpalign_spline_options) */
  int32_t dimensions;                   /**< 1, 2 or 3 */
  int32_t degree;                       /**< 0 to 5 */
  warpalign_prefilter_method prefilter; /**< how the coefficients are computed */
  int32_t taps;                         /**< of WARPALIGN_PREFILTER_FIR: odd, 3 to 63 */
  warpalign_boundary boundary;          /**< what lies beyond the edges */
  double cval; /**< the value beyond the edges, with the constant boundaries */
} warpalign_spline_options;

/** Writes the defaults: cubic, exact prefilter, mirrored edges, two dimensions. `struct_size`:
 * sizeof(warpalign_spline_options). */
WARPALIGN_C_API warpalign_status warpalign_default_spline_options(warpalign_spline_options* options,
                                                                  size_t struct_size);

/** Evaluates the spline at transform(output point), as ResamplePlan does (resample.hpp): a
 * homogeneous 4 x 4 matrix, row-major, acting on (x, y, z, 1). `options` may be null. Integer
 * results are rounded and saturated. */
WARPALIGN_C_API warpalign_status warpalign_resample(warpalign_device device,
                                                    const warpalign_image* input,
                                                    const double transform[16],
                                                    const warpalign_spline_options* options,
                                                    const warpalign_output* output);
/** The 4 x 4 matrix of a plane's 2 x 3 matrix, such as a registration's. */
WARPALIGN_C_API warpalign_status warpalign_transform_of(const double matrix[6],
                                                        double transform[16]);
/** The 4 x 4 matrix of a homography, such as a registration's. */
WARPALIGN_C_API warpalign_status warpalign_transform_of_homography(const double homography[9],
                                                                   double transform[16]);

/** Converts samples to coefficients, as PrefilterPlan does (prefilter.hpp): f32, or c32 of c32. With
 * the boundaries `nearest` and `grid-constant` there are more of them than samples. `options` may
 * be null. */
WARPALIGN_C_API warpalign_status warpalign_prefilter(warpalign_device device,
                                                     const warpalign_image* samples,
                                                     const warpalign_spline_options* options,
                                                     const warpalign_output* coefficients);
/** Writes type, width, height and depth of the coefficients; `data` of neither is looked at. */
WARPALIGN_C_API warpalign_status warpalign_describe_coefficients(
    const warpalign_image* samples, const warpalign_spline_options* options,
    warpalign_output* coefficients);

#ifdef __cplusplus
}
#endif

#endif

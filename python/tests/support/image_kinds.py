"""The kinds of images that the program reads: the one list from which the tests and the table in
docs/reference/image-files.md come.

Each kind has a function that writes an example to a path without extension and returns the name of
the file and the array that the program must read from it.
"""

import dataclasses
import struct
from collections.abc import Callable

import numpy as np
import tifffile
from PIL import Image

HEIGHT, WIDTH = 18, 22


@dataclasses.dataclass(frozen=True)
class Kind:
    format: str
    kind: str
    becomes: str
    write: Callable
    tolerance: float = 0  # of a sample, for codecs with loss

    @property
    def name(self):
        return f"{self.format} {self.kind}"


KINDS = []


def kind(format, kind, becomes, tolerance=0):
    """Decorate a function that writes an example of a kind."""
    def add(write):
        KINDS.append(Kind(format, kind, becomes, write, tolerance))
        return write

    return add


def ramp(dtype=np.uint8, channels=None, bits=None):
    """Samples over the whole range of a type, all rows and columns different.

    They have at most 24 significant bits, because the resampling that copies them computes in
    single precision.
    """
    shape = (HEIGHT, WIDTH) if channels is None else (HEIGHT, WIDTH, channels)
    steps = np.arange(np.prod(shape)).reshape(shape) * 37 % 251 / 256
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return (steps * 2 - 0.5).astype(dtype)
    low, high = (0, 2**bits - 1) if bits else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return np.floor(low + steps * (float(high) - low + 1)).astype(dtype)


def smooth(channels=None):
    """8-bit samples that codecs with loss keep nearly."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    planes = [60 + 4 * x + 2 * y, 200 - 3 * x, 90 + 5 * y]
    return (planes[0] if channels is None else np.stack(planes[:channels], -1)).astype(np.uint8)


def tiff(path, stored, expected=None, **options):
    name = f"{path}.tif"
    tifffile.imwrite(name, stored, **options)
    return name, stored if expected is None else expected


def pillow(path, extension, image, expected, **options):
    name = f"{path}.{extension}"
    image.save(name, **options)
    return name, np.asarray(expected)


def from_inks(inks):
    """As without colour profiles: what each ink and black leave of white."""
    full = np.iinfo(inks.dtype).max
    light = full - inks.astype(np.uint64)
    return ((light[..., :3] * light[..., 3:] + full // 2) // full).astype(inks.dtype)


# TIFF -------------------------------------------------------------------------------------------

for _dtype, _words in (("u1", "8 bit"), ("u2", "16 bit"), ("u4", "32 bit"), ("i1", "8 bit, signed"),
                       ("i2", "16 bit, signed, as of ScanImage"), ("i4", "32 bit, signed"),
                       ("f2", "16-bit float"), ("f4", "32-bit float"), ("f8", "64-bit float")):
    kind("TIFF", _words, np.dtype(_dtype).name)(
        lambda path, dtype=_dtype: tiff(path, ramp(dtype)))

for _dtype, _words in (("u8", "64 bit"), ("i8", "64 bit, signed")):
    kind("TIFF", _words, f"{np.dtype(_dtype[0] + '4').name}, if the values fit")(
        lambda path, dtype=_dtype: tiff(
            path, ramp(dtype[0] + "4").astype(dtype), ramp(dtype[0] + "4")))


def packed_tiff(path, bits, photometric=1, **tags):
    """tifffile writes no packed bits, so the few bytes of a TIFF are written here."""
    values = ramp(np.uint16, bits=bits)
    stream = "".join("".join(f"{v:0{bits}b}" for v in row).ljust(-(-WIDTH * bits // 8) * 8, "0")
                     for row in values)
    pixels = bytes(int(stream[i:i + 8], 2) for i in range(0, len(stream), 8))
    entries = [(256, 4, WIDTH), (257, 4, HEIGHT), (258, 3, bits), (259, 3, 1),
               (262, 3, photometric), (273, 4, 8 + 2 + 9 * 12 + 4), (277, 3, 1),
               (278, 4, HEIGHT), (279, 4, len(pixels))]
    directory = struct.pack("<H", len(entries))
    for tag, type_, value in entries:
        directory += struct.pack("<HHII", tag, type_, 1, value)
    name = f"{path}.tif"
    with open(name, "wb") as file:
        file.write(b"II*\0" + struct.pack("<I", 8) + directory + struct.pack("<I", 0) + pixels)
    return name, values


@kind("TIFF", "1, 2 and 4 bit", "uint8, 0 to 255")
def tiff_bits(path):
    name, values = packed_tiff(path, 4)
    return name, (values * 17).astype(np.uint8)


@kind("TIFF", "1 bit, as of scanners and fax machines", "uint8, 0 and 255")
def tiff_bilevel(path):
    pixels = ramp() > 120
    return pillow(path, "tif", Image.fromarray(pixels), pixels * np.uint8(255),
                  compression="group4")


@kind("TIFF", "9 to 15 bit", "uint16, the values unchanged")
def tiff_12_bits(path):
    return packed_tiff(path, 12)


@kind("TIFF", "white as zero", "unsigned, black as zero")
def tiff_white_is_zero(path):
    return tiff(path, ramp(), 255 - ramp(), photometric="miniswhite")


@kind("TIFF", "palette", "uint8, RGB")
def tiff_palette(path):
    colours = np.random.default_rng(3).integers(0, 256, (3, 256)).astype(np.uint16)
    return tiff(path, ramp(), np.moveaxis(colours[:, ramp()], 0, -1).astype(np.uint8),
                photometric="palette", colormap=colours * 257)


for _dtype in ("u1", "u2", "f4", "i2"):
    kind("TIFF", f"RGB, {np.dtype(_dtype).name}", f"{np.dtype(_dtype).name}, RGB")(
        lambda path, dtype=_dtype: tiff(path, ramp(dtype, 3), photometric="rgb"))


@kind("TIFF", "RGB in separate planes", "RGB")
def tiff_planes(path):
    colours = ramp(np.uint16, 3)
    return tiff(path, np.ascontiguousarray(np.moveaxis(colours, -1, 0)), colours,
                photometric="rgb", planarconfig="separate")


@kind("TIFF", "gray or RGB with alpha", "without alpha")
def tiff_alpha(path):
    colours = ramp(np.uint8, 4)
    return tiff(path, colours, colours[..., :3], photometric="rgb", extrasamples=["unassalpha"])


@kind("TIFF", "2 or more than 3 channels", "all channels; registered by their mean")
def tiff_channels(path):
    return tiff(path, ramp(np.uint16, 5), photometric="minisblack", planarconfig="contig")


@kind("TIFF", "CMYK, 8 and 16 bit", "RGB, without a colour profile")
def tiff_cmyk(path):
    inks = ramp(np.uint16, 4)
    return tiff(path, inks, from_inks(inks), photometric="separated")


@kind("TIFF", "YCbCr, compressed by JPEG", "uint8, RGB", tolerance=9)
def tiff_jpeg(path):
    return tiff(path, smooth(3), photometric="rgb", compression="jpeg",
                compressionargs={"level": 98})


@kind("TIFF", "YCbCr, with another compression or none", "uint8, RGB", tolerance=3)
def tiff_ycbcr(path):
    return pillow(path, "tif", Image.fromarray(smooth(3)).convert("YCbCr"), smooth(3))


for _compression in ("LZW", "Deflate", "PackBits", "ZSTD", "LZMA", "LERC", "WebP"):
    kind("TIFF", f"compressed by {_compression}", "the samples")(
        lambda path, compression=_compression.lower(): tiff(
            path, ramp(np.uint8, 3), photometric="rgb",
            compression={"deflate": "zlib"}.get(compression, compression),
            compressionargs={"lossless": True, "level": 100} if compression == "webp" else None))


@kind("TIFF", "predictor, of integers and floating point", "the samples")
def tiff_predictor(path):
    return tiff(path, ramp(np.float32), compression="zlib", predictor=True)


@kind("TIFF", "tiles", "the samples")
def tiff_tiles(path):
    return tiff(path, ramp(np.int16), tile=(16, 16), compression="lzw", predictor=True)


@kind("TIFF", "big-endian", "the samples")
def tiff_big_endian(path):
    return tiff(path, ramp(np.int32), byteorder=">")


@kind("TIFF", "BigTIFF", "the samples")
def tiff_big(path):
    return tiff(path, ramp(np.float64), bigtiff=True)


@kind("TIFF", "with the tag Orientation", "upright")
def tiff_orientation(path):
    return tiff(path, np.rot90(ramp(np.uint16)), ramp(np.uint16),
                extratags=[(274, 3, 1, 6, True)])


@kind("TIFF", "a thumbnail as first page", "the first page that is no thumbnail")
def tiff_thumbnail(path):
    name = f"{path}.tif"
    with tifffile.TiffWriter(name) as file:
        file.write(ramp()[::3, ::3], subfiletype=1)
        file.write(ramp())
    return name, ramp()


# PNG --------------------------------------------------------------------------------------------

for _mode, _stored, _becomes, _expected in (
        ("1", lambda: ramp() > 120, "uint8, 0 and 255", lambda: (ramp() > 120) * np.uint8(255)),
        ("L", ramp, "uint8", ramp),
        ("I;16", lambda: ramp(np.uint16), "uint16", lambda: ramp(np.uint16)),
        ("RGB", lambda: ramp(np.uint8, 3), "uint8, RGB", lambda: ramp(np.uint8, 3)),
        ("LA", lambda: ramp(np.uint8, 2), "uint8, without alpha", lambda: ramp(np.uint8, 2)[..., 0]),
        ("RGBA", lambda: ramp(np.uint8, 4), "uint8, RGB, without alpha",
         lambda: ramp(np.uint8, 4)[..., :3])):
    _words = {"1": "1, 2 and 4 bit", "L": "8 bit", "I;16": "16 bit", "RGB": "RGB, 8 and 16 bit",
              "LA": "gray with alpha", "RGBA": "RGB with alpha"}[_mode]
    kind("PNG", _words, _becomes)(
        lambda path, stored=_stored, expected=_expected: pillow(
            path, "png", Image.fromarray(stored()), expected()))


@kind("PNG", "palette", "uint8, RGB")
def png_palette(path):
    image = Image.fromarray(ramp(np.uint8, 3)).quantize(64)
    return pillow(path, "png", image, image.convert("RGB"))


def exif_of(orientation):
    exif = Image.Exif()
    exif[0x112] = orientation
    return exif


@kind("PNG", "with EXIF orientation", "upright")
def png_orientation(path):
    return pillow(path, "png", Image.fromarray(ramp()[:, ::-1]), ramp(), exif=exif_of(2))


# JPEG -------------------------------------------------------------------------------------------


@kind("JPEG", "gray", "uint8", tolerance=3)
def jpeg_gray(path):
    return pillow(path, "jpg", Image.fromarray(smooth()), smooth(), quality=98)


@kind("JPEG", "colour, also progressive", "uint8, RGB", tolerance=6)
def jpeg_colour(path):
    return pillow(path, "jpg", Image.fromarray(smooth(3)), smooth(3), quality=98, subsampling=0,
                  progressive=True)


@kind("JPEG", "CMYK and YCCK, the inks inverted if Adobe's marker is there",
      "uint8, RGB, without a colour profile", tolerance=6)
def jpeg_cmyk(path):
    inks = np.concatenate([smooth(3), smooth()[..., None] // 4], -1)
    return pillow(path, "jpg", Image.fromarray(inks, "CMYK"), from_inks(inks), quality=98)


@kind("JPEG", "with EXIF orientation", "upright", tolerance=3)
def jpeg_orientation(path):
    return pillow(path, "jpg", Image.fromarray(np.rot90(smooth(), -1)), smooth(), quality=98,
                  exif=exif_of(8))


# Others -----------------------------------------------------------------------------------------


@kind("WebP", "without loss", "uint8, RGB, without alpha")
def webp_lossless(path):
    return pillow(path, "webp", Image.fromarray(ramp(np.uint8, 4)), ramp(np.uint8, 4)[..., :3],
                  lossless=True, exact=True)


@kind("WebP", "with loss", "uint8, RGB", tolerance=12)
def webp_lossy(path):
    return pillow(path, "webp", Image.fromarray(smooth(3)), smooth(3), quality=98)


@kind("WebP", "with EXIF orientation", "upright")
def webp_orientation(path):
    return pillow(path, "webp", Image.fromarray(ramp(np.uint8, 3)[::-1, ::-1]), ramp(np.uint8, 3),
                  lossless=True, exif=exif_of(3))


@kind("BMP", "1, 4 and 8 bit with a palette of grays", "uint8")
def bmp_gray(path):
    return pillow(path, "bmp", Image.fromarray(ramp()), ramp())


@kind("BMP", "palette of colours", "uint8, RGB")
def bmp_palette(path):
    image = Image.fromarray(ramp(np.uint8, 3)).quantize(64)
    return pillow(path, "bmp", image, image.convert("RGB"))


@kind("BMP", "16, 24 and 32 bit", "uint8, RGB, without alpha")
def bmp_colour(path):
    return pillow(path, "bmp", Image.fromarray(ramp(np.uint8, 3)), ramp(np.uint8, 3))


@kind("BMP", "run-length encoded, 4 and 8 bit", "as without")
def bmp_runs(path):
    indices = np.repeat(ramp() // 32, 2, axis=1)[:, :WIDTH]
    runs = b"".join(b"".join(bytes((1, index)) for index in row) + b"\0\0"
                    for row in indices[::-1].tolist()) + b"\0\1"
    palette = b"".join(bytes((i, i, i, 0)) for i in range(256))
    start = 54 + len(palette)
    header = struct.pack("<2sIHHI", b"BM", start + len(runs), 0, 0, start)
    header += struct.pack("<IiiHHIIiiII", 40, WIDTH, HEIGHT, 1, 8, 1, len(runs), 0, 0, 0, 0)
    name = f"{path}.bmp"
    with open(name, "wb") as file:
        file.write(header + palette + runs)
    return name, indices


@kind("PNM", "PBM, plain and raw", "uint8, 0 and 255")
def pbm(path):
    pixels = ramp() > 120
    return pillow(path, "pbm", Image.fromarray(pixels), pixels * np.uint8(255))


@kind("PNM", "PGM, plain and raw, 8 and 16 bit", "uint8 or uint16, scaled to the whole range")
def pgm(path):
    values = ramp(np.uint16)
    name = f"{path}.pgm"
    with open(name, "wb") as file:
        file.write(b"P5 %d %d 65535\n" % (WIDTH, HEIGHT) + values.astype(">u2").tobytes())
    return name, values


@kind("PNM", "PPM, plain and raw, 8 and 16 bit", "RGB, scaled to the whole range")
def ppm(path):
    return pillow(path, "ppm", Image.fromarray(ramp(np.uint8, 3)), ramp(np.uint8, 3))


@kind("PNM", "PAM of 1 to 4 samples", "gray or RGB, without alpha")
def pam(path):
    values = ramp(np.uint8, 4)
    name = f"{path}.pam"
    with open(name, "wb") as file:
        file.write(b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
                   % (WIDTH, HEIGHT) + values.tobytes())
    return name, values[..., :3]


def npy(path, stored, expected=None):
    np.save(f"{path}.npy", stored)
    return f"{path}.npy", stored if expected is None else expected


@kind(".npy", "rows and columns, of bool, integers of 8 to 32 bits and floating point", "as stored")
def npy_gray(path):
    return npy(path, np.asfortranarray(ramp(np.float32)))


@kind(".npy", "64-bit integers", "int32 or uint32, if the values fit")
def npy_64(path):
    return npy(path, ramp(np.int32).astype(np.int64), ramp(np.int32))


def table():
    """The table of the documentation, in Markdown."""
    lines = ["| format | kind | what the program reads |", "| --- | --- | --- |"]
    lines += [f"| {each.format} | {each.kind} | {each.becomes} |" for each in KINDS]
    lines.append("| .npy | a third axis of up to 16 | channels; 3 are RGB, 4 RGB with alpha. "
                 "`resample`, `prefilter` and `transform` read a volume instead |")
    return "\n".join(lines) + "\n"

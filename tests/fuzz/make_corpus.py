#!/usr/bin/env python3
"""Makes the first inputs of every fuzz target, in corpus/TARGET/.

    tests/fuzz/make_corpus.py [--program build/bin/warpalign]

They are small and cover the features of the formats. With --program, the program makes the inputs
that need a compressor which Python lacks (JPEG, deflated TIFF); without it these stay unchanged.
Inputs whose names begin with found- come from a fuzzer, and stay unchanged, too.
"""

import argparse
import io
import json
import pathlib
import struct
import subprocess
import tempfile
import zipfile
import zlib

CORPUS = pathlib.Path(__file__).parent / "corpus"


def write(target, name, content):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        content = content.encode()
    (folder / name).write_bytes(content)


def pixels(count, size=1):
    return bytes((7 * i * i + 13 * i) % 251 for i in range(count * size))


# Images -----------------------------------------------------------------------------------------


def chunk(name, data):
    check = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)


def png(width, height, bits, colour, channels, interlaced=0, extra=b""):
    row = (width * bits * channels + 7) // 8
    data = b"".join(b"\0" + pixels(row) for _ in range(height))
    if interlaced:
        data = b"\0" * 4 * (row + 1) * height
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, interlaced)
    pixel_chunks = chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + pixel_chunks


def palette(entries):
    data = pixels(3 * entries)
    named = b"PLTE" + data
    return struct.pack(">I", len(data)) + named + struct.pack(">I", zlib.crc32(named))


def images():
    yield "gray8.png", png(9, 5, 8, 0, 1)
    yield "gray1.png", png(17, 3, 1, 0, 1)
    yield "rgb16.png", png(4, 3, 16, 2, 3)
    yield "rgba8.png", png(4, 4, 8, 6, 4)
    yield "palette4.png", png(8, 4, 4, 3, 1, extra=palette(16))
    yield "interlaced.png", png(8, 8, 8, 0, 1, interlaced=1)
    yield "raw.pgm", b"P5\n# a comment\n6 4\n255\n" + pixels(24)
    yield "raw16.pgm", b"P5 3 2 65535\n" + pixels(12)
    yield "odd-maximum.ppm", b"P6 2 2 100\n" + bytes(range(12))
    yield "plain.pgm", b"P2 3 2 15\n0 1 2\n13 14 15\n"
    yield "plain.ppm", b"P3 1 2 255 1 2 3 4 5 6"
    yield "strips.tif", tiff([page(6, 4, 8)])
    yield "float.tif", tiff([page(3, 3, 32, sample_format=3)])
    yield "big.tif", tiff([page(5, 2, 16)], big=True)
    yield "other-order.tif", tiff([page(5, 2, 16)], order=">")
    yield "rgb.tif", tiff([page(4, 4, 8, samples=3, photometric=2)])
    yield "white-is-zero.tif", tiff([page(4, 4, 8, photometric=0)])
    yield "tiles.tif", tiff([page(20, 18, 8, tile=16)])
    yield "planes.tif", tiff([page(4, 4, 8, samples=3, photometric=2, planes=True)])
    yield "signed16.tif", tiff([page(5, 3, 16, sample_format=2)])
    yield "half.tif", tiff([page(5, 3, 16, sample_format=3)])
    yield "double.tif", tiff([page(3, 2, 64, sample_format=3)])
    yield "integers64.tif", tiff([page(3, 2, 64, sample_format=2)])
    yield "bits1.tif", tiff([page(16, 3, 1)])
    yield "bits4.tif", tiff([page(8, 3, 4, photometric=0)])
    yield "bits12.tif", tiff([page(4, 4, 12)])
    yield "palette.tif", tiff([page(4, 4, 8, photometric=3, colours=256)])
    yield "palette4.tif", tiff([page(4, 4, 4, photometric=3, colours=16)])
    yield "inks.tif", tiff([page(4, 4, 8, samples=4, photometric=5)])
    yield "five.tif", tiff([page(4, 4, 16, samples=5)])
    yield "ycbcr.tif", tiff([page(4, 4, 8, samples=3, photometric=6)])
    yield "orientation.tif", tiff([page(5, 3, 8, orientation=6)])
    yield "thumbnail.tif", tiff([page(2, 2, 8, subfile=1), page(5, 3, 8), page(4, 4, 8)])
    yield "exif.png", png(5, 3, 8, 0, 1, extra=chunk(b"eXIf", EXIF))
    yield "lossless.webp", bytes.fromhex(LOSSLESS_WEBP)
    yield "lossy.webp", bytes.fromhex(LOSSY_WEBP)
    for bits in (1, 4, 8, 16, 24, 32):
        yield f"bits{bits}.bmp", bmp(5, 3, bits)
    yield "masks.bmp", bmp(5, 3, 32, compression=3)
    yield "top-down.bmp", bmp(5, -3, 24)
    yield "runs8.bmp", bmp(5, 3, 8, 1, b"\5\1\0\0\0\3\1\2\3\0\2\4\0\0\0\2\1\0\1\7\0\1")
    yield "runs4.bmp", bmp(5, 3, 4, 2, b"\5\x12\0\0\0\5\x12\x34\x50\0\0\0\5\x11\0\1")
    yield "raw.pbm", b"P4\n9 2\n" + pixels(4)
    yield "plain.pbm", b"P1 3 2 010 1 1 0"
    yield "alpha.pam", (b"P7\nWIDTH 3\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
                        + pixels(24))
    yield "gray.npy", npy("<i2", (3, 4), 2)
    yield "colour.npy", npy("|u1", (3, 4, 4), 1)
    yield "integers64.npy", npy("<i8", (2, 2), 8, numbers=struct.pack("<4q", 1, -2, 3, 1 << 30))


EXIF = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
# An image of 8 x 6 pixels with EXIF data, by Pillow.
LOSSLESS_WEBP = (
    "524946466e00000057454250565038580a000000080000000700000500005650384c2d0000002f074001003f3040"
    "033440f31f48213457301380a5a27d6aa8c022a860112c8288fe07d05c9d1fc991ec40717500455849461a000000"
    "4d4d002a00000008000101120003000000010006000000000000")
LOSSY_WEBP = (
    "524946467400000057454250565038580a0000000800000007000005000056503820340000009001009d012a0800"
    "060005407c258c0002e69bdb9000febc89a6e8ab5e14b3cda1819460f615b212dbace51665679199200000004558"
    "49461a0000004d4d002a00000008000101120003000000010006000000000000")


def bmp(width, height, bits, compression=0, runs=None):
    palette = b"".join(bytes((i, 3 * i % 256, i, 0)) for i in range(1 << bits)) if bits <= 8 else b""
    masks = struct.pack("<III", 0xFF0000, 0xFF00, 0xFF) if compression == 3 else b""
    rows = runs or pixels((width * bits + 31) // 32 * 4 * abs(height))
    start = 54 + len(masks) + len(palette)
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, len(rows), 0, 0,
                         0, 0)
    return (struct.pack("<2sIII", b"BM", start + len(rows), 0, start) + header + masks + palette +
            rows)


# TIFF -------------------------------------------------------------------------------------------


def page(width, height, bits, samples=1, photometric=1, sample_format=1, tile=0, planes=False,
         description=None, subfile=0, colours=0, orientation=0):
    """The tags of a page, and its blocks of pixels."""
    across = -(-width // tile) if tile else 1
    down = -(-height // tile) if tile else 1
    row = ((tile or width) * bits * (1 if planes else samples) + 7) // 8
    block = row * (tile or height)
    blocks = [pixels(block)] * (across * down * (samples if planes else 1))
    tags = {254: subfile, 256: width, 257: height, 258: [bits] * samples, 259: 1, 262: photometric,
            277: samples, 284: 2 if planes else 1, 339: [sample_format] * samples}
    if tile:
        tags.update({322: tile, 323: tile})
    else:
        tags[278] = height
    if colours:
        tags[320] = [257 * (7 * i % 256) for i in range(3 * colours)]
    if orientation:
        tags[274] = orientation
    if description is not None:
        tags[270] = description.encode() + b"\0"
    return tags, blocks, bool(tile)


def tiff(pages, big=False, order="<"):
    """The pixels of each page, followed by its directory."""
    offset = order + ("Q" if big else "I")
    mark = b"II" if order == "<" else b"MM"
    head = mark + struct.pack(order + "H", 43 if big else 42)
    if big:
        head += struct.pack(order + "HH", 8, 0)
    file = bytearray(head + struct.pack(offset, 0))
    link = len(head)
    room = 8 if big else 4
    for tags, blocks, tiled in pages:
        tags = dict(tags)
        offsets = []
        for block in blocks:
            offsets.append(len(file))
            file += block
        tags[324 if tiled else 273] = offsets
        tags[325 if tiled else 279] = [len(block) for block in blocks]
        entries = []
        for tag, value in sorted(tags.items()):
            if isinstance(value, bytes):
                kind, count, data = 2, len(value), value
            else:
                values = value if isinstance(value, list) else [value]
                short = tag in (258, 259, 262, 274, 277, 284, 320, 339)
                kind, count = (3 if short else 4), len(values)
                data = b"".join(struct.pack(order + ("H" if short else "I"), v) for v in values)
            if len(data) > room:
                at = len(file)
                file += data
                data = struct.pack(offset, at)
            entries.append(struct.pack(order + "HH", tag, kind) + struct.pack(offset, count) +
                           data.ljust(room, b"\0"))
        if len(file) % 2:
            file += b"\0"
        file[link:link + room] = struct.pack(offset, len(file))
        file += struct.pack(order + ("Q" if big else "H"), len(entries)) + b"".join(entries)
        link = len(file)
        file += struct.pack(offset, 0)
    return bytes(file)


IMAGEJ = "ImageJ=1.53t\nimages=4\nchannels=2\nframes=2\nhyperstack=true\n"


def ome(pixels_element, inside=""):
    return ('<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">'
            f'<Image ID="Image:0"><Pixels ID="Pixels:0" {pixels_element}>{inside}</Pixels>'
            '</Image></OME>')


OME = [
    ome('DimensionOrder="XYCZT" SizeX="4" SizeY="4" SizeZ="1" SizeC="2" SizeT="2"',
        '<TiffData IFD="0" FirstC="0" FirstT="0" PlaneCount="4"/>'),
    ome('DimensionOrder="XYZTC" SizeZ="4" SizeC="1" SizeT="1"', "<TiffData/>"),
    ome('DimensionOrder="XYTZC" SizeT="4"',
        '<TiffData IFD="3" FirstT="0"><UUID FileName="input.ome.tif">u</UUID></TiffData>'
        '<TiffData IFD="0" FirstT="1"><UUID FileName="other.ome.tif">v</UUID></TiffData>'),
]


def tiff_stacks():
    four = [page(4, 4, 8) for _ in range(4)]
    yield "pages.tif", tiff(four)
    yield "big.tif", tiff(four, big=True)
    yield "other-order.tif", tiff([page(3, 2, 16) for _ in range(2)], order=">")
    yield "signed.tif", tiff([page(3, 2, 32, sample_format=2)] * 2)
    yield "double.tif", tiff([page(3, 2, 64, sample_format=3)] * 2)
    yield "reduced.tif", tiff([page(4, 4, 8), page(2, 2, 8, subfile=1), page(4, 4, 8)])
    yield "imagej.tif", tiff([page(4, 4, 8, description=IMAGEJ)] + four[1:])
    yield "contiguous.tif", tiff([page(4, 4, 8, description=IMAGEJ)]) + pixels(48)
    for i, text in enumerate(OME):
        yield f"ome{i}.tif", tiff([page(4, 4, 8, description=text)] + four[1:])
    loop = bytearray(tiff(four[:1]))
    loop[-4:] = loop[4:8]
    yield "loop.tif", bytes(loop)


def tiff_axes():
    yield "imagej", b"\x04\0" + IMAGEJ.encode()
    yield "imagej-frames", b"\x03\0ImageJ=\nimages=3\nframes=3\n"
    for i, text in enumerate(OME):
        yield f"ome{i}", b"\x04\0" + text.encode()
    yield "entities", b"\x01\0" + ome('SizeT="1" A="&lt;&quot;&amp;"', "<!-- > -->").encode()
    yield "binary-only", b"\x01\0<OME><BinaryOnly MetadataFile='a&gt;b' UUID='x'/></OME>"


# Arrays -----------------------------------------------------------------------------------------


def npy(descr, shape, size, fortran=False, version=1, numbers=None):
    count = 1
    for extent in shape:
        count *= extent
    axes = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({axes}), }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    body = pixels(count, size) if numbers is None else numbers
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + body


def arrays():
    yield "u8.npy", npy("|u1", (2, 3), 1)
    yield "bool.npy", npy("|b1", (4,), 1)
    yield "float32.npy", npy("<f4", (2, 2, 2), 4)
    yield "big-endian.npy", npy(">f8", (3,), 8)
    yield "complex.npy", npy("<c8", (2, 2), 8)
    yield "half.npy", npy("<f2", (2, 2), 2, version=2)
    yield "fortran.npy", npy("<i2", (2, 3, 2), 2, fortran=True, version=3)
    yield "four-axes.npy", npy("<i4", (2, 1, 2, 1), 4)


def nifti(code, size, extents=(4, 3, 2), order="<", slope=0.0, sform=0):
    """A NIfTI-1 file, laid out as in nifti1.h."""
    count = extents[0] * extents[1] * extents[2]
    header = bytearray(352)
    struct.pack_into(order + "i", header, 0, 348)
    struct.pack_into(order + "8h", header, 40, 3, *extents, 1, 1, 1, 1)
    struct.pack_into(order + "2h", header, 70, code, 8 * size)
    struct.pack_into(order + "4f", header, 76, -1, 0.5, 0.75, 2)
    struct.pack_into(order + "3f", header, 108, 352, slope, 3)
    header[123] = 2
    struct.pack_into(order + "2h", header, 252, 1, sform)
    struct.pack_into(order + "12f", header, 280, 1, 0, 0, 5, 0, 2, 0, 6, 0, 0, 3, 7)
    header[344:348] = b"n+1\0"
    return bytes(header) + pixels(count, size)


def nifti2():
    header = bytearray(544)
    struct.pack_into("<i8s2h8q", header, 0, 540, b"n+2\0\r\n\032\n", 16, 32, 3, 3, 2, 2, 1, 1, 1, 1)
    struct.pack_into("<4d", header, 104, 1, 500, 750, 2000)
    struct.pack_into("<q", header, 168, 544)
    struct.pack_into("<i", header, 500, 3)
    return bytes(header) + pixels(12, 4)


def volumes():
    yield "int16.nii", nifti(4, 2)
    yield "scaled.nii", nifti(2, 1, slope=0.5)
    yield "big-endian.nii", nifti(64, 8, order=">", sform=1)
    yield "nifti2.nii", nifti2()
    # The gzip module would write the current time.
    compressor = zlib.compressobj(9, zlib.DEFLATED, 31)
    yield "uint16.nii.gz", compressor.compress(nifti(512, 2)) + compressor.flush()
    yield "truncated.nii", nifti(16, 4)[:-5]


def volume_series():
    one = nifti(4, 2)
    head = bytearray(one[:352])
    struct.pack_into("<h", head, 40, 4)
    struct.pack_into("<h", head, 48, 3)
    series = bytes(head) + 3 * one[352:]
    yield "series.nii", series
    yield "truncated.nii", series[:-9]
    compressor = zlib.compressobj(9, zlib.DEFLATED, 31)
    compressed = compressor.compress(series) + compressor.flush()
    yield "series.nii.gz", compressed
    yield "truncated.nii.gz", compressed[:-12]
    yield "one.nii", one
    wide = bytearray(head)
    struct.pack_into("<hh", wide, 70, 1024, 64)
    yield "int64.nii", bytes(wide) + struct.pack("<72q", *range(71), 2 ** 40)


def npy_stacks():
    yield "frames.npy", npy("|u1", (3, 4, 5), 1)
    yield "fortran.npy", npy("<u2", (3, 4, 5), 2, fortran=True)
    yield "colour.npy", npy("<f4", (2, 2, 2, 3), 4)
    yield "big-endian.npy", npy(">f8", (2, 2, 3), 8)
    yield "one.npy", npy("<i4", (4, 5), 4)
    yield "truncated.npy", npy("|u1", (3, 4, 5), 1)[:-7]


def points():
    coordinates = struct.pack("<8f", 0, 1.5, -3, 1e30, float("nan"), float("inf"), 2, 3)
    yield "plane", b"\0" + npy("<f4", (2, 4), 4, numbers=coordinates)
    yield "line", b"\2" + npy("<f8", (1, 4), 8, numbers=struct.pack("<4d", 0, 1, 2, 1e300))
    yield "space", b"\4" + npy("<f4", (3, 2, 2), 4)
    yield "one-pixel", b"\6" + npy("<i4", (2, 1), 4)
    yield "field", b"\1" + npy("<f4", (2, 4, 5), 4)
    yield "field-double", b"\1" + npy("<f8", (2, 4, 5), 8)


def initials():
    yield "json", "\0" + '{"status": "ok", "matrix": [[1, 0, 2.5], [0, 1e0, -3]], "scale": 1}\n'
    yield "homography", "\0[[1, 0, 0], [0, 1, 0], [1e-5, 0, 1]]"
    yield "volume", "\1" + '{"matrix": [[1, 0, 0, 4], [0, 1, 0, 5], [0, 0, 1, 6]]}'
    yield "points", "\0reference_x,reference_y,moving_x,moving_y\n1,2,3,4\n\n5;6\t7 8\r\n"
    yield "points-3d", "\1" + "1,2,3,4,5,6\n1e300,nan,0,0,0,0\n"
    yield "nested", "\0" + "[" * 200


def drifts():
    header = ("frame,file,status,reference,rotation_deg,scale,translation_x,translation_y,"
              "confidence,reliable,overlap,correlation,significance,refined,reason\n")
    yield "csv", b"\0" + (header + '0,"a,""b"".tif",ok,,0,1,0,0,1,true,1,1,0,false,\n'
                          "1,a.tif,failed,,,,,,,,,,,,is constant\n").encode()
    yield "csv-local", b"\0" + header.replace("reason", "reason,spread").encode()
    frames = [{"frame": 0, "status": "ok", "matrix": [[1, 0, 0.5], [0, 1, -2]], "reliable": True},
              {"frame": 1, "status": "failed", "reason": "is constant"}]
    yield "json", b"\1" + json.dumps({
        "to": "first", "width": 8, "height": 6, "frames": frames, "ok": 1,
        "channels": [{"channel": 0, "matrix": [[1, 0, 0], [0, 1, 0]]}]}).encode()
    volumes = [{"volume": 0, "status": "ok", "matrix": [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0]]},
               {"volume": 1, "status": "failed", "reason": "is constant"}]
    yield "json-volumes", b"\2" + json.dumps({
        "series": "bold.nii", "motion": "rigid", "width": 8, "height": 6, "depth": 4,
        "volumes": volumes, "ok": 1}).encode()


def tile_positions():
    yield "plain", "file,x,y\nt0.tif,0,0\nt1.tif,921.6,-0.5\n"
    yield "quoted", "\ufeffz,y,x,file\r\n1,2,3,\"a, \"\"b\"\".tif\"\r\n\r\n2,3e2, +4 ,\"c\nd\"\r\n"
    yield "twice", "file,x,y\nt,0,0\nt,1,1\n"
    yield "open-quote", "file,x,y\n\"t,0,nan"


# Videos and texts -------------------------------------------------------------------------------


def transforms():
    """The first byte is the number of the format; see transform_files/transform_files.hpp."""
    head = "#Insight Transform File V1.0\n#Transform 0\n"

    def itk(kind, numbers, fixed=""):
        return f"Transform: {kind}\nParameters: {numbers}\nFixedParameters: {fixed}\n"

    affine = itk("AffineTransform_double_3_3", "1 0.1 0 0 1 0 0 0 1 1 2 3", "4 5 6")
    yield "itk", b"\0" + (head + affine).encode()
    yield "itk-composite", b"\0" + (
        head + "Transform: CompositeTransform_double_3_3\n" + affine
        + itk("Euler3DTransform_double_3_3", "0.1 0.2 0.3 1 2 3", "0 0 0 0")
        + itk("VersorRigid3DTransform_double_3_3", "0.1 0.2 0.3 1 2 3", "0 0 0")).encode()
    grid = "4 4 0 0 2 2 1 0 0 1"
    yield "itk-bspline", b"\0" + (head + itk("BSplineTransform_double_2_2",
                                            " ".join(["0.5"] * 32), grid)).encode()
    yield "itk-field", b"\0" + (head + itk("DisplacementFieldTransform_float_2_2",
                                          " ".join(["0.5"] * 32), grid)).encode()
    for order, number in (("<", 0), (">", 1000)):
        matlab = b""
        for name, values in ((b"AffineTransform_double_2_2\0", (1, 0, 0, 1, 2, 3)),
                             (b"fixed\0", (0, 0))):
            matlab += struct.pack(order + "5i", number, len(values), 1, 0, len(name)) + name
            matlab += struct.pack(f"{order}{len(values)}d", *values)
        yield f"matlab-{number}", b"\1" + matlab
    yield "flirt", b"\2" + b"1 0 0 1\n0 1 0 2\n0 0 1 3\n0 0 0 1\n"
    volume = ("valid = 1  # volume info valid\nfilename = a.mgz\nvolume = 8 7 6\n"
              "voxelsize = 1 1 2\nxras = -1 0 0\nyras = 0 0 -1\nzras = 0 1 0\ncras = 1 2 3\n")
    for kind in (0, 1):
        yield f"lta-{kind}", b"\3" + (
            f"type      = {kind} # LINEAR\nnxforms   = 1\nmean = 0 0 0\nsigma = 1\n1 4 4\n"
            "1 0 0 1\n0 1 0 2\n0 0 1 3\n0 0 0 1\nsrc volume info\n" + volume
            + "dst volume info\n" + volume).encode()
    yield "afni", b"\4# 3dvolreg matrices\n1 0 0 1 0 1 0 2 0 0 1 3\n1 0 0 0 0 1 0 0 0 0 1 0\n"
    common = ('(FixedImageDimension 2)\n(MovingImageDimension 2)\n(Size 8 7)\n(Spacing 1 2)\n'
              '(Origin 0 0)\n(Direction 1 0 0 1)\n'
              '(InitialTransformParameterFileName "NoInitialTransform")\n')
    yield "elastix", b"\5" + (
        '(Transform "EulerTransform")\n(TransformParameters 0.1 2 3)\n'
        "(CenterOfRotationPoint 4 5)\n" + common).encode()
    yield "elastix-bspline", b"\5" + (
        '(Transform "BSplineTransform")\n(TransformParameters ' + "0.5 " * 32 + ")\n"
        "(GridSize 4 4)\n(GridIndex 0 0)\n(GridSpacing 2 2)\n(GridOrigin 0 0)\n"
        "(GridDirection 1 0 0 1)\n" + common).encode()
    view = ('<ViewRegistration timepoint="0" setup="0"><ViewTransform type="affine">'
            "<affine>1 0 0 2 0 1 0 3 0 0 1 4</affine></ViewTransform></ViewRegistration>")
    yield "bdv", b"\6" + ("<SpimData><!-- c --><ViewRegistrations>" + view * 2
                          + "</ViewRegistrations></SpimData>").encode()
    yield "turboreg", (b"\7RIGID_BODY\n\nSource size\n8\t7\n\nTarget size\n8\t7\n\n"
                       b"Refined source landmarks\n1\t2\n3\t4\n5\t6\n\n"
                       b"Target landmarks\n1\t1\n3\t3\n5\t5\n")
    block = b"AFFINE\nSource img: %d Target img: %d\n1\t2\n3\t4\n5\t7\n\n1\t1\n3\t3\n5\t6\n\n"
    yield "multistackreg", (b"\x08MultiStackReg Transformation File\nFile Version 1.0\n0\n"
                            + block % (2, 1) + block % (3, 2))
    yield "npy", b"\x09" + npy("<f8", (2, 3, 3), 8, numbers=struct.pack(
        "<18d", *((1, 0, 2, 0, 1, 3, 0, 0, 1) * 2)))
    yield "npy-field", b"\x09" + npy("<f4", (2, 5, 4), 4, numbers=struct.pack(
        "<40f", *(0.25 * (i % 4) for i in range(40))))
    for intent, name, components in ((1007, b"", 3), (1007, b"NREG_TRANS", 3), (2006, b"", 3),
                                     (1007, b"", 2)):
        planes = 1 if components == 2 else 6
        shape = (8, 7, planes, *((3,) if intent == 2006 else (1, components)))
        head = bytearray(nifti(16, 4, sform=1))
        struct.pack_into("<8h", head, 40, len(shape), *shape, *(1,) * (7 - len(shape)))
        struct.pack_into("<2f", head, 112, 1, 0)
        struct.pack_into("<h", head, 68, intent)
        head[328:328 + len(name)] = name
        count = 56 * planes * components
        vectors = struct.pack(f"<{count}f", *(0.25 * (i % 5) for i in range(count)))
        yield (f"field-{intent}-{components}{name.decode()}",
               b"\x0d" + bytes(head[:352]) + vectors)
    yield "json", b'\x0b{"motion": "rigid", "matrix": [[1, 0, 2], [0, 1, 3]]}'
    yield "json-frames", b'\x0b{"frames": [{"matrix": [[1, 0, 2], [0, 1, 3]]}]}'
    yield "json-world", (
        b'\x0b{"kind": "affine", "coordinates": "world", "matrix": [[1, 0, 2], [0, 1, 3]], '
        b'"reference": {"shape": [7, 8], "spacing": [1, 2], "origin": [0, 0], '
        b'"direction": [[1, 0], [0, 1]]}}')
    yield from warps_of_freesurfer()
    yield from archives_of_transforms()
    yield "bigwarp", b'\x0c"Pt-0","true","1","2","3","4"\n"Pt-1","false","1","2","3","4"\n'


def warps_of_freesurfer():
    """Voxel differences and RAS positions, with the tags that FreeSurfer writes."""
    position = struct.pack(">15f", 1, 1, 2, -1, 0, 0, 0, 0, -1, 0, 1, 0, 1, 2, 3)
    volume = struct.pack(">4i", 1, 3, 2, 2) + position + b"\0" * 512
    for kind, frames in ((1, 3), (2, 4)):
        head = struct.pack(">I6iH", 0x301, 3, 2, 2, frames, 3, 1, 1) + position
        values = struct.pack(f">{12 * frames}f", *(0.25 * (i % 5) for i in range(12 * frames)))
        tags = (struct.pack(">iq", 41, 7) + b"UNKNOWN" + struct.pack(">i", 10) + volume * 2
                + struct.pack(">iqiif", 13, 12, kind, 1, 0))
        yield f"mgz-{kind}", b"\x0a" + head.ljust(284, b"\0") + values + b"\0" * 20 + tags


def archives_of_transforms():
    def text(value):
        return npy(f"<U{len(value)}", (), 4, numbers=value.encode("utf-32-le"))

    def real(shape, *numbers):
        return npy("<f8", shape, 8, numbers=struct.pack(f"<{len(numbers)}d", *numbers))

    def integer(shape, *numbers):
        return npy("<i8", shape, 8, numbers=struct.pack(f"<{len(numbers)}q", *numbers))

    def archive(files):
        with io.BytesIO() as target:
            with zipfile.ZipFile(target, "w") as zipped:
                for name, content in ({"schema": text("warpalign-transform 1")} | files).items():
                    zipped.writestr(zipfile.ZipInfo(name + ".npy"), content)
            return b"\x0e" + target.getvalue()

    shift = {"kind": text("translation"), "matrix": real((3, 3), 1, 0, 2, 0, 1, 3, 0, 0, 1)}
    field = {"kind": text("displacement"), "interpolation": text("linear"),
             "samples": real((2, 2, 3), *(0.1 * (i % 4) for i in range(12))),
             "origin": real((2,), 0, 1), "spacing": real((2,), 1, 2)}

    def below(prefix, files):
        return {prefix + name: content for name, content in files.items()}

    yield "npz-matrix", archive(shift | {
        "coordinates": text("world"), "reference.shape": integer((2,), 7, 8),
        "reference.spacing": real((2,), 1, 2), "reference.origin": real((2,), 0, 0),
        "reference.direction": real((2, 2), 1, 0, 0, 1)})
    yield "npz-chain", archive({"kind": text("chain"), "members": integer((), 2)}
                               | below("0.", shift) | below("1.", field))
    yield "npz-inverse", archive({"kind": text("inverse")} | below("of.", field))
    yield "npz-plate", archive({"kind": text("thin_plate"), "landmarks": real(
        (2, 3, 2), 0, 0, 5, 0, 0, 5, 1, 0, 5, 1, 0, 6)})
    yield "npz-stack", archive({"count": integer((), 2)} | below("t0.", shift)
                               | below("t1.", field))


def videos():
    def video(words, frame_bytes, frames=2, word=b"FRAME\n"):
        return b"YUV4MPEG2 " + words + b"\n" + (word + pixels(frame_bytes)) * frames

    yield "420.y4m", video(b"W4 H4 F25:1 Ip A1:1 C420jpeg", 24)
    yield "mono.y4m", video(b"W3 H2 Cmono", 6, word=b"FRAME Ip\n")
    yield "deep.y4m", video(b"W2 H2 C422p10 XCOLORRANGE=LIMITED", 16)
    yield "411.y4m", video(b"W5 H1 C411", 9)
    yield "alpha.y4m", video(b"W1 H1 C444alpha", 4)
    yield "truncated.y4m", video(b"W4 H4 C444", 48)[:-5]


def configurations():
    yield "all.toml", ('device = "opencl:pocl"\nmodules = "/usr/lib/warpalign"\n'
                       'backends = ["cuda", "opencl"]\ncache = "/tmp/cache"\n'
                       '[opencl]\nfft = "clfft"\n')
    yield "wrong.toml", 'device = 7\nnobody = { knows = [1, 2.5e3, 1979-05-27T07:32:00Z] }\n'
    yield "texts.toml", 'device = """\\\n  a\\u00e9"""\nbackends = [\'a_1\', "\\t"]\n# end\n'
    yield "deep.toml", "a = " + "[" * 40 + "]" * 40 + "\n"


FRAME = ("frame 3 a%20b.tif a - 0003_a.png 0 1 1" + " 0x1p+0" * 14 + " 0x1.8p+1 0")


def journals():
    head = "!warpalign-stack-journal 3 0000000000000001 0000000000000002\n"
    yield "line", FRAME
    yield "file", head + "!boot 0\n!" + FRAME + "\n!mark\n!" + FRAME.replace(" 3 ", " 4 ", 1) + "\n"
    yield "other", "!warpalign-stack-journal 3 0000000000000009 0000000000000002\n"
    without = FRAME.replace(".png 0 ", ".png - ").replace(" 0x1.8p+1", " -")
    yield "ambiguous", "!" + FRAME[:-1] + "1 2 0x1p+4 0x0p+0 0x0p+0 -0x1.8p+4 0x1p-1 0x1p-2\n"
    yield "no-reference", "!" + without + "\n"
    yield "origin", head + "!boot 0\n!origin 3 2 a%20b.tif\n!" + FRAME + "\n!mark\n"
    yield "torn", head + "!" + FRAME + "\nframe 4 a"


RESULT = """{"column": "host", "suite": "s", "case": "c", "size": [1, 2, 3], "yardstick": "copy",
"unit": "pixels", "operations": 6, "bytes": 24, "verified": true, "error": 0.5, "tolerance": 1,
"against": "a", "timing": {"clock": "wall", "ms": 1, "low_ms": 1, "high_ms": 2, "samples": 3,
"runs_a_sample": 4, "buffer_sets": 1, "wall_ms": 1.5, "first_use_ms": null, "plan_ms": 2,
"upload_ms": null, "download_ms": null, "parts": [{"name": "p", "ms": 0.25}]},
"quality": {"name": "q", "value": 2}}"""
RECORD = """{"schema": "warpalign-bench", "version": %s, "program": "warpalign 0", "date": "d",
"command": "c", "host": "h", "hot": false, "columns": [{"id": "host", "name": "n", "platform": "p",
"driver": "d", "kind": "cpu", "details": ""}], "results": [%s], "failures": [{"column": "host",
"suite": "s", "case": "c", "size": [1, 2, 3], "reason": "r"}], "notes": ["n"]}"""


def records():
    yield "full.json", RECORD % (1, RESULT)
    yield "other-version.json", RECORD % (2, "")
    yield "deep.json", '{"schema": "warpalign-bench", "version": ' + "[" * 30 + "]" * 30 + "}"


def option_texts():
    yield "numbers", "1, 2.5,-3e-2"
    yield "blanks", "1 0.5\t7"
    yield "extents", "480x640x3"
    yield "shard", "2/4"
    yield "fir", "fir:15"
    yield "iir", "iir:line"


def command_lines():
    yield "register", ("register\na.png\nb.png\n--motion\nrigid\n--max-shift\n20\n--json\n"
                       "--max-pixels\n9")
    yield "register-local", "register\na\nb\n--motion\nlocal\n--window\n32\n--field\nf.npy\n--quiet"
    yield "stack", ("stack\na.tif\nb*.png\n--to\nmean\n--shard\n1/3\n--csv\nc.csv\n--channel\n1\n"
                    "--z=2")
    yield "resample", ("resample\nin.npy\nout.npy\n--matrix\n1,0,0,0,1,0\n--degree\n5\n"
                       "--boundary=wrap")
    yield "prefilter", "prefilter\nin.npy\nout.npy\n--prefilter\nfir:15\n--device\nopencl:pocl"
    yield "bench", "bench\n--sizes\n64,128\n--baseline\nr.json\n--json\nq.json"
    yield "others", "doctor\n--quick\n--json\n--config\nc.toml"


def caches():
    yield "untouched", b"\0"
    yield "one-byte", b"\0\x20\0x"
    yield "longer", b"\0\xa8\0x"
    yield "cut", b"\x80"
    yield "entry", b"warpalign-cache-1\n" + b"0" * 64 + b"\n" + b"0" * 64 + b"\nbytes"


def calls():
    yield "open-and-close", bytes([1, 0, 0, 0, 2, 0, 200, 0, 3, 0, 3, 0])
    yield "list", bytes([0, 200, 200, 200, 200, 3, 0, 0, 4, 0, 200, 0, 200])
    pair = [0, 10, 0, 0, 0, 0] * 2
    yield "register", bytes([1, 0, 0, 0, 5] + pair + [200, 0, 200, 0, 0, 0, 0, 0])
    yield "registrar", bytes([1, 0, 0, 0, 6, 200, 0, 0, 0, 0, 7] + pair + [0] * 12)
    yield "resample", bytes([1, 0, 0, 0, 10] + [0, 8, 0, 0, 0, 0] * 2 + [200, 31] + [0, 1] * 24)
    yield "prefilter", bytes([1, 0, 0, 0, 11] + [7, 8, 0, 0, 0, 0] + [200, 2, 3, 7, 8] + [0] * 16)
    yield "transforms", bytes([12] + [0, 1] * 9 + [0] * 8 + [13, 1, 2, 3, 4])


def made_by_program(program):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, source in (("gray", "P5 24 16 255\n"), ("rgb", "P6 24 16 255\n")):
            suffix = ".pgm" if name == "gray" else ".ppm"
            picture = folder / (name + suffix)
            picture.write_bytes(source.encode() + pixels(24 * 16 * (1 if name == "gray" else 3)))
            for extension in (".jpg", ".tif"):
                made = folder / (name + extension)
                subprocess.run([program, "resample", picture, made, "--zoom", "1", "--degree", "1",
                                "--quiet"], check=True)
                yield f"{name}-made{extension}", made.read_bytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program")
    options = parser.parse_args()
    inputs = {"images": images, "arrays": arrays, "volumes": volumes,
              "volume_series": volume_series,
              "tiff_stack": tiff_stacks, "tiff_axes": tiff_axes, "npy_stack": npy_stacks,
              "video": videos, "configuration": configurations, "points": points,
              "drift": drifts, "initial": initials, "masks": images, "option_texts": option_texts,
              "journal": journals, "tile_positions": tile_positions, "transforms": transforms,
              "bench_record": records, "disk_cache": caches, "c_interface": calls,
              "command_line": command_lines}
    for target, make in inputs.items():
        for name, content in make():
            write(target, name, content)
    if options.program:
        for name, content in made_by_program(options.program):
            write("images", name, content)


if __name__ == "__main__":
    main()

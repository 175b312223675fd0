// `warpalign transform`: reads, converts, combines and applies transforms.
#include "commands/commands.hpp"
#include "commands/transform/commands.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"

namespace warpalign::program {
namespace {

ExitStatus complain() {
  throw UsageError(
      "transform: no command given (choose from: show, convert, compose, invert, points, apply, "
      "labels); see 'warpalign transform --help'");
}

constexpr const char* footer =
    "A transform maps points of the reference to points of the moving image. Files: the JSON of\n"
    "register, register-volume and stack; text of ITK and ANTs (itk), their .mat (itk-matlab), "
    "FSL's\n"
    "FLIRT (flirt), FreeSurfer (lta), AFNI (afni), elastix, BigDataViewer (bdv), TurboReg,\n"
    "MultiStackReg, and matrices in .npy for (x, y, 1) or (x, y, z, 1). Displacement fields: "
    "NIfTI\n"
    "of ITK and ANTs (itk-nifti), of FSL's fnirt and of NiftyReg, and .npy of the shape\n"
    "(2, height, width) or (3, depth, height, width), as --field of the other commands writes; "
    "warps of\n"
    "FreeSurfer (mgz). .npz is what Transform.save of the Python package writes, and holds all\n"
    "transforms. The name '-' is standard input or output. Only Python reads ITK's HDF5 and "
    "OME-Zarr.\n"
    "\n"
    "Formats of medical imaging map millimetres. --reference and --moving name the images (NIfTI\n"
    "tells where their voxels lie; pixels of other images are 1 mm apart), from which pixels and\n"
    "millimetres are converted.\n"
    "\n"
    "Exit status: 0 done; 2 wrong usage or input, nothing is written; 3 device trouble.\n"
    "\n"
    "Examples:\n"
    "  warpalign transform show found.json\n"
    "  warpalign transform convert found.json found.tfm --reference a.nii --moving b.nii\n"
    "  warpalign transform points found.json points.csv mapped.csv\n"
    "  warpalign transform apply found.json other.tif aligned.tif --like reference.tif\n";

}  // namespace

void add_transform_command(CLI::App& program, Action& chosen) {
  CLI::App& command = add_command(program, "transform",
                                  "Show, convert, combine and apply transforms", "Registration");
  set_footer(command, footer);
  add_transform_show_command(command, chosen);
  add_transform_convert_command(command, chosen);
  add_transform_compose_command(command, chosen);
  add_transform_invert_command(command, chosen);
  add_transform_points_command(command, chosen);
  add_transform_apply_command(command, chosen);
  add_transform_labels_command(command, chosen);
  set_action(command, chosen, complain);
}

}  // namespace warpalign::program

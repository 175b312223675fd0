// `warpalign transform show`, `convert`, `compose` and `invert`.
#include "commands/transform/commands.hpp"
#include "commands/transform/options.hpp"
#include "io/image_file.hpp"
#include "io/messages.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/file_names.hpp"
#include "reports/transform_report.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <memory>

namespace warpalign::program {
namespace {

using transform_files::TransformFile;

struct Options {
  TransformOptions transform;
  std::vector<std::string> inputs;
  std::string input;
  std::string output;
  std::optional<std::string> to;
  bool json = false;
};

void add_input(CLI::App& command, Options& options) {
  add_option(command, "IN", &options.input, "The file of the transform, or -", required);
}

void add_output(CLI::App& command, Options& options) {
  add_option(command, "OUT", &options.output, "The file to write, or -", required);
}

void add_to_option(CLI::App& command, Options& options) {
  add_option(command, "--to FORMAT", &options.to, "The format of OUT [by its name]",
             suggesting(transform_formats));
}

void write(const Options& options, const TransformFile& file) {
  check_outputs({{"OUT", options.output, true}}, {});
  write_bytes(options.output, encode_transforms(options.output, options.to, file));
}

ExitStatus show(const Options& options) {
  const TransformFile file = options.transform.load(options.input);
  if (options.json) {
    fmt::print("{}", transform_json(file).text());
  } else {
    report(transform_text(file));
  }
  return ExitStatus::ok;
}

ExitStatus convert(const Options& options) {
  write(options, options.transform.load(options.input));
  return ExitStatus::ok;
}

/// The second transform after the first one, in the coordinates of the first one if they differ.
Transform composed(const Transform& second, const Transform& first,
                   const transform_files::Geometry& geometry) {
  if (first.coordinates() == second.coordinates() || !geometry.reference || !geometry.moving) {
    return second * first;
  }
  return second.in_coordinates(first.coordinates(), *geometry.reference, *geometry.moving) * first;
}

ExitStatus compose(const Options& options) {
  if (options.inputs.size() < 3) {
    throw UsageError("compose: name at least two transforms, and the file to write");
  }
  Options with_output = options;
  with_output.output = options.inputs.back();
  TransformFile whole = options.transform.load(options.inputs.front());
  for (std::size_t i = 1; i + 1 < options.inputs.size(); ++i) {
    const std::string& name = options.inputs[i];
    const TransformFile next = options.transform.load(name);
    const std::size_t count = std::max(whole.transforms.size(), next.transforms.size());
    const auto fits = [&](const TransformFile& file) {
      return file.transforms.size() == 1 || file.transforms.size() == count;
    };
    if (!fits(whole) || !fits(next)) {
      throw UsageError(fmt::format("{}: has {} transforms, and the one before it {}", name,
                                   next.transforms.size(), whole.transforms.size()));
    }
    std::vector<Transform> all;
    for (std::size_t k = 0; k < count; ++k) {
      const Transform& first = whole.transforms[whole.transforms.size() == 1 ? 0 : k];
      const Transform& second = next.transforms[next.transforms.size() == 1 ? 0 : k];
      try {
        all.push_back(composed(second, first, whole.geometry));
      } catch (const Error& error) {
        throw UsageError(fmt::format("{}: {}", name, error.message()));
      }
    }
    whole.transforms = std::move(all);
    whole.geometry.moving = next.geometry.moving;
  }
  write(with_output, whole);
  return ExitStatus::ok;
}

ExitStatus invert(const Options& options) {
  TransformFile file = options.transform.load(options.input);
  for (Transform& transform : file.transforms) {
    transform = inverse_of(transform, options.input);
  }
  std::swap(file.geometry.reference, file.geometry.moving);
  write(options, file);
  return ExitStatus::ok;
}

}  // namespace

void add_transform_show_command(CLI::App& parent, Action& chosen) {
  CLI::App& command = add_command(parent, "show", "Print what a file of transforms holds");
  auto options = std::make_shared<Options>();
  add_input(command, *options);
  add_option(command, "--json", &options->json, "Print JSON");
  add_transform_options(command, options->transform);
  add_limit_options(command);
  set_footer(command,
             "Examples:\n"
             "  warpalign transform show found.json\n"
             "  warpalign transform show 0GenericAffine.mat --json\n"
             "  warpalign transform show flirt.mat --reference mni.nii.gz --moving t1.nii.gz\n");
  set_action(command, chosen, [options] { return show(*options); });
}

void add_transform_convert_command(CLI::App& parent, Action& chosen) {
  CLI::App& command = add_command(parent, "convert", "Write transforms in another tool's format");
  auto options = std::make_shared<Options>();
  add_input(command, *options);
  add_output(command, *options);
  add_to_option(command, *options);
  add_transform_options(command, options->transform);
  add_limit_options(command);
  set_footer(
      command,
      "A name tells the format by its ending: .json, .npz, .tfm and .txt (itk), .lta,\n"
      ".1D (afni), .xml (bdv), .npy, .mgz, .nii and .nii.gz (itk-nifti). .mat belongs to several\n"
      "formats, and .txt to others, too: name one with --to. itk-nifti, fnirt-relative,\n"
      "fnirt-absolute, niftyreg and mgz are displacement fields, to which any transform is\n"
      "sampled at the pixels of the reference. npz holds all transforms.\n"
      "\n"
      "Examples:\n"
      "  warpalign transform convert found.json found.tfm --reference a.nii --moving b.nii\n"
      "  warpalign transform convert t1.lta t1.mat --to flirt\n"
      "  warpalign transform convert warp.nii fsl.nii --to fnirt-relative --reference a.nii "
      "--moving b.nii\n"
      "  warpalign register a.png b.png --json | warpalign transform convert - shift.npy\n");
  set_action(command, chosen, [options] { return convert(*options); });
}

void add_transform_compose_command(CLI::App& parent, Action& chosen) {
  CLI::App& command = add_command(parent, "compose", "Put transforms one after another");
  auto options = std::make_shared<Options>();
  add_option(command, "FILES", &options->inputs,
             "The transforms, the one that is applied first in front, then the file to write",
             required);
  add_to_option(command, *options);
  add_transform_options(command, options->transform);
  add_limit_options(command);
  set_footer(command,
             "With transforms T1 and T2, the result maps a point p to T2(T1(p)). If a file holds\n"
             "several transforms, each is composed with that of the other file, or with its only "
             "one.\n"
             "\n"
             "Examples:\n"
             "  warpalign transform compose first.json second.json both.json\n"
             "  warpalign transform compose to-template.tfm template-to-t1.tfm both.tfm\n");
  set_action(command, chosen, [options] { return compose(*options); });
}

void add_transform_invert_command(CLI::App& parent, Action& chosen) {
  CLI::App& command =
      add_command(parent, "invert", "Write the transforms from the moving image to the reference");
  auto options = std::make_shared<Options>();
  add_input(command, *options);
  add_output(command, *options);
  add_to_option(command, *options);
  add_transform_options(command, options->transform);
  add_limit_options(command);
  set_footer(
      command,
      "A singular matrix and a field that folds are refused. The inverse of a field is "
      "sampled at\n"
      "the pixels of --moving, or without it on the field's own grid, and written as a field "
      "in\n"
      "NIfTI or .npy; a line on stderr says how exact it is. 'points --inverse' solves for "
      "it.\n"
      "\n"
      "Examples:\n"
      "  warpalign transform invert found.json back.json\n"
      "  warpalign transform invert warp.nii.gz back.nii.gz --moving t1.nii.gz\n"
      "  warpalign transform invert flirt.mat back.mat --to flirt --reference mni.nii "
      "--moving t1.nii\n");
  set_action(command, chosen, [options] { return invert(*options); });
}

}  // namespace warpalign::program

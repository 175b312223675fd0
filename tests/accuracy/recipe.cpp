// The groups of pairs, and what is chosen at random for one pair of a group.
#include "accuracy/recipe.hpp"

#include <algorithm>
#include <cmath>

namespace accuracy {

namespace {

double any_angle(Random& random) { return random.between(-180, 180); }

/// Any angle at about the same scale: the basis of the groups about illumination and noise.
Recipe about_equal_scale(Random& random) {
  Recipe recipe;
  recipe.rotation_deg = any_angle(random);
  recipe.scale = random.log_between(0.8, 1.25);
  recipe.min_common = 0.5;
  return recipe;
}

Recipe mild(Random& random, std::size_t) {
  Recipe recipe;
  recipe.rotation_deg = random.between(-15, 15);
  recipe.scale = random.log_between(0.9, 1.1);
  recipe.max_shift = 0.1;
  return recipe;
}

Recipe angle(Random& random, std::size_t) {
  Recipe recipe;
  recipe.rotation_deg = any_angle(random);
  recipe.min_common = 0.5;
  return recipe;
}

Recipe scale2(Random& random, std::size_t) {
  Recipe recipe;
  recipe.rotation_deg = any_angle(random);
  recipe.scale = random.log_between(0.5, 2);
  recipe.max_shift = 0.5;
  recipe.min_common = 0.5;
  return recipe;
}

Recipe scale4(Random& random, std::size_t index) {
  Recipe recipe;
  recipe.rotation_deg = any_angle(random);
  // Every other one is beyond 2.5, the paper's limit.
  const double ratio = index % 2 == 0 ? random.log_between(2.5, 4) : random.log_between(1, 2.5);
  recipe.scale = random.sign() > 0 ? ratio : 1 / ratio;
  recipe.max_shift = 0.5;
  recipe.min_of_large = 0.07;
  recipe.min_common = 0.5;
  recipe.reduced = ratio > 3.3 ? 0.9 : 1;  // equal squares overlap by 1 / 16 at most
  return recipe;
}

Recipe noise(Random& random, std::size_t index) {
  Recipe recipe = about_equal_scale(random);
  const double sigma = index % 3 == 0 ? 40 : random.log_between(5, 40);
  recipe.reference.noise = recipe.moving.noise = sigma;
  return recipe;
}

Recipe salt_pepper(Random& random, std::size_t) {
  Recipe recipe = about_equal_scale(random);
  recipe.reference.impulses = recipe.moving.impulses = 0.2;
  return recipe;
}

Recipe illumination(Random& random, std::size_t index) {
  Recipe recipe = about_equal_scale(random);
  const std::size_t kind = index % 4;
  if (kind == 0 || kind == 3) {
    recipe.reference.unevenness = random.between(0.2, 0.7);
    recipe.moving.unevenness = random.between(0.2, 0.7);
  }
  if (kind == 1 || kind == 3) recipe.moving.gamma = random.log_between(0.5, 2);
  if (kind == 2) recipe.moving.contrast = 0.15;
  return recipe;
}

Recipe overlap(Random& random, std::size_t index) {
  Recipe recipe;
  recipe.rotation_deg = index % 2 == 0 ? random.between(-5, 5) : any_angle(random);
  recipe.scale = random.log_between(0.9, 1.1);
  recipe.min_shift = 0.2;
  recipe.max_shift = 0.4;
  return recipe;
}

Recipe odd_sizes(Random& random, std::size_t) {
  Recipe recipe;
  recipe.rotation_deg = any_angle(random);
  recipe.scale = random.log_between(0.7, 1.4);
  recipe.min_common = 0.5;
  recipe.odd_sizes = true;
  return recipe;
}

Recipe low_texture(Random& random, std::size_t index) {
  Recipe recipe = about_equal_scale(random);
  if (index % 3 < 2) {
    recipe.from = From::faint;
  } else {
    recipe.reference.contrast = recipe.moving.contrast = random.between(0.06, 0.1);
  }
  return recipe;
}

Recipe subpixel(Random&, std::size_t) {
  Recipe recipe;
  recipe.max_shift = 0;  // below one pixel: see translation_of() in pair.cpp
  return recipe;
}

Frame border(Random& random) { return {true, 0, random.between(0.05, 0.15), 0}; }

Recipe corners(Random& random, std::size_t index) {
  Recipe recipe = about_equal_scale(random);
  recipe.max_shift = 0.1;
  switch (index % 3) {
    case 0:  // the moving image had been rotated before, the reference had not
      recipe.moving.frame = {true, recipe.rotation_deg, 0, 0};
      break;
    case 1:
      recipe.reference.frame = {true, any_angle(random), 0, 0};
      recipe.moving.frame = {true, any_angle(random), 0, 0};
      break;
    default:  // a border that fits at no shift at all
      recipe.reference.frame = recipe.moving.frame = border(random);
      recipe.moving.frame.level = recipe.reference.frame.level = index % 2 == 0 ? 0 : 255;
  }
  return recipe;
}

/// Everything at once, each to a degree that occurs in practice.
Recipe mixed(Random& random, std::size_t index) {
  Recipe recipe;
  recipe.rotation_deg = any_angle(random);
  recipe.scale = random.log_between(0.4, 2.5);
  recipe.max_shift = 0.3;
  recipe.min_common = 0.4;
  recipe.odd_sizes = index % 3 == 0;
  for (Exposure* exposure : {&recipe.reference, &recipe.moving}) {
    exposure->noise = random.log_between(1, 20);
    exposure->unevenness = random.between(0, 0.4);
    exposure->gamma = random.log_between(0.7, 1.4);
    exposure->contrast = random.between(0.5, 1);
    if (index % 4 == 1) exposure->impulses = 0.02;
  }
  return recipe;
}

warpalign::Point in_any_direction(Random& random, double least, double most) {
  const double x = random.between(least, most) * random.sign();
  return {x, random.between(least, most) * random.sign()};
}

// Two sides of a parallelogram are changed by up to 5 % each.
Recipe affine(Random& random, std::size_t) {
  Recipe recipe = about_equal_scale(random);
  recipe.rotation_deg = random.between(-30, 30);
  recipe.max_shift = 0.1;
  const warpalign::Point across = in_any_direction(random, 0.01, 0.05);
  const warpalign::Point down = in_any_direction(random, 0.01, 0.05);
  recipe.corners[1] = across;
  recipe.corners[2] = {across.x + down.x, across.y + down.y};
  recipe.corners[3] = down;
  return recipe;
}

// Perspective of half a percent to 6 % of the side at each corner: 2.5 to 30 pixels of 512.
Recipe homography(Random& random, std::size_t) {
  Recipe recipe = about_equal_scale(random);
  recipe.rotation_deg = random.between(-30, 30);
  recipe.max_shift = 0.1;
  const double most = random.log_between(0.01, 0.06);
  for (warpalign::Point& corner : recipe.corners) {
    corner = in_any_direction(random, most / 2, most);
  }
  return recipe;
}

Recipe unrelated(Random& random, std::size_t index) {
  Recipe recipe = about_equal_scale(random);
  recipe.from = index % 3 == 0 ? From::disjoint_parts : From::two_originals;
  switch (index / 3 % 5) {
    case 0:
      recipe.reference.noise = recipe.moving.noise = random.log_between(5, 40);
      break;
    case 1:
      recipe.reference.frame = recipe.moving.frame = border(random);
      break;
    case 2:
      recipe.reference.frame = {true, any_angle(random), 0, 0};
      recipe.moving.frame = {true, any_angle(random), 0, 0};
      break;
    default:
      break;
  }
  return recipe;
}

}  // namespace

const std::vector<Group>& all_groups() {
  static const std::vector<Group> groups{
      {"mild", "15 degrees, scale 0.9 to 1.1, shifts of 10 %", mild},
      {"any_angle", "any angle, scale 1", angle},
      {"scale2", "any angle, scale 0.5 to 2, half in common", scale2},
      {"scale4", "any angle, scale 0.25 to 4, 7 % of the larger in common", scale4},
      {"noise", "Gaussian noise in both, sigma 5 to 40, a third 40", noise},
      {"salt_pepper", "20 % impulses in both", salt_pepper},
      {"illumination", "uneven illumination, gamma 0.5 to 2, 15 % contrast", illumination},
      {"overlap", "shifts of 20 to 40 %", overlap},
      {"odd_sizes", "four different sides, odd or prime", odd_sizes},
      {"low_texture", "smooth, sparse or of 6 to 10 % contrast", low_texture},
      {"subpixel", "shifts below one pixel", subpixel},
      {"corners", "black corners, or a constant border", corners},
      {"mixed", "scale 0.4 to 2.5 with noise, illumination, shifts, some impulses", mixed},
      {"unrelated", "nothing in common: to be refused", unrelated},
      // A group's number is part of what its pairs are drawn from: further ones go to the end.
      {"affine", "30 degrees, sides stretched and sheared by 1 to 5 %: --motion affine", affine},
      {"homography", "30 degrees, corners off by 0.5 to 6 %: --motion homography", homography},
  };
  return groups;
}

}  // namespace accuracy

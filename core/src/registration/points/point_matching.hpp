// Finds the similarity between two sets of point sources.
#pragma once

#include "registration/points/point_agreement.hpp"
#include "registration/points/point_source.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/homogeneous_matrix.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The similarities that may be found.
struct PointMotion {
  bool rotates = true, scales = true;
  double min_scale = 1, max_scale = 1;  ///< if it scales
  /// Whether a similarity is within further limits. If empty, there are none.
  std::function<bool(const Affine&)> allows;
};

/// Matches points as programs for star fields do (Groth 1986; Lang et al. 2010; Beroiz et al.
/// 2020), but exhaustively: every pair of the brightest sources of the reference may be any pair of
/// the moving image. Each of these poses is verified by the sources of both images that lie upon
/// one another. The best are fitted by least squares, weighted by the sources' own variances. Not
/// thread-safe.
class PointMatching {
 public:
  /// Returns the most significant transform, whatever its significance; nothing if there are not
  /// enough sources.
  [[nodiscard]] std::optional<PointAgreement> match(std::span<const PointSource> reference,
                                                    const Shape& reference_shape,
                                                    std::span<const PointSource> moving,
                                                    const Shape& moving_shape,
                                                    const PointMotion& motion);

 private:
  struct Pose {
    Affine matrix;
    int matched = 0;
  };
  struct Match {
    std::size_t reference, moving;
    double distance;
  };

  void set_cells();
  template <class Use>
  void for_near(Point place, double radius, Use use) const;
  void mark_near();
  [[nodiscard]] bool may_reach(const Affine& pose, std::size_t most, int least) const;
  int count(const Affine& pose, int least);
  void try_pose(const Affine& pose);
  double try_shifts();
  double try_pairs();
  void keep(const Pose& pose);
  [[nodiscard]] double radius_of(const PointSource& a, const PointSource& b, double scale) const;
  void find_matches(const Affine& pose, double fixed_radius);
  [[nodiscard]] Affine fitted(double scale);
  std::optional<PointAgreement> refined(const Pose& start);
  void set_significance(PointAgreement& found) const;
  [[nodiscard]] double other_ratio(std::span<const PointAgreement> agreements,
                                   const PointAgreement& best) const;
  [[nodiscard]] double parameters() const { return motion_->rotates ? 2 : 1; }

  const PointMotion* motion_ = nullptr;
  std::span<const PointSource> reference_, moving_;
  Shape reference_shape_, moving_shape_;
  // The moving sources by cells of a grid: cell c holds order_[starts_[c]] to order_[starts_[c+1]].
  double cell_ = 1;
  std::int64_t columns_ = 1, rows_ = 1;
  std::vector<std::size_t> starts_, order_;
  // A coarse map of the moving image: 1 where a source may be within the radius of a match.
  double spacing_ = 1;
  std::int64_t map_width_ = 1, map_height_ = 1;
  std::vector<std::uint8_t> near_;
  std::vector<std::uint32_t> seen_;  // the last count that a moving source was matched in
  std::uint32_t counts_ = 0;
  std::vector<Pose> best_;
  std::vector<Match> matches_;
  double scatter_ = 0;  // variance along each axis beyond that of the sources
};

}  // namespace warpalign::detail

// The graph of tiles and pairs.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace warpalign::detail {

/// Two tiles that a pair connects.
using Connection = std::pair<std::size_t, std::size_t>;

/// The connected components of the graph: for each node the number of its component. They are
/// numbered by decreasing size, and equally large ones by their first nodes.
[[nodiscard]] std::vector<std::size_t> components_of(std::size_t nodes,
                                                     std::span<const Connection> connections);

/// For each connection, whether it is a bridge: without it, its nodes would not be connected
/// (Tarjan 1974).
[[nodiscard]] std::vector<bool> bridges_of(std::size_t nodes,
                                           std::span<const Connection> connections);

}  // namespace warpalign::detail

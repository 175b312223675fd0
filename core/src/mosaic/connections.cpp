// The graph of tiles and pairs.
#include "mosaic/connections.hpp"

#include <algorithm>
#include <numeric>

namespace warpalign::detail {
namespace {

struct Neighbour {
  std::size_t node = 0;
  std::size_t connection = 0;
};

std::vector<std::vector<Neighbour>> neighbours_of(std::size_t nodes,
                                                  std::span<const Connection> connections) {
  std::vector<std::vector<Neighbour>> neighbours(nodes);
  for (std::size_t i = 0; i < connections.size(); ++i) {
    neighbours[connections[i].first].push_back({connections[i].second, i});
    neighbours[connections[i].second].push_back({connections[i].first, i});
  }
  return neighbours;
}

}  // namespace

std::vector<std::size_t> components_of(std::size_t nodes, std::span<const Connection> connections) {
  const auto neighbours = neighbours_of(nodes, connections);
  const std::size_t none = nodes;
  std::vector<std::size_t> component(nodes, none);
  std::vector<std::size_t> sizes;
  for (std::size_t start = 0; start < nodes; ++start) {
    if (component[start] != none) continue;
    component[start] = sizes.size();
    std::vector<std::size_t> open{start};
    std::size_t size = 0;
    while (!open.empty()) {
      const std::size_t node = open.back();
      open.pop_back();
      ++size;
      for (const Neighbour& next : neighbours[node]) {
        if (component[next.node] != none) continue;
        component[next.node] = sizes.size();
        open.push_back(next.node);
      }
    }
    sizes.push_back(size);
  }
  std::vector<std::size_t> by_size(sizes.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  std::vector<std::size_t> number(sizes.size());
  for (std::size_t i = 0; i < by_size.size(); ++i) number[by_size[i]] = i;
  for (std::size_t& c : component) c = number[c];
  return component;
}

std::vector<bool> bridges_of(std::size_t nodes, std::span<const Connection> connections) {
  const auto neighbours = neighbours_of(nodes, connections);
  const std::size_t none = connections.size();
  struct Visit {
    std::size_t node;
    std::size_t through;  ///< the connection by which the search came
    std::size_t next = 0;
  };
  std::vector<bool> bridges(connections.size(), false);
  std::vector<std::size_t> entered(nodes, 0);  // 0: not yet
  std::vector<std::size_t> lowest(nodes, 0);
  std::size_t clock = 0;
  for (std::size_t start = 0; start < nodes; ++start) {
    if (entered[start] != 0) continue;
    entered[start] = lowest[start] = ++clock;
    std::vector<Visit> path{{start, none}};
    while (!path.empty()) {
      Visit& visit = path.back();
      if (visit.next < neighbours[visit.node].size()) {
        const Neighbour next = neighbours[visit.node][visit.next++];
        if (next.connection == visit.through) continue;
        if (entered[next.node] != 0) {
          lowest[visit.node] = std::min(lowest[visit.node], entered[next.node]);
          continue;
        }
        entered[next.node] = lowest[next.node] = ++clock;
        path.push_back({next.node, next.connection});
        continue;
      }
      const Visit done = visit;
      path.pop_back();
      if (path.empty()) continue;
      const std::size_t parent = path.back().node;
      lowest[parent] = std::min(lowest[parent], lowest[done.node]);
      if (lowest[done.node] > entered[parent]) bridges[done.through] = true;
    }
  }
  return bridges;
}

}  // namespace warpalign::detail

"""The graph of photographs and the pairs that connect them."""

import numpy as np


class Sets:
    """Disjoint sets of numbers, which grow together."""

    def __init__(self, count):
        self._parent = list(range(count))

    def of(self, item):
        while self._parent[item] != item:
            self._parent[item] = self._parent[self._parent[item]]
            item = self._parent[item]
        return item

    def join(self, one, other):
        """Join two sets. Returns whether they were apart."""
        one, other = self.of(one), self.of(other)
        self._parent[max(one, other)] = min(one, other)
        return one != other

    def are_one(self):
        return len({self.of(item) for item in range(len(self._parent))}) == 1


def largest_component(count, ends):
    """The numbers of the most photographs that pairs connect, in order; the first of equals."""
    sets = Sets(count)
    for one, other in ends:
        sets.join(one, other)
    members = [sets.of(item) for item in range(count)]
    root = max(range(count), key=lambda item: (members.count(item), -item))
    return [item for item in range(count) if members[item] == root]


def maximum_spanning_tree(count, ends, weights):
    """The pairs of the maximum spanning forest [Kruskal 1956], as their numbers."""
    sets = Sets(count)
    order = sorted(range(len(ends)), key=lambda pair: -weights[pair])
    return [pair for pair in order if sets.join(*ends[pair])]


def walk(root, ends, tree):
    """The steps (pair, from, to, forward) that lead from the root to all that it is connected to.

    A forward step leads from the pair's reference photograph to its moving one.
    """
    steps, reached, waiting = [], {root}, [root]
    while waiting:
        here = waiting.pop(0)
        for pair in tree:
            if here not in ends[pair]:
                continue
            forward = ends[pair][0] == here
            there = ends[pair][1 if forward else 0]
            if there not in reached:
                reached.add(there)
                waiting.append(there)
                steps.append((pair, here, there, forward))
    return steps


def centre_of(members, ends):
    """The photograph with the most pairs, the first of equals."""
    counts = np.bincount(np.array(ends, int).ravel(), minlength=max(members) + 1)
    return max(members, key=lambda member: (counts[member], -member))

"""Proposes pairs of photographs until they are connected, then those that the cameras predict."""

from collections import Counter

import numpy as np

from ._graph import Sets
from ._solution import Fitting, overlap_points, solve

# The overlap, as a part of a photograph, that makes a predicted pair worth a registration: the
# second if photographs have a neighbour in common, so that the pair adds little.
_LEAST_OVERLAP = 0.08
_LEAST_BESIDE = 0.2
# Photographs that so many pairs lead from one to the other may overlap although the cameras put
# them side by side: errors add up on the way. So much wider, they would overlap.
_LONG_WAY = 5
_WIDENED = 1.6
_MOST_PREDICTED = 8  # pairs of a photograph that are predicted, those that overlap most
_ROUNDS = 8
# The confidence of a quick search above which a pair is worth a registration. Drawn photographs
# that overlap by a quarter and more reach 0.38 and more, unrelated ones at most 0.07.
_SIMILAR = 0.1
_SIMILAR_NEIGHBOURS = 0.03  # of photographs that follow each other, which usually belong together
_MOST_SIMILAR = 4  # pairs of a photograph that are registered although they are hardly similar


class PairSearch:
    """Finds the pairs of a panorama.

    Attributes
    ----------
    pairs : dict
        What was registered, as Found by its ends.
    contradicted : set
        The ends of accepted pairs that contradict the others.
    """

    def __init__(self, matcher, shapes, model):
        self._matcher, self._shapes, self._model = matcher, shapes, model
        self._count = len(shapes)
        self._scores = {}  # confidences of quick searches, by ends
        self._searched_closely = set()
        self.pairs, self.contradicted = {}, set()

    def run(self):
        """Search, refine, and fit. Returns the Solution, or None if no pair is accepted, and the
        pairs that it was fitted to."""
        for _ in range(_ROUNDS):
            self._connect()
            if not self._accepted():
                return None, []
            solution, _ = self._solve()
            if not self._predict(solution) and not self._contradiction_parts():
                break
        solution, accepted = self._solve()
        refined = self._matcher.refine(accepted, self._predictions(solution, accepted))
        self.pairs.update((pair.ends, pair) for pair in refined)
        return self._solve()

    def _contradiction_parts(self):
        """Whether the pairs that were left out are what connected photographs, so that others are
        worth a search."""
        sets = self._sets()
        return bool(self.contradicted) and not sets.are_one() and any(
            sets.of(i) != sets.of(j) for i, j in self.contradicted)

    def _accepted(self):
        return [pair for _, pair in sorted(self.pairs.items()) if pair.outcome == "used"]

    def _sets(self):
        sets = Sets(self._count)
        for pair in self._accepted():
            if pair.ends not in self.contradicted:
                sets.join(*pair.ends)
        return sets

    def _connect(self):
        """Register pairs by the distance of their numbers until they connect all photographs:
        those that a quick search finds similar."""
        count, distances = self._count, set()
        while not self._sets().are_one():
            distance = self._next_distance(distances)
            if distance is None:
                self._search_most_similar()
                return
            distances.add(distance)
            sets = self._sets()
            apart = [(i, i + distance) for i in range(count - distance)
                     if (i, i + distance) not in self.pairs and sets.of(i) != sets.of(i + distance)]
            least = _SIMILAR if distance > 1 else _SIMILAR_NEIGHBOURS
            self._join(self._similar(apart, least))

    def _join(self, similar):
        """Register as few of the pairs as connect what they can, the most similar first. What else
        overlaps, the cameras predict, which takes less time."""
        similar = sorted(similar, key=lambda ends: -self._scores[ends])
        while similar:
            sets = self._sets()
            tree = [ends for ends in similar if sets.join(*ends)]
            self._search(tree)
            sets = self._sets()
            similar = [ends for ends in similar
                       if ends not in self.pairs and sets.of(ends[0]) != sets.of(ends[1])]

    def _similar(self, ends, least=_SIMILAR):
        """The pairs that a quick search finds similar."""
        new = [pair for pair in ends if pair not in self._scores]
        self._scores.update(zip(new, self._matcher.quick_confidences(new)))
        return [pair for pair in ends if self._scores[pair] >= least]

    def _search_most_similar(self):
        """Register the most similar pairs of each photograph that is apart from the most, although
        they are hardly similar: a strong perspective hides it."""
        sets = self._sets()
        main = max(map(sets.of, range(self._count)),
                   key=[sets.of(i) for i in range(self._count)].count)
        chosen = set()
        for photograph in range(self._count):
            if sets.of(photograph) == main or photograph in self._searched_closely:
                continue
            self._searched_closely.add(photograph)
            others = [ends for ends in self._scores
                      if photograph in ends and ends not in self.pairs
                      and sets.of(ends[0]) != sets.of(ends[1])]
            chosen.update(sorted(others, key=lambda ends: -self._scores[ends])[:_MOST_SIMILAR])
        self._search(sorted(chosen))

    def _next_distance(self, done):
        """1, then the usual length of what is connected and its neighbours, as between the rows of
        a grid, then the others."""
        if 1 not in done:
            return 1
        sets = self._sets()
        sizes = Counter(Counter(sets.of(i) for i in range(self._count)).values())
        usual = max((size for size in sizes if size > 1), key=sizes.get, default=1)
        order = [usual, usual - 1, usual + 1, *range(1, self._count)]
        return next((d for d in order if 0 < d < self._count and d not in done), None)

    def _search(self, ends, near=None):
        found = self._matcher.search(ends, near)
        self.pairs.update((pair.ends, pair) for pair in found)
        return [pair for pair in found if pair.outcome == "used"]

    def _solve(self):
        """The solution for the accepted pairs, and these pairs."""
        accepted = self._accepted()
        fitting = Fitting(self._shapes, [pair.ends for pair in accepted],
                          [pair.homography for pair in accepted],
                          [pair.confidence for pair in accepted])
        solution = solve(fitting, self._model)
        self.contradicted = {pair.ends for pair, wrong in zip(
            accepted, solution.contradicted) if wrong} if solution is not None else set()
        return solution, accepted

    def _predict(self, solution):
        """Register the pairs that the cameras say overlap, and once more without a prediction
        those that contradict the others. Returns whether one was accepted.

        Pairs that overlap much come first. They shorten the ways between photographs, which decide
        whether those that overlap little, or almost, are worth a search.
        """
        if solution is None:
            return False
        again = [ends for ends in self.contradicted if self.pairs[ends].predicted]
        before = set(self.contradicted)
        hops = self._hops()
        much, little, almost = [], [], []
        for i, j in ((i, j) for i in solution.members for j in solution.members if i < j):
            if (i, j) in self.pairs and ((i, j) not in self.contradicted or (i, j) in again):
                continue
            between = solution.matrices[j] @ np.linalg.inv(solution.matrices[i])
            share = self._shared(between, i, j)
            if share >= _LEAST_BESIDE:
                much.append((-share, (i, j), between))
            elif share >= _LEAST_OVERLAP and hops[i][j] > 2:
                little.append((-share, (i, j), between))
            elif hops[i][j] >= _LONG_WAY and self._shared(between, i, j, _WIDENED) > 0:
                almost.append((i, j))
        found = self._search(again) + self._search_predicted(much)
        if not self._grown(found, before):
            found = self._search_predicted(little)
        if not self._grown(found, before):
            found = self._search(self._similar(almost))
        return self._grown(found, before)

    @staticmethod
    def _grown(found, before):
        """Whether a pair was found that did not contradict the others before."""
        return any(pair.ends not in before for pair in found)

    def _search_predicted(self, overlaps):
        """Register pairs (order, ends, homography), so many of a photograph."""
        chosen, counts = [], Counter()
        for _, ends, between in sorted(overlaps, key=lambda one: one[:2]):
            if all(counts[end] < _MOST_PREDICTED for end in ends):
                counts.update(ends)
                chosen.append((ends, between))
        return self._search([ends for ends, _ in chosen], [between for _, between in chosen])

    def _shared(self, between, i, j, widened=1.0):
        """How much of each of two photographs the other one shows, the smaller part; as if both
        were wider by a factor."""
        shapes = [tuple(widened * length for length in self._shapes[k]) for k in (i, j)]
        parts = []
        for homography, (one, other) in ((between, shapes), (np.linalg.inv(between), shapes[::-1])):
            points = [len(overlap_points(matrix, one, to, least=None)[0])
                      for matrix, to in ((homography, other), (np.eye(3), one))]
            parts.append(points[0] / points[1])
        return min(parts)

    def _hops(self):
        """The numbers of pairs that lead from each photograph to each other one."""
        hops = np.full((self._count, self._count), np.inf)
        np.fill_diagonal(hops, 0)
        for pair in self._accepted():
            if pair.ends not in self.contradicted:
                hops[pair.ends] = hops[pair.ends[::-1]] = 1
        for middle in range(self._count):  # [Floyd 1962]
            np.minimum(hops, hops[:, middle, None] + hops[middle], out=hops)
        return hops

    def _predictions(self, solution, pairs):
        """Where the refinement of each pair begins."""
        return [solution.matrices[pair.ends[1]] @ np.linalg.inv(solution.matrices[pair.ends[0]])
                if set(pair.ends) <= set(solution.members) else pair.homography for pair in pairs]

"""Random registrations: none is accepted wrongly, and none raises.

benchmarks/random_registrations.py runs any number of them. The seed is fixed, so that only a change
of the code can make a test fail. WARPALIGN_SEED sets another seed. A failure prints the seed and
the case.
"""

import os

import pytest
from random_registrations import Case, outcome_of, verdict_of

SEED = int(os.environ.get("WARPALIGN_SEED", "20261129"))


@pytest.mark.parametrize("number", range(10))
def test_a_random_registration_is_right_or_refused(number):
    case = Case(SEED, number)
    verdict, details = outcome_of(case)
    assert verdict in ("right", "refused", "no image"), \
        f"seed {SEED}, case {number}: {verdict}, {details}: {case}"


def test_the_cases_are_those_of_their_seed():
    first, again, other = Case(3, 1), Case(3, 1), Case(3, 2)
    assert str(first) == str(again) != str(other)
    assert all((a == b).all() or a.dtype.kind == "f" for a, b in zip(first.images, again.images))


def test_a_wrong_answer_is_called_wrong():
    case = next(case for case in (Case(5, number) for number in range(100)) if case.is_easy())
    found = case.run(None)
    assert verdict_of(case, found)[0] == "right"
    case.truth = case.truth + [[0, 0, 9], [0, 0, 0], [0, 0, 0]]
    assert verdict_of(case, found)[0] == "wrong"
    case.related = False
    assert verdict_of(case, found)[0] == "wrong"

"""Assigns pairs to scenes, and scenes to the splits that are used or held back for tuning.

Pairs belong to the same scene if they share a picture, if one is derived from the other, or if
SCENES_ALIKE names them (slices of one head, pictures of one campus). The hash of its name decides
whether a scene is held back, except for the scenes with which tuning began, and for kinds with a
single scene. A recipe may name one split for all of its pairs.
"""

import hashlib

HELD_BACK_OF_TEN = 5
# Scenes with which tuning began, or that are the only one of their kind.
TUNED = ("affnet-", "degensac-", "kaze-", "multimodal-rs-", "magsac-", "multimodal-mr-pet-",
         "birl-lesions", "stitch2d-", "pystackreg-")
# Added to the sources above later.
STILL_HELD_BACK = ("magsac-evd-",)
SCENES_ALIKE = ("multimodal-pd-t", "multimodal-t1-t2-", "multimodal-rs-depth",
                "multimodal-mr-pet-", "multimodal-season", "stitch2d-", "pystackreg-",
                "multistitch-s", "multistitch-room", "multistitch-hill", "mexopencv-a",
                "stitching-weir", "stitching-budapest", "kaze-", "affnet-", "degensac-",
                "magsac-LePoint", "house-", "rededge-field")
# Across sources: the same scene, or the same head or wall.
ALIKE_ACROSS = (("multimodal-pd-t", "multimodal-t1-t2-"),
                ("magsac-LePoint", "magsac-evd-mag"), ("magsac-adam", "magsac-evd-adam"),
                ("multimodal-retina84", "multimodal-retina86"),
                # Found by registration: the third shows a part of the first, 3.6 times larger.
                ("multimodal-rs-infrared1", "multimodal-rs-infrared3"))


class Groups:
    def __init__(self):
        self.parent = {}

    def root(self, item):
        self.parent.setdefault(item, item)
        while self.parent[item] != item:
            item = self.parent[item]
        return item

    def join(self, a, b):
        self.parent[self.root(a)] = self.root(b)


def assign(pairs, split=None):
    """Set "scene" and "split" of every pair: to `split`, or to the split of its scene."""
    groups = Groups()
    for pair in pairs:
        for side in ("reference", "moving"):
            groups.join(pair["name"], pair[side])
        if "derived_from" in pair:
            groups.join(pair["name"], pair["derived_from"])
        for prefix in SCENES_ALIKE:
            if pair["name"].startswith(prefix):
                groups.join(pair["name"], prefix)
        for first, *others in ALIKE_ACROSS:
            if any(pair["name"].startswith(p) for p in (first, *others)):
                groups.join(pair["name"], first + others[0])
    members = {}
    for pair in pairs:
        members.setdefault(groups.root(pair["name"]), []).append(pair)
    for group in members.values():
        scene = min(p["name"] for p in group)
        for pair in group:
            pair["scene"] = scene
            pair["split"] = split or split_of(group, scene)


def split_of(group, scene):
    names = [p["name"] for p in group]
    if any(n.startswith(TUNED) and not n.startswith(STILL_HELD_BACK) for n in names):
        return "tune"
    digest = hashlib.sha256(scene.encode()).digest()
    return "held_back" if digest[0] % 10 < HELD_BACK_OF_TEN else "tune"

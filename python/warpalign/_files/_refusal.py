"""Why a file is refused."""


def one_line(error):
    """What an error says, on one line."""
    return " ".join(str(error).split()) or type(error).__name__


class Refused(ValueError):
    """An error whose message is complete but for the path."""


def refuse(why):
    """Raise ValueError; open_file() puts the path before the message."""
    raise Refused(why)


def number_of_scene(scene, names):
    """The number of the image that `scene`, a number or a name, chooses."""
    if isinstance(scene, str):
        if scene not in names:
            refuse(f"it has no image {scene!r}; it has {', '.join(map(repr, names))}")
        return names.index(scene)
    if not 0 <= scene < len(names):
        refuse(f"it has {len(names)} image{'s' * (len(names) != 1)}, and no number {scene}")
    return int(scene)


def check_level(level, count):
    """Check the number of a level of resolution."""
    if not 0 <= level < count:
        refuse(f"it has {count} level{'s' * (count != 1)} of resolution, and no level {level}")

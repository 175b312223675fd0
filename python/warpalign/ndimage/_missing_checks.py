"""What is refused of arrays with missing samples, on the host and on a device."""


def check_any_known(is_any_known):
    """Raise ValueError if no sample of the input is known."""
    if not is_any_known:
        raise ValueError("all samples of the input are missing (NaN, infinite or nodata)")


def check_can_mark(rule, output):
    """Raise ValueError if the output's type has no value for missing results."""
    if output.dtype.kind in "biu" and rule.nodata is None:
        raise ValueError(f"the input has missing samples, and an output of {output.dtype} cannot "
                         "hold NaN; give a value as nodata, or a floating-point output")

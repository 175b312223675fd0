"""The steps of a panorama; :func:`warpalign.panorama` calls them.

Points of photographs are here (x, y) in pixels from the photograph's centre, so that a camera is
its focal length and a rotation. Directions are (x, y, z): to the right, down, and forward.
"""

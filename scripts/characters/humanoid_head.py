"""The humanoid's head: face, ears, hair, neck."""

import math

import numpy as np

from . import sculpt
from .humanoid_body import BROW, EYE_WHITE, HAIR, IRIS, LIPS, SKIN
from .linalg import X, Y, Z, smoothstep, unit, vec
from .mesh import Mesh, ring

CENTER = vec(0.0, 1.610, 0.0)
HEAD = {"head": 1.0}


def both(shape, point, *rest):
    """A shape on each side."""
    return [shape(point * vec(s, 1, 1), *rest) for s in (1, -1)]


def face():
    parts = [
        (sculpt.ellipsoid((0, 1.648, -0.014), (0.079, 0.090, 0.098)), 0.0),
        (sculpt.ellipsoid((0, 1.566, 0.020), (0.056, 0.064, 0.066)), 0.05),
        (sculpt.ellipsoid((0, 1.530, 0.060), (0.028, 0.022, 0.022)), 0.03),
    ]
    parts += [(s, 0.03) for s in both(sculpt.ellipsoid, vec(0.038, 1.590, 0.048), (0.028, 0.030, 0.030))]
    parts.append((sculpt.capsule((-0.036, 1.656, 0.066), (0.036, 1.656, 0.066), 0.017, 0.017), 0.03))
    parts.append((sculpt.capsule((0, 1.640, 0.078), (0, 1.598, 0.101), 0.008, 0.0125), 0.02))
    parts += [(s, 0.012) for s in both(sculpt.ellipsoid, vec(0.011, 1.594, 0.094), (0.010, 0.009, 0.010))]
    parts.append((sculpt.ellipsoid((0, 1.562, 0.072), (0.024, 0.013, 0.018)), 0.02))
    body = sculpt.union(parts)
    for socket in both(sculpt.ellipsoid, vec(0.034, 1.632, 0.098), (0.020, 0.015, 0.020)):
        body = sculpt.carve(body, socket, 0.02)
    return body


COLUMNS = (0, 6, 14, 24, 36, 52, 74, 104, 140, 180, -140, -104, -74, -52, -36, -24, -14, -6)
ROWS = (60, 42, 29, 21, 15, 9, 3, -2, -7, -12, -18, -26, -36, -48, -62)


def head(bones):
    """Face and skull; what hair covers is left out."""
    m = Mesh(bones)
    shape = face()
    rings = []
    for row in ROWS:
        points = [sculpt.reach(shape, CENTER, sculpt.heading(a, row), 0.25) for a in COLUMNS]
        rings.append(m.ring(points, HEAD))
    for upper, lower, row in zip(rings, rings[1:], ROWS):
        hidden = [k for k, a in enumerate(COLUMNS) if row > hairline(a) + 26 and row > -20]
        m.bridge(upper, lower, SKIN, hidden)
    m.fan(rings[-1], sculpt.reach(shape, CENTER, -Y, 0.25), HEAD, SKIN)
    m.oriented()
    m.dropped()
    features(m, shape)
    return m


def hairline(longitude):
    """The latitude at which hair ends, seen from the middle of the head."""
    a = abs(longitude)
    if a <= 40:
        return 38 - 5 * smoothstep(4, 40, a)
    if a <= 66:
        return 33 - 24 * smoothstep(40, 66, a)
    return 9 - 37 * smoothstep(70, 130, a)


def decal(m, shape, outline, middle, lift, paint, edge=None):
    """A patch that lies on the face; `outline` and `middle` in x and y, seen from the front.

    Its middle is lifted off the face by `lift`, its edge by `edge`.
    """

    def on(x, y, out):
        low, high = 0.0, 0.2
        for _ in range(40):
            mid = 0.5 * (low + high)
            low, high = (low, mid) if shape(vec(x, y, mid)) > 0 else (mid, high)
        return vec(x, y, low + out)

    edge = lift * 0.5 if edge is None else edge
    loop = m.ring([on(x, y, edge) for x, y in outline], HEAD)
    tip = m.vertex(on(middle[0], middle[1], lift), HEAD)
    for k in range(len(loop)):
        a, b = loop[k], loop[(k + 1) % len(loop)]
        pa, pb, pc = m.points[a], m.points[b], m.points[tip]
        front = np.cross(pb - pa, pc - pa)[2] > 0
        m.face((a, b, tip) if front else (b, a, tip), paint)


def oval(x, y, width, height, count, tilt=0.0):
    out = []
    for k in range(count):
        a = 2 * math.pi * k / count
        u, v = math.cos(a) * width, math.sin(a) * height
        out.append((x + u, y + v + u * tilt))
    return out


def features(m, shape):
    for s in (1, -1):
        x, y = 0.0335 * s, 1.631
        decal(m, shape, oval(x, y, 0.0150, 0.0088, 10, 0.10 * s), (x, y), 0.0045, EYE_WHITE)
        decal(m, shape, oval(x - 0.0012 * s, y + 0.0003, 0.0082, 0.0086, 8), (x - 0.0012 * s, y), 0.0058, IRIS, 0.0048)
        lash = [(u, v + 0.0012) for u, v in oval(x, y, 0.0158, 0.0088, 10, 0.10 * s)[:6]]
        lash += [(u, v - 0.0002) for u, v in oval(x, y, 0.0146, 0.0076, 10, 0.10 * s)[4:0:-1]]
        decal(m, shape, lash, (x, y + 0.0088), 0.0062, BROW, 0.0058)
        brow = [(0.017, 1.6515), (0.034, 1.6568), (0.053, 1.6535), (0.053, 1.6505), (0.034, 1.6515), (0.017, 1.6460)]
        decal(m, shape, [(u * s, v) for u, v in brow], (0.034 * s, 1.655), 0.0045, BROW)
        m.absorb(ear(m.bone, s))
    mouth = [
        (-0.024, 1.5670),
        (-0.010, 1.5650),
        (0.0, 1.5638),
        (0.010, 1.5650),
        (0.024, 1.5670),
        (0.012, 1.5598),
        (0.0, 1.5580),
        (-0.012, 1.5598),
    ]
    decal(m, shape, mouth, (0.0, 1.5625), 0.0022, LIPS)


def ear(bones, s):
    m = Mesh(bones)
    at = vec(0.077 * s, 1.612, -0.008)
    out = unit(vec(0.85 * s, 0.0, -0.5))
    along = unit(vec(0.2 * s, 1.0, -0.15))
    across = np.cross(along, out)
    inner = m.ring(ring(at - out * 0.014, across, along, 0.014, 0.026, 0.026, 7), HEAD)
    rim = m.ring(ring(at + out * 0.012, across, along, 0.017, 0.031, 0.026, 7), HEAD)
    m.bridge(inner, rim, SKIN)
    m.fan(rim, at + out * 0.006, HEAD, SKIN)
    return m.oriented()


def hair(bones):
    """A cap of short hair with a swept fringe and a rim that turns into the skull."""
    m = Mesh(bones)
    skull = sculpt.union(
        [
            (sculpt.ellipsoid((0, 1.655, -0.016), (0.086, 0.094, 0.104)), 0.0),
            (sculpt.ellipsoid((0.012, 1.709, 0.038), (0.062, 0.038, 0.056)), 0.05),
            (sculpt.ellipsoid((0, 1.612, -0.058), (0.062, 0.066, 0.046)), 0.04),
        ]
    )
    columns = (0, 15, 30, 45, 62, 82, 106, 131, 156, 180, -156, -131, -106, -82, -62, -45, -30, -15)
    shape = face()
    rings = []
    for t in (0.15, 0.31, 0.47, 0.63, 0.79, 0.92, 1.0, 1.0):
        points = []
        for a in columns:
            low = hairline(a) - (4 if t == 1.0 else 0)
            way = sculpt.heading(a, 90 - (90 - low) * t)
            far = sculpt.length(sculpt.reach(skull, CENTER, way, 0.3) - CENTER)
            skin = sculpt.length(sculpt.reach(shape, CENTER, way, 0.3) - CENTER)
            points.append(CENTER + way * max(far, skin + 0.005))
        if len(rings) == 7:
            points = [CENTER + (p - CENTER) * 0.88 for p in points]
        rings.append(m.ring(points, HEAD))
    for a, b in zip(rings, rings[1:]):
        m.bridge(a, b, HAIR)
    m.fan(rings[0], sculpt.reach(skull, CENTER, Y, 0.3), HEAD, HAIR)
    return m.oriented()


def neck(bones):
    m = Mesh(bones)
    rows = [
        (1.452, -0.026, 0.062, 0.058, 0.060, {"neck": 0.5, "spine_03": 0.5}),
        (1.490, -0.020, 0.053, 0.050, 0.054, {"neck": 1.0}),
        (1.530, -0.012, 0.051, 0.046, 0.056, {"neck": 0.5, "head": 0.5}),
        (1.580, -0.006, 0.052, 0.044, 0.062, {"head": 1.0}),
    ]
    before = None
    for y, z, width, front, back, weights in rows:
        now = m.ring(ring(vec(0, y, z), X, Z, width, front, back, 12), weights)
        if before:
            m.bridge(before, now, SKIN)
        before = now
    return m.oriented()

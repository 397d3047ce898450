"""The quadruped's head: muzzle, jaw, ears, eyes."""

import math

import numpy as np

from . import quadruped_skeleton as qs
from . import sculpt
from .linalg import X, Y, Z, unit, vec
from .mesh import Mesh, ring
from .quadruped_body import EAR_INSIDE, EYE, FUR, GLINT, MOUTH, NOSE, TONGUE

CENTER = vec(0, 0.766, 0.345)
HEAD, JAW = {"head": 1.0}, {"jaw": 1.0}


def skull():
    parts = [(sculpt.ellipsoid((0, 0.772, 0.322), (0.066, 0.058, 0.066)), 0.0)]
    for s in (1, -1):
        parts.append((sculpt.ellipsoid((0.044 * s, 0.748, 0.320), (0.034, 0.032, 0.036)), 0.03))
        parts.append((sculpt.capsule((0.050 * s, 0.748, 0.322), (0.086 * s, 0.728, 0.300), 0.026, 0.006), 0.02))
    parts.append((sculpt.capsule((0, 0.758, 0.372), (0, 0.744, 0.452), 0.030, 0.0185), 0.035))
    for s in (1, -1):
        parts.append((sculpt.capsule((0.017 * s, 0.748, 0.385), (0.009 * s, 0.738, 0.446), 0.021, 0.0145), 0.012))
    body = sculpt.union(parts)
    for s in (1, -1):
        body = sculpt.carve(body, sculpt.ellipsoid((0.040 * s, 0.790, 0.392), (0.017, 0.014, 0.020)), 0.02)
    return body


ANGLES = (9, 17, 26, 37, 50, 64, 79, 94, 108, 120, 134, 152)
AROUND = 16


def head(bones):
    m = Mesh(bones)
    shape = skull()
    rings = []
    for polar in ANGLES:
        points = []
        for k in range(AROUND):
            a = 2 * math.pi * k / AROUND
            b = math.radians(polar)
            # The pole looks along the muzzle, a little downwards.
            way = unit(vec(math.cos(a) * math.sin(b), math.sin(a) * math.sin(b) - 0.16 * math.cos(b), math.cos(b)))
            points.append(sculpt.reach(shape, CENTER, way, 0.25))
        rings.append(m.ring(points, HEAD))
    for a, b in zip(rings, rings[1:]):
        m.bridge(a, b, FUR)
    m.fan(rings[0], sculpt.reach(shape, CENTER, unit(vec(0, -0.16, 1)), 0.25), HEAD, FUR)
    m.fan(rings[-1], sculpt.reach(shape, CENTER, unit(vec(0, 0.16, -1)), 0.25), HEAD, FUR)
    m.oriented()
    for part in (nose(bones), jaw(bones)):
        m.absorb(part)
    for s in (1, -1):
        m.absorb(eye(bones, shape, s))
        m.absorb(ear(bones, s))
    m.points = [qs.enlarged(p) for p in m.points]
    return m


def nose(bones):
    m = Mesh(bones)
    at = vec(0, 0.752, 0.464)
    rows = [(-0.010, 0.013, 0.010), (0.002, 0.0155, 0.0120), (0.0095, 0.010, 0.0075)]
    before = None
    for s, width, height in rows:
        now = m.ring(ring(at + Z * s, X, Y, width, height, height, 8), HEAD)
        if before:
            m.bridge(before, now, NOSE)
        before = now
    m.fan(before, at + Z * 0.012, HEAD, NOSE)
    return m.oriented()


def jaw(bones):
    """The lower jaw; its upper face is the tongue."""
    m = Mesh(bones)
    rows = [
        (0.335, 0.725, 0.034, 0.010, 0.022),
        (0.370, 0.727, 0.029, 0.008, 0.019),
        (0.410, 0.727, 0.022, 0.006, 0.014),
        (0.438, 0.728, 0.014, 0.004, 0.009),
    ]
    before = None
    for z, y, width, up, down in rows:
        now = m.ring(ring(vec(0, y, z), X, Y, width, up, down, 8), JAW)
        if before:
            m.bridge(before, now, [MOUTH, TONGUE, TONGUE, MOUTH, FUR, FUR, FUR, FUR])
        before = now
    m.fan(before, vec(0, 0.725, 0.446), JAW, FUR)
    return m.oriented()


def eye(bones, shape, s):
    m = Mesh(bones)
    way = unit(vec(0.48 * s, 0.10, 1.0))
    surface = sculpt.reach(shape, CENTER, unit(vec(0.0375 * s, 0.786, 0.385) - CENTER), 0.2)
    side = unit(np.cross(Y, way))
    up = np.cross(way, side)
    slant = unit(side + up * (0.25 * s))
    rise = np.cross(way, slant)
    rim = m.ring(ring(surface - way * 0.002, slant, rise, 0.0158, 0.0128, 0.0128, 10), HEAD)
    mid = m.ring(ring(surface + way * 0.0035, slant, rise, 0.0112, 0.0092, 0.0092, 10), HEAD)
    m.bridge(rim, mid, EYE)
    m.fan(mid, surface + way * 0.0055, HEAD, EYE)
    m.oriented()
    glint = surface + way * 0.0058 + vec(0.003, 0.0042, 0)
    corners = [
        m.vertex(glint + side * u + up * v, HEAD) for u, v in ((-0.0024, 0), (0, -0.0024), (0.0024, 0), (0, 0.0024))
    ]
    n = np.cross(m.points[corners[1]] - m.points[corners[0]], m.points[corners[2]] - m.points[corners[0]])
    m.face(corners if (n * way).sum() > 0 else corners[::-1], GLINT)
    return m


def ear(bones, s):
    """A pricked ear: an open cone flattened front to back."""
    m = Mesh(bones)
    base = vec(0.038 * s, 0.806, 0.316)
    tip = vec(0.064 * s, 0.915, 0.300)
    way = unit(tip - base)
    out = unit(vec(0.80 * s, -0.1, 0.35))
    out = unit(out - way * float((out * way).sum()))
    front = unit(np.cross(way, out)) * (-s)
    if front[2] < 0:
        front = -front
    name = f"ear_{'l' if s > 0 else 'r'}"
    rows = [
        (-0.012, 0.029, 0.014, 0.016, {"head": 1.0}),
        (0.004, 0.033, 0.014, 0.017, {"head": 0.9, name: 0.1}),
        (0.030, 0.030, 0.010, 0.014, {"head": 0.4, name: 0.6}),
        (0.072, 0.018, 0.004, 0.010, {name: 1.0}),
    ]
    before = None
    for t, width, ahead, behind, weights in rows:
        now = m.ring(ring(base + way * t, out, front, width, ahead, behind, 8), weights)
        if before:
            m.bridge(before, now, [FUR] + [EAR_INSIDE] * 2 + [FUR] * 5)
        before = now
    top = m.vertex(tip, {name: 1.0})
    for k in range(8):
        m.face((before[k], before[(k + 1) % 8], top), EAR_INSIDE if k in (1, 2) else FUR)
    return m.oriented()

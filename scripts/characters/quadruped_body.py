"""The quadruped's trunk, legs, tail and coat."""

import math

import numpy as np

from . import quadruped_skeleton as qs
from .linalg import X, lerp, smoothstep, unit, vec
from .mesh import Mesh, along, mixed, ring

FUR, PAW, NOSE, EYE, GLINT, EAR_INSIDE, TONGUE, MOUTH, COAT, STRAP = range(10)

TAN, CREAM, DARK = (190, 98, 44), (244, 226, 200), (60, 42, 36)


def mix(a, b, t):
    return tuple(lerp(x, y, t) for x, y in zip(a, b))


def face_fur(p):
    """The head's colours, in the head as drawn: a white muzzle and cheeks, dark ears."""
    x, y, z = abs(p[0]), p[1], p[2]
    if y > 0.825:
        return mix(TAN, DARK, smoothstep(0.835, 0.895, y))
    muzzle = (1.0 - smoothstep(0.738, 0.758, y)) * smoothstep(0.36, 0.40, z)
    cheek = (1.0 - smoothstep(0.742, 0.772, y)) * smoothstep(0.012, 0.032, x)
    throat = 1.0 - smoothstep(0.715, 0.735, y)
    return mix(TAN, CREAM, max(muzzle, cheek, throat))


def fur(p):
    """Tan above, cream below, dark legs, cream tail tip and muzzle; blended like fur."""
    if p[1] > 0.59 and p[2] > 0.24 and p[1] + 0.6 * (p[2] - 0.305) > 0.65:
        return face_fur(qs.as_drawn(p))
    x, y, z = abs(p[0]), p[1], p[2]
    if z < -0.30 and y > 0.33:
        return mix(CREAM, TAN, smoothstep(-0.510, -0.460, z))
    if y < 0.29:
        return mix(DARK, TAN, smoothstep(0.14, 0.245, y))
    if z > 0.10:
        chest = smoothstep(0.19, 0.25, z + 0.35 * (0.53 - y)) * (1.0 - smoothstep(0.03, 0.075, x))
        chest *= 1.0 - smoothstep(0.63, 0.69, y)
        belly = (1.0 - smoothstep(0.375, 0.420, y)) * (1.0 - smoothstep(0.03, 0.07, x))
        return mix(TAN, CREAM, max(chest, belly))
    belly = (1.0 - smoothstep(0.385, 0.430, y)) * (1.0 - smoothstep(0.03, 0.07, x))
    return mix(TAN, CREAM, belly)


PAINTS = {
    FUR: (fur, False),
    PAW: (DARK, False),
    NOSE: ((34, 28, 28), False),
    EYE: ((38, 26, 22), False),
    GLINT: ((250, 250, 250), False),
    EAR_INSIDE: ((226, 184, 156), False),
    TONGUE: ((212, 112, 112), False),
    MOUTH: ((58, 34, 34), False),
    COAT: ((236, 234, 228), True),
    STRAP: ((150, 148, 146), True),
}

SPINE = (
    ("pelvis", -0.170),
    ("spine_01", -0.075),
    ("spine_02", 0.030),
    ("spine_03", 0.135),
)


# z, y, tilt of the ring (degrees forward), half width, up, down
TRUNK = [
    (-0.276, 0.476, 0, 0.052, 0.044, 0.066),
    (-0.242, 0.468, 0, 0.082, 0.066, 0.108),
    (-0.185, 0.464, 0, 0.097, 0.078, 0.122),
    (-0.112, 0.464, 0, 0.092, 0.076, 0.106),
    (-0.035, 0.466, 0, 0.086, 0.073, 0.112),
    (0.050, 0.460, 0, 0.098, 0.078, 0.146),
    (0.112, 0.456, 0, 0.103, 0.084, 0.166),
    (0.166, 0.460, 6, 0.102, 0.094, 0.170),
    (0.218, 0.480, 18, 0.093, 0.092, 0.146),
    (0.252, 0.532, 38, 0.080, 0.078, 0.100),
    (0.278, 0.594, 54, 0.068, 0.064, 0.078),
    (0.302, 0.652, 56, 0.060, 0.052, 0.062),
    (0.326, 0.688, 50, 0.044, 0.038, 0.044),
]


def trunk_weights(p):
    w = along(SPINE, p[2])
    neck = smoothstep(0.490, 0.570, p[1] + 0.5 * (p[2] - 0.215)) * smoothstep(0.15, 0.23, p[2])
    upper = smoothstep(0.560, 0.630, p[1]) * smoothstep(0.20, 0.25, p[2])
    head = smoothstep(0.635, 0.680, p[1]) * smoothstep(0.22, 0.27, p[2])
    chain = mixed(({"neck_01": 1.0}, 1.0 - upper), ({"neck_02": 1.0}, upper))
    chain = mixed((chain, 1.0 - head), ({"head": 1.0}, head))
    return mixed((w, 1.0 - neck), (chain, neck))


def leg(m, loop, rows, side):
    """Continues a hole of six vertices (outer front, mid, back, inner back, mid, front) downwards."""
    sign = 1 if side == "l" else -1
    before = loop
    for x, y, z, outer, inner, front, back, weights in rows:
        points = []
        for a in (58, 0, -58, -122, 180, 122):
            c, s = math.cos(math.radians(a)), math.sin(math.radians(a))
            points.append(vec(sign * (x + (outer if c > 0 else inner) * c), y, z + (front if s > 0 else back) * s))
        now = m.ring(points, {f"{n}_{side}": w for n, w in weights.items()})
        m.bridge(before, now, FUR)
        before = now
    return before


FRONT_LEG = [
    # x, y, z, outer, inner, front, back, weights
    (0.068, 0.326, 0.170, 0.042, 0.042, 0.070, 0.074, {"upperarm": 0.75, "scapula": 0.25}),
    (0.071, 0.285, 0.144, 0.036, 0.036, 0.050, 0.052, {"upperarm": 0.5, "lowerarm": 0.5}),
    (0.072, 0.235, 0.136, 0.030, 0.029, 0.037, 0.039, {"lowerarm": 1.0}),
    (0.072, 0.165, 0.141, 0.0225, 0.0225, 0.026, 0.027, {"lowerarm": 1.0}),
    (0.072, 0.103, 0.146, 0.0230, 0.0230, 0.026, 0.025, {"lowerarm": 0.5, "hand": 0.5}),
    (0.072, 0.059, 0.157, 0.0230, 0.0230, 0.026, 0.024, {"hand": 1.0}),
    (0.073, 0.044, 0.168, 0.0320, 0.0290, 0.040, 0.027, {"hand": 0.4, "paw": 0.6}),
]
HIND_LEG = [
    (0.068, 0.355, -0.176, 0.052, 0.046, 0.086, 0.074, {"thigh": 1.0}),
    (0.070, 0.305, -0.156, 0.042, 0.037, 0.066, 0.066, {"thigh": 0.55, "calf": 0.45}),
    (0.071, 0.247, -0.184, 0.032, 0.030, 0.050, 0.050, {"calf": 1.0}),
    (0.070, 0.186, -0.240, 0.0235, 0.0235, 0.031, 0.034, {"calf": 1.0}),
    (0.070, 0.136, -0.276, 0.0220, 0.0220, 0.027, 0.030, {"calf": 0.5, "foot": 0.5}),
    (0.070, 0.074, -0.258, 0.0215, 0.0215, 0.024, 0.024, {"foot": 1.0}),
    (0.071, 0.044, -0.242, 0.0310, 0.0280, 0.038, 0.025, {"foot": 0.4, "ball": 0.6}),
]


def trunk(bones):
    """Rump to neck with four legs, one piece."""
    m = Mesh(bones)
    rings = []
    for z, y, tilt, width, up, down in TRUNK:
        a = math.radians(tilt)
        axis = vec(0.0, math.cos(a), -math.sin(a))
        rings.append(m.ring(ring(vec(0, y, z), X, axis, width, up, down, 8, 2.3), trunk_weights))
    holes = {1: "hind", 2: "hind", 6: "front", 7: "front"}
    for k in range(len(rings) - 1):
        m.bridge(rings[k], rings[k + 1], FUR, (7, 4) if k in holes else ())
    m.fan(rings[0], vec(0, 0.486, -0.290), {"pelvis": 1.0}, FUR)
    for first, rows, base in ((1, HIND_LEG, "thigh"), (6, FRONT_LEG, "scapula")):
        back, mid, front = rings[first], rings[first + 1], rings[first + 2]
        for side, outer, inner in (("l", 0, 7), ("r", 4, 5)):
            loop = [front[outer], mid[outer], back[outer], back[inner], mid[inner], front[inner]]
            end = leg(m, loop, rows, side)
            toe, paw, ankle = ("paw", 0.166, "hand") if base == "scapula" else ("ball", -0.242, "foot")
            sole(m, end, side, toe, paw)
            shares = {"scapula": (0.55, 0.5), "thigh": (0.55, 0.35)}[base]
            for k, i in enumerate(loop):
                share = shares[0] if k < 3 else shares[1]
                row = m.weights[i] * (1.0 - share)
                row[m.bone[f"{base}_{side}"]] += share
                m.weights[i] = row / row.sum()
    # Shoulder blades move the flank above the leg too.
    for k in (6, 7, 8):
        for corner, side in ((1, "l"), (3, "r")):
            i = rings[k][corner]
            row = m.weights[i] * 0.65
            row[m.bone[f"scapula_{side}"]] += 0.35
            m.weights[i] = row / row.sum()
    m.oriented()
    out = m.subdivided(keep=0.85)
    out.points = [vec(p[0], max(p[1], 0.0), p[2]) for p in out.points]
    return out.smooth_weights(2, 0.5, lambda p: p[1] > 0.27)


def sole(m, end, side, toe, z):
    """A paw: the last ring spreads out on the ground and is closed below."""
    sign = 1 if side == "l" else -1
    points = []
    for a in (58, 0, -58, -122, 180, 122):
        c, s = math.cos(math.radians(a)), math.sin(math.radians(a))
        points.append(vec(sign * (0.073 + 0.034 * c), 0.016, z + (0.060 if s > 0 else 0.026) * s))
    weights = {f"{toe}_{side}": 1.0}
    low = m.ring(points, weights)
    m.bridge(end, low, FUR)
    flat = [vec(p[0] * 0.97 + sign * 0.073 * 0.03, 0.0, z + (p[2] - z) * 0.80) for p in points]
    bottom = m.ring(flat, weights)
    m.bridge(low, bottom, PAW)
    m.face(bottom, PAW)


def tail(bones):
    """A bushy tail, thickest past its middle."""
    m = Mesh(bones)
    rows = [
        (0.502, -0.240, 0.031, {"pelvis": 0.7, "tail_01": 0.3}),
        (0.504, -0.285, 0.037, {"tail_01": 1.0}),
        (0.498, -0.335, 0.050, {"tail_01": 0.5, "tail_02": 0.5}),
        (0.484, -0.378, 0.061, {"tail_02": 1.0}),
        (0.468, -0.418, 0.067, {"tail_02": 0.5, "tail_03": 0.5}),
        (0.452, -0.458, 0.066, {"tail_03": 1.0}),
        (0.436, -0.498, 0.057, {"tail_03": 0.4, "tail_04": 0.6}),
        (0.420, -0.536, 0.039, {"tail_04": 1.0}),
        (0.407, -0.564, 0.018, {"tail_04": 1.0}),
    ]
    before = None
    for k, (y, z, radius, weights) in enumerate(rows):
        ahead = rows[min(k + 1, len(rows) - 1)]
        behind = rows[max(k - 1, 0)]
        way = unit(vec(0, ahead[0] - behind[0], ahead[1] - behind[1]))
        up = np.cross(way, X) * -1.0
        now = m.ring(ring(vec(0, y, z), X, up, radius * 0.86, radius, radius, 10), weights)
        if before:
            m.bridge(before, now, FUR)
        before = now
    m.fan(before, vec(0, 0.400, -0.578), {"tail_04": 1.0}, FUR)
    return m.oriented()

"""What the fox wears: a blanket over its back with a girth, and a collar."""

import math

import numpy as np

from .linalg import X, vec
from .mesh import Mesh, ring
from .quadruped_body import COAT, STRAP, TRUNK


def rise(p):
    """Angle of a point of the trunk above the horizon, seen from the trunk's axis, radians."""
    axis = float(np.interp(p[2], [row[0] for row in TRUNK[:8]], [row[1] for row in TRUNK[:8]]))
    return math.atan2(p[1] - axis, abs(p[0]))


def shell(body, inside, lift, paint):
    """The faces of `body` that lie `inside`, lifted, with a rim down into the fur; and their indices."""
    normals = body.normals()
    picked = [f for f, face in enumerate(body.faces) if all(inside(body.points[i]) for i in face)]
    out = Mesh(body.bone)
    index = {}

    def copy(i, offset):
        out.points.append(body.points[i] + normals[i] * offset)
        out.weights.append(body.weights[i])
        return len(out.points) - 1

    for f in picked:
        for i in body.faces[f]:
            if i not in index:
                index[i] = copy(i, lift)
        out.face(tuple(index[i] for i in body.faces[f]), paint)
    sides = [side for face in out.faces for side in zip(face, face[1:] + face[:1])]
    both = set(sides)
    border = [(a, b) for a, b in sides if (b, a) not in both]
    origin = {new: old for old, new in index.items()}
    low = {}
    for side in border:
        for v in side:
            if v not in low:
                low[v] = copy(origin[v], -0.002)
    for a, b in border:
        out.face((b, a, low[a], low[b]), STRAP)
    covered = {f for f in picked if not any(index[i] in low for i in body.faces[f])}
    return out, covered


def blanket(body):
    """Blanket and girth; the fur that the blanket covers is taken away."""
    cloth, covered = shell(body, lambda p: -0.128 < p[2] < 0.100 and rise(p) > -0.75, 0.009, COAT)
    girth, _ = shell(body, lambda p: -0.045 < p[2] < 0.020 and rise(p) < -0.40, 0.004, STRAP)
    kept = [f for f in range(len(body.faces)) if f not in covered]
    body.paints = [body.paints[f] for f in kept]
    body.faces = [body.faces[f] for f in kept]
    cloth.absorb(girth)
    return cloth


def collar(bones):
    """A band around the neck."""
    m = Mesh(bones)
    a = math.radians(47)
    axis, along = vec(0, math.cos(a), -math.sin(a)), vec(0, math.sin(a), math.cos(a))
    center = vec(0, 0.562, 0.264)
    rows = [(-0.019, 0.82), (-0.017, 1.0), (0.017, 1.0), (0.019, 0.80)]
    before = None
    for s, k in rows:
        shrink = 1.0 - 1.6 * s
        points = ring(
            center + along * s, X, axis, 0.0790 * k * shrink, 0.0760 * k * shrink, 0.0930 * k * shrink, 16, 2.1
        )
        now = m.ring(points, {"neck_01": 0.6, "neck_02": 0.4})
        if before:
            m.bridge(before, now, STRAP)
        before = now
    return m.oriented()

"""Signed distances for rounded shapes, and lattices wrapped onto them."""

import math

import numpy as np

from .linalg import clamp, length


def ellipsoid(center, radii):
    """Quilez' bound of the distance to an ellipsoid: exact at the surface."""
    center, radii = np.asarray(center, float), np.asarray(radii, float)

    def distance(p):
        q = (p - center) / radii
        k0 = length(q)
        k1 = length(q / radii)
        return k0 * (k0 - 1.0) / k1 if k1 > 1e-9 else -float(radii.min())

    return distance


def capsule(a, b, ra, rb):
    """A segment with a radius that goes linearly from one end to the other."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    ab = b - a
    squared = float((ab * ab).sum())

    def distance(p):
        t = clamp(float(((p - a) * ab).sum()) / squared)
        return length(p - a - ab * t) - (ra + (rb - ra) * t)

    return distance


def smooth_min(a, b, k):
    h = max(k - abs(a - b), 0.0) / k
    return min(a, b) - h * h * k * 0.25


def union(parts):
    """Blends (distance, radius of the blend) pairs one after the other."""

    def distance(p):
        out = parts[0][0](p)
        for part, k in parts[1:]:
            out = smooth_min(out, part(p), k)
        return out

    return distance


def carve(body, hollow, k):
    """Takes `hollow` out of `body` with a soft rim."""

    def distance(p):
        return -smooth_min(-body(p), hollow(p), k)

    return distance


def reach(distance, origin, direction, far=0.6):
    """Where a ray from inside leaves the shape for the last time, by bisection from outside."""
    step = far / 120.0
    t = far
    while t > step and distance(origin + direction * t) > 0.0:
        t -= step
    low, high = t, min(t + step, far)
    for _ in range(40):
        mid = 0.5 * (low + high)
        if distance(origin + direction * mid) > 0.0:
            high = mid
        else:
            low = mid
    return origin + direction * low


def heading(longitude, latitude):
    """Unit vector: longitude from +Z towards +X, latitude up from the horizon, degrees."""
    a, b = math.radians(longitude), math.radians(latitude)
    return np.array([math.sin(a) * math.cos(b), math.sin(b), math.cos(a) * math.cos(b)])

"""Vectors and quaternions (xyzw, unit) for building and animating the characters.

Everything is double precision and elementwise, so that results do not depend on the linear algebra
library that numpy happens to be built with.
"""

import math

import numpy as np

IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])
X = np.array([1.0, 0.0, 0.0])
Y = np.array([0.0, 1.0, 0.0])
Z = np.array([0.0, 0.0, 1.0])


def vec(*xyz):
    return np.array(xyz, dtype=float)


def dot(a, b):
    return float((np.asarray(a) * b).sum())


def length(v):
    return math.sqrt(dot(v, v))


def unit(v):
    return np.asarray(v, dtype=float) / length(v)


def lerp(a, b, t):
    return a + (b - a) * t


def clamp(x, low=0.0, high=1.0):
    return min(max(x, low), high)


def smoothstep(low, high, x):
    """0 below `low`, 1 above `high`, cubic between."""
    t = clamp((x - low) / (high - low))
    return t * t * (3.0 - 2.0 * t)


def mirror(v):
    """A point or direction on the other side of the x = 0 plane."""
    return vec(-v[0], v[1], v[2])


def mirror_rotation(q):
    """The same rotation seen in the x = 0 mirror."""
    return np.array([q[0], -q[1], -q[2], q[3]])


def axis_angle(axis, degrees):
    half = math.radians(degrees) * 0.5
    s = math.sin(half)
    axis = unit(axis)
    return np.array([axis[0] * s, axis[1] * s, axis[2] * s, math.cos(half)])


def mul(*qs):
    """Product of rotations; the last is applied first."""
    out = qs[0]
    for b in qs[1:]:
        ax, ay, az, aw = out
        bx, by, bz, bw = b
        out = np.array(
            [
                aw * bx + ax * bw + ay * bz - az * by,
                aw * by - ax * bz + ay * bw + az * bx,
                aw * bz + ax * by - ay * bx + az * bw,
                aw * bw - ax * bx - ay * by - az * bz,
            ]
        )
    return out


def inverse(q):
    return np.array([-q[0], -q[1], -q[2], q[3]])


def rotate(q, v):
    x, y, z, w = q
    vx, vy, vz = v
    tx = 2.0 * (y * vz - z * vy)
    ty = 2.0 * (z * vx - x * vz)
    tz = 2.0 * (x * vy - y * vx)
    return np.array(
        [
            vx + w * tx + y * tz - z * ty,
            vy + w * ty + z * tx - x * tz,
            vz + w * tz + x * ty - y * tx,
        ]
    )


def euler(pitch=0.0, yaw=0.0, roll=0.0):
    """Degrees: yaw about +Y, then pitch about the turned X, then roll about the turned Z.

    Facing +Z, positive pitch leans forward, positive yaw turns to the left (+X), positive roll
    leans to the right (-X).
    """
    return mul(axis_angle(Y, yaw), axis_angle(X, pitch), axis_angle(Z, roll))


def slerp(a, b, t):
    d = dot(a, b)
    if d < 0.0:
        b, d = -b, -d
    if d > 0.9995:
        return unit(lerp(a, b, t))
    angle = math.acos(clamp(d, -1.0, 1.0))
    return unit(a * math.sin((1.0 - t) * angle) + b * math.sin(t * angle))


def scaled(q, t):
    """The rotation `q` carried out to the fraction `t`."""
    return slerp(IDENTITY, q, t)


def from_axes(x, y, z):
    """The rotation whose matrix has the columns x, y, z (Shepperd's method)."""
    m00, m10, m20 = x
    m01, m11, m21 = y
    m02, m12, m22 = z
    trace = m00 + m11 + m22
    if trace > 0.0:
        s = math.sqrt(trace + 1.0) * 2.0
        q = [(m21 - m12) / s, (m02 - m20) / s, (m10 - m01) / s, 0.25 * s]
    elif m00 > m11 and m00 > m22:
        s = math.sqrt(1.0 + m00 - m11 - m22) * 2.0
        q = [0.25 * s, (m01 + m10) / s, (m02 + m20) / s, (m21 - m12) / s]
    elif m11 > m22:
        s = math.sqrt(1.0 + m11 - m00 - m22) * 2.0
        q = [(m01 + m10) / s, 0.25 * s, (m12 + m21) / s, (m02 - m20) / s]
    else:
        s = math.sqrt(1.0 + m22 - m00 - m11) * 2.0
        q = [(m02 + m20) / s, (m12 + m21) / s, 0.25 * s, (m10 - m01) / s]
    return unit(q)


def frame(forward, side):
    """The rotation that takes +Y to `forward` and +X as near to `side` as it can."""
    y = unit(forward)
    z = unit(np.cross(side, y))
    return from_axes(np.cross(y, z), y, z)


def aim(q_from_forward, q_from_side, to_forward, to_side):
    """The rotation that carries one (forward, side) pair onto another."""
    return mul(frame(to_forward, to_side), inverse(frame(q_from_forward, q_from_side)))


def twist(q, axis):
    """The part of `q` that turns about `axis` (swing-twist decomposition)."""
    d = q[0] * axis[0] + q[1] * axis[1] + q[2] * axis[2]
    t = np.array([axis[0] * d, axis[1] * d, axis[2] * d, q[3]])
    n = math.sqrt(dot(t, t))
    if n < 1e-9:
        return IDENTITY
    return t / n if t[3] >= 0.0 else -t / n

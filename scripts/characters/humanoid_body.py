"""The humanoid's clothes and limbs: shirt, trousers, shoes, arms and hands."""

import math

import numpy as np

from . import humanoid_skeleton as hs
from .linalg import X, Y, Z, lerp, smoothstep, unit, vec
from .mesh import Mesh, along, mixed, ring

SKIN, SHIRT, SLEEVE, TRIM, TROUSERS, SHOE, SOLE, HAIR, BROW, EYE_WHITE, IRIS, LIPS = range(12)

# (sRGB, tinted by the character's colour)
PAINTS = {
    SKIN: ((212, 152, 116), False),
    SHIRT: ((236, 234, 228), True),
    SLEEVE: ((186, 184, 180), True),
    TRIM: ((150, 148, 146), True),
    TROUSERS: ((62, 72, 92), False),
    SHOE: ((74, 60, 54), False),
    SOLE: ((226, 222, 212), False),
    HAIR: ((86, 56, 40), False),
    EYE_WHITE: ((240, 238, 232), False),
    IRIS: ((36, 30, 32), False),
    LIPS: ((164, 94, 80), False),
    BROW: ((70, 46, 36), False),
}

SPINE = (
    ("pelvis", 0.97),
    ("spine_01", 1.06),
    ("spine_02", 1.17),
    ("spine_03", 1.28),
)


def shirt(bones):
    """Torso with short sleeves, one piece."""
    m = Mesh(bones)
    # y, centre z, half width, front, back, squareness
    rows = [
        (0.935, 0.000, 0.148, 0.098, 0.100, 2.3),
        (0.900, 0.000, 0.170, 0.122, 0.128, 2.4),
        (0.965, 0.000, 0.162, 0.116, 0.121, 2.4),
        (1.065, -0.002, 0.144, 0.108, 0.102, 2.3),
        (1.175, -0.006, 0.154, 0.119, 0.104, 2.3),
        (1.285, -0.012, 0.171, 0.132, 0.112, 2.4),
        (1.365, -0.016, 0.167, 0.124, 0.114, 2.4),
        (1.420, -0.020, 0.140, 0.088, 0.098, 2.3),
        (1.466, -0.022, 0.090, 0.062, 0.076, 2.1),
        (1.486, -0.020, 0.065, 0.060, 0.060, 2.0),
        (1.470, -0.022, 0.047, 0.044, 0.047, 2.0),
    ]
    rings = []
    for k, (y, z, width, front, back, power) in enumerate(rows):
        points = ring(vec(0, y, z), X, Z, width, front, back, 8, power)
        if k >= 8:
            points = [p - Y * 0.020 * (p[2] - z) / 0.066 * (1 if p[2] > z else 0.5) for p in points]

        def weights(p):
            w = along(SPINE, p[1])
            if p[1] > 1.30 and abs(p[0]) > 0.03:
                side = "l" if p[0] > 0 else "r"
                share = 0.75 * smoothstep(0.04, 0.13, abs(p[0])) * smoothstep(1.28, 1.40, p[1])
                w = mixed((w, 1.0 - share), ({f"clavicle_{side}": 1.0}, share))
            if p[1] > 1.44 and abs(p[0]) < 0.11:
                share = 0.35 * smoothstep(1.44, 1.49, p[1])
                w = mixed((w, 1.0 - share), ({"neck": 1.0}, share))
            return w

        rings.append(m.ring(points, weights))
    for k in range(len(rings) - 1):
        paint = TRIM if k in (0, 8, 9) else SHIRT
        hole = (7, 0, 3, 4) if k in (5, 6) else ()
        m.bridge(rings[k], rings[k + 1], paint, hole)
    for side, mid in (("l", 0), ("r", 4)):
        sign = 1 if side == "l" else -1
        turn = [(mid + d * sign) % 8 for d in (-1, 0, 1)]
        loop = [rings[5][turn[1]], rings[5][turn[2]], rings[6][turn[2]], rings[7][turn[2]]]
        loop += [rings[7][turn[1]], rings[7][turn[0]], rings[6][turn[0]], rings[5][turn[0]]]
        arm, palm = hs.ARM * vec(sign, 1, 1), hs.PALM * vec(sign, 1, 1)
        shoulder = hs.SHOULDER * vec(sign, 1, 1)
        sleeve_rows = [
            (0.046, 0.066, 0.069, {"clavicle": 0.15, "upperarm_twist": 0.85}),
            (0.110, 0.064, 0.067, {"upperarm_twist": 0.8, "upperarm": 0.2}),
            (0.190, 0.063, 0.067, {"upperarm": 1.0}),
            (0.176, 0.038, 0.040, {"upperarm": 1.0}),
        ]
        before = loop
        for k, (s, thick, deep, w) in enumerate(sleeve_rows):
            center = shoulder + arm * s + Z * 0.002
            points = ring(center, palm, Z, thick, deep, deep, 8)
            if k < 2:
                points[3:6] = [p + palm * (0.010 - 0.004 * k) for p in points[3:6]]
            weights = {f"{name}_{side}": v for name, v in w.items()}
            now = m.ring(points, weights)
            if k == 0:
                # The top of the shoulder stays with the collar bone when the arm comes down.
                for i in now[3:6]:
                    row = m.weights[i] * 0.62
                    row[m.bone[f"clavicle_{side}"]] += 0.38
                    m.weights[i] = row
            m.bridge(before, now, (SHIRT, SLEEVE, SLEEVE, TRIM)[k])
            before = now
        # The armhole itself hangs between chest, clavicle and arm.
        for k, i in enumerate(loop):
            top = k in (3, 4, 5)
            row = m.weights[i] * (0.50 if top else 0.70)
            row[m.bone[f"clavicle_{side}"]] += 0.38 if top else 0.06
            row[m.bone[f"upperarm_twist_{side}"]] += 0.12 if top else 0.24
            m.weights[i] = row / row.sum()
    m.oriented()
    out = m.subdivided(keep=0.85)
    return out.smooth_weights(2, 0.5, lambda p: p[1] > 1.0 and abs(p[0]) < 0.30)


def falling(high, low, y):
    """1 below `low`, 0 above `high`."""
    return 1.0 - smoothstep(low, high, y)


def leg_weights(p, side):
    """Along a leg by height: pelvis, thigh, calf."""
    knee = falling(0.545, 0.425, p[1])
    hip = falling(0.945, 0.800, p[1])
    upper = smoothstep(0.58, 0.80, p[1])
    thigh = {f"thigh_twist_{side}": upper, f"thigh_{side}": 1.0 - upper}
    leg = mixed((thigh, 1.0 - knee), ({f"calf_{side}": 1.0}, knee))
    return mixed(({"pelvis": 1.0}, 1.0 - hip), (leg, hip))


def trousers(bones):
    """Waist to ankles, one piece."""
    m = Mesh(bones)
    rows = [
        (0.945, 0.000, 0.154, 0.106, 0.108, 2.4),
        (0.868, -0.003, 0.170, 0.106, 0.117, 2.5),
    ]

    def hips(p):
        if abs(p[0]) < 0.02:
            return {"pelvis": 1.0}
        return leg_weights(p, "l" if p[0] > 0 else "r")

    rings = [m.ring(ring(vec(0, y, z), X, Z, w, f, b, 8, n), hips) for y, z, w, f, b, n in rows]
    m.bridge(rings[0], rings[1], TROUSERS)
    crotch = m.vertex(vec(0, 0.800, -0.004), {"pelvis": 1.0})
    # y, centre x, centre z, outer half width, inner half width, front, back
    leg = [
        (0.795, 0.096, 0.000, 0.079, 0.080, 0.092, 0.118),
        (0.680, 0.098, 0.002, 0.074, 0.070, 0.084, 0.090),
        (0.570, 0.099, 0.003, 0.064, 0.060, 0.072, 0.066),
        (0.485, 0.100, 0.002, 0.060, 0.057, 0.066, 0.060),
        (0.400, 0.101, -0.003, 0.060, 0.056, 0.058, 0.068),
        (0.250, 0.103, -0.009, 0.056, 0.052, 0.057, 0.065),
        (0.076, 0.104, -0.009, 0.059, 0.056, 0.080, 0.074),
        (0.098, 0.104, -0.020, 0.030, 0.030, 0.038, 0.036),
    ]
    for side, sign, half in (("l", 1, (6, 7, 0, 1, 2)), ("r", -1, (6, 5, 4, 3, 2))):
        before = [rings[1][k] for k in half] + [crotch]
        for y, x, z, outer, inner, front, back in leg:
            points = []
            for a in (-90, -42, 0, 42, 90, 180):
                c, s = math.cos(math.radians(a)), math.sin(math.radians(a))
                reach = outer if c >= 0 else inner
                point = vec(x + reach * c, y, z + (front if s >= 0 else back) * s)
                if a in (-90, 90):
                    point[0] -= 0.012
                points.append(point * vec(sign, 1, 1))
            now = m.ring(points, lambda p, side=side: leg_weights(p, side))
            m.bridge(before, now, TROUSERS)
            before = now
    m.oriented()
    out = m.subdivided(keep=0.85)
    return out.smooth_weights(2, 0.5, lambda p: p[1] > 0.70)


def shoe(bones):
    """A left trainer: rings from heel to toe."""
    m = Mesh(bones)
    foot, ball = {"foot_l": 1.0}, {"ball_l": 1.0}
    # z, half width, height of the top, rise of the sole, centre x
    rows = [
        (-0.087, 0.027, 0.070, 0.010, 0.104),
        (-0.074, 0.038, 0.100, 0.000, 0.104),
        (-0.030, 0.042, 0.112, 0.000, 0.104),
        (0.018, 0.043, 0.095, 0.000, 0.105),
        (0.060, 0.047, 0.074, 0.000, 0.107),
        (0.100, 0.052, 0.066, 0.000, 0.108),
        (0.140, 0.050, 0.056, 0.000, 0.107),
        (0.168, 0.038, 0.046, 0.004, 0.105),
        (0.182, 0.020, 0.034, 0.010, 0.104),
    ]
    before = None
    for z, width, top, rise, x in rows:
        w = smoothstep(0.058, 0.112, z)
        weights = mixed((foot, 1.0 - w), (ball, w))
        line = 0.026 + rise * 0.4
        shape = [
            (-0.86, rise),
            (0.86, rise),
            (1.0, line),
            (0.93, lerp(line, top, 0.45)),
            (0.52, lerp(line, top, 0.90)),
            (0.0, top),
            (-0.52, lerp(line, top, 0.90)),
            (-0.93, lerp(line, top, 0.45)),
            (-1.0, line),
        ]
        points = [vec(x + u * width, y, z) for u, y in shape]
        now = m.ring(points, weights)
        if before:
            paint = [SOLE, SOLE] + [SHOE] * 6 + [SOLE]
            m.bridge(before, now, paint)
        else:
            heel = m.fan(now, vec(x, 0.032, z - 0.008), weights, SHOE)
            m.paints = [SOLE if heel in f and {0, 1} & set(f) else SHOE for f in m.faces]
        before = now
    m.fan(before, vec(0.104, 0.020, 0.188), ball, SOLE)
    return m.oriented()


def arm(bones):
    """Left forearm and palm from inside the sleeve to the knuckles."""
    m = Mesh(bones)
    n = 10
    way = unit(hs.WRIST - hs.ELBOW)
    rows = []

    def limb(s):
        """A point on the arm's axis, s metres from the shoulder."""
        if s < hs.UPPER_ARM:
            return hs.SHOULDER + hs.ARM * s
        return hs.ELBOW + way * (s - hs.UPPER_ARM)

    # s, towards the palm, away from it, half depth (front to back)
    for s, inner, outer, deep in [
        (0.150, 0.044, 0.044, 0.046),
        (0.205, 0.041, 0.041, 0.045),
        (0.244, 0.038, 0.037, 0.041),
        (0.272, 0.037, 0.036, 0.041),
        (0.300, 0.038, 0.036, 0.043),
        (0.350, 0.038, 0.035, 0.042),
        (0.420, 0.031, 0.029, 0.034),
        (0.480, 0.024, 0.023, 0.027),
        (0.515, 0.022, 0.021, 0.027),
    ]:
        bend = smoothstep(0.235, 0.312, s)
        turn = smoothstep(0.36, 0.50, s)
        wrist = smoothstep(0.495, 0.535, s)
        lower = {"lowerarm_l": 1.0 - turn, "lowerarm_twist_l": turn}
        lower = mixed((lower, 1.0 - wrist), ({"hand_l": 1.0}, wrist))
        rows.append((limb(s), inner, outer, deep, mixed(({"upperarm_l": 1.0}, 1.0 - bend), (lower, bend))))
    # The palm in hand space: along, thumbward centre, half depth, palm side, back side
    for ahead, shift, deep, inner, outer in [
        (0.020, 0.004, 0.035, 0.022, 0.017),
        (0.050, 0.002, 0.043, 0.021, 0.016),
        (0.076, 0.000, 0.043, 0.015, 0.014),
        (0.088, 0.000, 0.037, 0.007, 0.007),
    ]:
        hand = smoothstep(-0.03, 0.02, ahead)
        rows.append(
            (hs.hand_point(ahead, shift, 0.0), inner, outer, deep, {"hand_l": hand, "lowerarm_twist_l": 1.0 - hand})
        )
    before = None
    for center, inner, outer, deep, weights in rows:
        # side: towards the thumb; up: away from the palm
        now = m.ring(ring(center, Z, -hs.PALM, deep, outer, inner, n, 2.2), weights)
        if before:
            m.bridge(before, now, SKIN)
        before = now
    m.fan(before, hs.hand_point(0.090, 0.0, 0.0), {"hand_l": 1.0}, SKIN)
    m.oriented()
    for name in ("thumb",) + tuple(hs.FINGERS):
        m.absorb(finger(bones, name))
    return m


def finger(bones, name):
    """Six-sided tube with a ring at each knuckle and a rounded tip."""
    m = Mesh(bones)
    if name == "thumb":
        root, sizes, way = hs.THUMB[0], hs.THUMB[1], hs.thumb_way()
        thick, start = (0.0190, 0.0150, 0.0138, 0.0118), -0.020
        side = unit(np.cross(way, unit(hs.PALM * 0.8 - Z * 0.5)))
    else:
        root, spread, sizes = hs.FINGERS[name]
        way = hs.finger_way(spread)
        k = {"index": 1.0, "middle": 1.03, "ring": 0.98, "pinky": 0.86}[name]
        thick, start = (0.0122 * k, 0.0114 * k, 0.0106 * k, 0.0096 * k), -0.018
        side = unit(np.cross(way, hs.PALM))
    up = np.cross(side, way)
    at = hs.hand_point(*root)
    joints = [0.0, sizes[0], sizes[0] + sizes[1], sum(sizes)]
    bone = [f"{name}_0{k}_l" for k in (1, 2, 3)]
    rows = [
        (start, thick[0] * 0.96, {"hand_l": 0.6, bone[0]: 0.4}),
        (joints[1] - 0.5 * sizes[0], thick[0], {bone[0]: 1.0}),
        (joints[1], thick[1], {bone[0]: 0.5, bone[1]: 0.5}),
        (joints[2], thick[2], {bone[1]: 0.5, bone[2]: 0.5}),
        (joints[3] - 0.008, thick[3], {bone[2]: 1.0}),
        (joints[3] - 0.0005, thick[3] * 0.66, {bone[2]: 1.0}),
    ]
    before = None
    for s, radius, weights in rows:
        now = m.ring(ring(at + way * s, side, up, radius, radius, radius, 6, phase=math.pi / 6), weights)
        if before:
            m.bridge(before, now, SKIN)
        before = now
    m.fan(before, at + way * (joints[3] + 0.003), {bone[2]: 1.0}, SKIN)
    return m.oriented()

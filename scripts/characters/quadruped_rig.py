"""What an animator moves on the quadruped, and the pose that follows from it."""

import math
from types import SimpleNamespace

import numpy as np

from .linalg import X, Y, Z, axis_angle, euler, inverse, length, mirror, mirror_rotation, mul, rotate, scaled, vec
from .rig import two_bone
from .skeleton import Pose

# Where the paws' joints stand in the bind pose, left side.
FRONT, HIND = vec(0.072, 0.026, 0.166), vec(0.070, 0.026, -0.242)
WITHERS = 0.37  # from the pelvis forward to the shoulder blades


def controls():
    c = SimpleNamespace()
    c.root, c.yaw = vec(0, 0, 0), 0.0
    c.pelvis = vec(0, 0, 0)
    c.hips = (0.0, 0.0, 0.0)  # pitch, yaw, roll in root space
    c.chest = (0.0, 0.0, 0.0)
    c.neck = (0.0, 0.0, 0.0)  # against the chest
    c.head = (0.0, 0.0, 0.0)  # in root space
    c.jaw = 0.0
    c.ears = (0.0, 0.0)  # laid back, left and right
    c.tail = ((0.0, 0.0),) * 4  # per bone: up, to the left
    for leg in ("fl", "fr", "hl", "hr"):
        setattr(c, leg, paw(FRONT if leg[0] == "f" else HIND))
    return c


def paw(at, pitch=0.0, toes=None, blade=0.0, yaw=0.0):
    """A paw's joint in model space (left side; mirrored on the right).

    `pitch` leans the bone above it forward, `toes` bend up (by default they stay level), `blade`
    swings the shoulder blade forward.
    """
    return SimpleNamespace(at=at, pitch=pitch, toes=pitch if toes is None else toes, blade=blade, yaw=yaw)


def mirrored(c):
    out = controls()
    out.root, out.yaw, out.pelvis = mirror(c.root), -c.yaw, mirror(c.pelvis)
    for name in ("hips", "chest", "neck", "head"):
        pitch, yaw, roll = getattr(c, name)
        setattr(out, name, (pitch, -yaw, -roll))
    out.jaw, out.ears = c.jaw, (c.ears[1], c.ears[0])
    out.tail = tuple((up, -aside) for up, aside in c.tail)
    for leg, other in (("fl", "fr"), ("fr", "fl"), ("hl", "hr"), ("hr", "hl")):
        setattr(out, leg, getattr(c, other))
    return out


def pose(skeleton, c):
    p = Pose(skeleton)
    p.root, p.pelvis = c.root, c.pelvis
    p.turn["root"] = axis_angle(Y, c.yaw)
    hips, chest, neck, head = (euler(*v) for v in (c.hips, c.chest, c.neck, c.head))
    p.turn["pelvis"] = hips
    bend = mul(inverse(hips), chest)
    for k, share in ((1, 0.34), (2, 0.36), (3, 0.30)):
        p.turn[f"spine_0{k}"] = scaled(bend, share)
    p.turn["neck_01"] = scaled(neck, 0.5)
    p.turn["neck_02"] = scaled(neck, 0.5)
    p.set_model_turn("head", mul(axis_angle(Y, c.yaw), head))
    p.turn["jaw"] = axis_angle(X, c.jaw)
    for side, back in (("l", c.ears[0]), ("r", c.ears[1])):
        p.turn[f"ear_{side}"] = mul(axis_angle(X, -back), axis_angle(Z, (-0.25 if side == "l" else 0.25) * back))
    for k, (up, aside) in enumerate(c.tail):
        p.turn[f"tail_0{k + 1}"] = mul(axis_angle(Y, -aside), axis_angle(X, up))
    for side in "lr":
        pose_leg(p, getattr(c, "f" + side), side, c, ("upperarm", "lowerarm", "hand", "paw"), -1.0)
        pose_leg(p, getattr(c, "h" + side), side, c, ("thigh", "calf", "foot", "ball"), 1.0)
    return p


def pose_leg(p, f, side, c, names, bend):
    """Two-bone IK to the wrist or hock, which stands above the paw."""
    upper, lower, end, toe = (f"{n}_{side}" for n in names)
    at, turn = f.at, mul(axis_angle(Y, f.yaw), axis_angle(X, f.pitch))
    if side == "r":
        at, turn = mirror(at), mirror_rotation(turn)
    if names[0] == "upperarm":
        p.turn[f"scapula_{side}"] = axis_angle(X, -f.blade)
    facing = axis_angle(Y, c.yaw)
    s = p.skeleton
    turn = mul(facing, turn)
    joint = at + rotate(turn, s.position(end) - s.position(toe))
    if names[0] == "upperarm":
        reach_with_blade(p, side, f.blade, joint)
    trunk = p.place("pelvis" if names[0] == "thigh" else "spine_03")[0]
    hinge = rotate(facing, X) * 0.6 + rotate(trunk, X) * 0.4
    pole = np.cross(joint - p.place(upper)[1], hinge)
    two_bone(p, upper, lower, end, joint, pole * bend, Z * bend)
    p.set_model_turn(end, turn)
    p.turn[toe] = axis_angle(X, -f.toes)


def reach_with_blade(p, side, blade, wrist, most=26.0, straight=0.985):
    """Swings the shoulder blade on, as far as it takes to bring the wrist within reach."""
    s = p.skeleton
    upper, lower, end = (f"{n}_{side}" for n in ("upperarm", "lowerarm", "hand"))
    limb = length(s.position(lower) - s.position(upper)) + length(s.position(end) - s.position(lower))

    def too_far(extra):
        p.turn[f"scapula_{side}"] = axis_angle(X, -(blade + extra))
        return length(wrist - p.place(upper)[1]) - straight * limb

    if too_far(0.0) <= 0.0:
        return
    way = 1.0 if too_far(1.0) < too_far(-1.0) else -1.0
    low, high = 0.0, most
    for _ in range(24):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if too_far(way * middle) > 0.0 else (low, middle)
    too_far(way * high)


def level(hind, front):
    """Pitch in degrees that puts the withers `front - hind` metres up against the pelvis."""
    return -math.degrees(math.asin((front - hind) / WITHERS))

"""What an animator moves on the humanoid, and the pose that follows from it."""

from types import SimpleNamespace

import numpy as np

from . import humanoid_skeleton as hs
from .linalg import (
    IDENTITY,
    X,
    Y,
    Z,
    aim,
    axis_angle,
    euler,
    inverse,
    mirror,
    mirror_rotation,
    mul,
    rotate,
    scaled,
    twist,
    unit,
    vec,
)
from .rig import Sole, two_bone
from .skeleton import Pose

SOLE = Sole(vec(0.102, 0.090, -0.016), vec(0.104, 0.0, -0.074), vec(0.104, 0.024, 0.100))
SIDES = ("l", "r")

# Degrees of the three joints of each finger.
HANDS = {
    "relaxed": {
        "index": (14, 20, 12),
        "middle": (20, 26, 16),
        "ring": (25, 30, 18),
        "pinky": (30, 32, 20),
        "thumb": (6, 10, 12),
    },
    "open": {"index": (0, 3, 2), "middle": (2, 3, 2), "ring": (3, 4, 2), "pinky": (4, 5, 3), "thumb": (-14, -4, 0)},
    "soft_fist": {
        "index": (48, 62, 40),
        "middle": (54, 66, 42),
        "ring": (58, 68, 44),
        "pinky": (60, 68, 44),
        "thumb": (20, 24, 26),
    },
    "grip": {
        "index": (34, 48, 30),
        "middle": (62, 76, 46),
        "ring": (66, 78, 48),
        "pinky": (68, 78, 48),
        "thumb": (14, 18, 20),
    },
}


def controls():
    """Everything at ease in the bind pose's stance, arms hanging."""
    c = SimpleNamespace()
    c.root, c.yaw = vec(0, 0, 0), 0.0
    c.pelvis = vec(0, 0, 0)  # metres from the bind pose, root space
    c.hips = (0.0, 0.0, 0.0)  # pitch, yaw, roll in root space
    c.chest = (0.0, 0.0, 0.0)
    c.head = (0.0, 0.0, 0.0)
    for side in SIDES:
        setattr(c, f"shoulder_{side}", (0.0, 0.0))  # raised, brought forward
        setattr(c, f"arm_{side}", arm())
        setattr(c, f"foot_{side}", foot())
    return c


def arm(forward=2.0, out=9.0, turn=0.0, elbow=14.0, roll=0.0, flex=4.0, tilt=0.0, hand="relaxed", to=None):
    """Degrees: swing forward and out, turn about the upper arm, elbow, forearm roll, wrist.

    `hand` is a preset, or (preset, preset, share of the second). `to` = (wrist position, finger
    direction, palm direction, elbow direction) in model space replaces the angles.
    """
    return SimpleNamespace(
        forward=forward, out=out, turn=turn, elbow=elbow, roll=roll, flex=flex, tilt=tilt, hand=hand, to=to
    )


def foot(ankle=None, turn=IDENTITY, toes=0.0, knee=None):
    """Ankle position and foot turn in model space; toes in degrees up; knee direction."""
    if ankle is None:
        ankle = SOLE.ankle
    return SimpleNamespace(ankle=ankle, turn=turn, toes=toes, knee=knee)


def mirrored(c):
    """The same controls seen in the mirror."""
    out = controls()
    out.root, out.yaw = mirror(c.root), -c.yaw
    out.pelvis = mirror(c.pelvis)
    for name in ("hips", "chest", "head"):
        pitch, yaw, roll = getattr(c, name)
        setattr(out, name, (pitch, -yaw, -roll))
    for side, other in (("l", "r"), ("r", "l")):
        for name in ("shoulder", "arm", "foot"):
            setattr(out, f"{name}_{side}", getattr(c, f"{name}_{other}"))
    return out


def flip(side, q):
    """Controls of limbs are written for the left; on the right they are mirrored."""
    return q if side == "l" else mirror_rotation(q)


def pose(skeleton, c):
    """The pose that the controls ask for. Feet of the right side are given mirrored."""
    p = Pose(skeleton)
    p.root = c.root
    p.turn["root"] = axis_angle(Y, c.yaw)
    p.pelvis = c.pelvis
    hips, chest, head = (euler(*v) for v in (c.hips, c.chest, c.head))
    p.turn["pelvis"] = hips
    bend = mul(inverse(hips), chest)
    for k, share in ((1, 0.30), (2, 0.35), (3, 0.35)):
        p.turn[f"spine_0{k}"] = scaled(bend, share)
    above = mul(*(p.turn[f"spine_0{k}"] for k in (1, 2, 3)))
    look = mul(inverse(mul(hips, above)), head)
    p.turn["neck"] = scaled(look, 0.45)
    p.turn["head"] = mul(inverse(p.turn["neck"]), look)
    for side in SIDES:
        pose_leg(p, getattr(c, f"foot_{side}"), side, c)
        pose_arm(p, getattr(c, f"arm_{side}"), getattr(c, f"shoulder_{side}"), side)
    return p


def pose_leg(p, f, side, c):
    facing = axis_angle(Y, c.yaw)
    ankle, turn, knee = f.ankle, f.turn, f.knee
    if side == "r":
        ankle, turn = mirror(ankle), mirror_rotation(turn)
        knee = None if knee is None else mirror(knee)
    if knee is None:
        ahead = rotate(turn, Z)
        ahead = unit(vec(ahead[0], 0.0, ahead[2])) if abs(ahead[1]) < 0.98 else rotate(facing, Z)
        hips = rotate(mul(facing, p.turn["pelvis"]), Z)
        knee = ahead * 0.5 + hips * 0.5 + rotate(facing, X) * (0.06 if side == "l" else -0.06)
    hinge = np.cross(Y, knee)
    pole = np.cross(ankle - p.place(f"thigh_{side}")[1], hinge)
    two_bone(p, f"thigh_{side}", f"calf_{side}", f"foot_{side}", ankle, pole, Z)
    p.set_model_turn(f"foot_{side}", turn)
    p.turn[f"ball_{side}"] = axis_angle(X, -f.toes)
    thigh = unit(p.skeleton.position(f"calf_{side}") - p.skeleton.position(f"thigh_{side}"))
    p.turn[f"thigh_twist_{side}"] = scaled(inverse(twist(p.turn[f"thigh_{side}"], thigh)), 0.65)


def pose_arm(p, a, shoulder, side):
    raised, brought = shoulder
    # The collar bone follows an arm that goes far up or forward.
    raised += max(a.out - 40.0, 0.0) * 0.22 + max(a.forward - 60.0, 0.0) * 0.12
    p.turn[f"clavicle_{side}"] = flip(side, mul(axis_angle(Y, -brought), axis_angle(Z, raised)))
    if a.to is not None:
        wrist, fingers, palm, elbow = a.to
        two_bone(p, f"upperarm_{side}", f"lowerarm_{side}", f"hand_{side}", wrist, elbow, -Z)
        arm_way, palm_way = (hs.ARM, hs.PALM) if side == "l" else (mirror(hs.ARM), mirror(hs.PALM))
        p.set_model_turn(f"hand_{side}", aim(arm_way, palm_way, fingers, palm))
    else:
        upper = mul(axis_angle(X, -a.forward), axis_angle(Z, a.out - 45.0), axis_angle(hs.ARM, a.turn))
        # The clavicle's own turn is not the arm's: arms are given against the chest.
        p.turn[f"upperarm_{side}"] = mul(inverse(p.turn[f"clavicle_{side}"]), flip(side, upper))
        hinge = unit(np.cross(hs.ARM, Z))
        p.turn[f"lowerarm_{side}"] = flip(side, axis_angle(hinge, a.elbow))
        way = unit(hs.WRIST - hs.ELBOW)
        p.turn[f"hand_{side}"] = flip(
            side, mul(axis_angle(way, a.roll), axis_angle(-Z, a.flex), axis_angle(hs.PALM, a.tilt))
        )
    for name, axis, share in (
        ("upperarm", hs.ARM, -0.7),
        ("lowerarm", unit(hs.WRIST - hs.ELBOW), 0.55),
    ):
        axis = axis if side == "l" else mirror(axis)
        source = f"upperarm_{side}" if name == "upperarm" else f"hand_{side}"
        part = twist(p.turn[source], axis)
        p.turn[f"{name}_twist_{side}"] = scaled(inverse(part) if share < 0 else part, abs(share))
    pose_hand(p, a.hand, side)


def pose_hand(p, hand, side):
    first, second, share = hand if isinstance(hand, tuple) else (hand, hand, 0.0)
    for finger in ("thumb",) + tuple(hs.FINGERS):
        for k in range(3):
            degrees = HANDS[first][finger][k] * (1.0 - share) + HANDS[second][finger][k] * share
            p.turn[f"{finger}_0{k + 1}_{side}"] = flip(side, axis_angle(hs.curl_axis(finger), degrees))

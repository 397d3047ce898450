"""The humanoid's bones: 59 of them, 1.75 m tall, A-pose, facing +Z."""

from .linalg import Y, Z, axis_angle, mirror, rotate, unit, vec
from .skeleton import Bone, Skeleton

SHOULDER = vec(0.165, 1.394, -0.016)
ARM = unit(vec(1.0, -1.0, 0.0))
PALM = unit(vec(-1.0, -1.0, 0.0))
UPPER_ARM, LOWER_ARM = 0.272, 0.248
ELBOW = SHOULDER + ARM * UPPER_ARM
WRIST = ELBOW + ARM * LOWER_ARM + Z * 0.012

# Where each finger leaves the palm, seen in hand space (along the arm, towards the thumb, away
# from the palm), how it is spread, and the lengths of its three bones.
FINGERS = {
    "index": ((0.088, 0.030, 0.003), 5.0, (0.036, 0.025, 0.021)),
    "middle": ((0.092, 0.010, 0.006), 1.0, (0.040, 0.028, 0.022)),
    "ring": ((0.088, -0.010, 0.004), -3.0, (0.037, 0.026, 0.021)),
    "pinky": ((0.079, -0.029, 0.000), -8.0, (0.029, 0.020, 0.018)),
}
THUMB = ((0.020, 0.024, -0.009), (0.042, 0.031, 0.025))


def hand_point(along, thumbward, backward):
    """Hand space to model space, left hand, bind pose."""
    return WRIST + ARM * along + Z * thumbward - PALM * backward


def finger_way(spread):
    return rotate(axis_angle(PALM, spread), ARM)


def thumb_way():
    return unit(ARM * 0.72 + Z * 0.66 + PALM * 0.22)


def left_side():
    """(name, parent, position, direction) of the left limbs; `None` directions are found."""
    bones = [
        ("clavicle_l", "spine_03", vec(0.022, 1.412, 0.010), None),
        ("upperarm_l", "clavicle_l", SHOULDER, ARM),
        ("upperarm_twist_l", "upperarm_l", SHOULDER, ARM),
        ("lowerarm_l", "upperarm_l", ELBOW, WRIST - ELBOW),
        ("lowerarm_twist_l", "lowerarm_l", ELBOW + (WRIST - ELBOW) * 0.55, WRIST - ELBOW),
        ("hand_l", "lowerarm_l", WRIST, ARM),
    ]
    way, at, parent = thumb_way(), hand_point(*THUMB[0]), "hand_l"
    for k, size in enumerate(THUMB[1]):
        bones.append((f"thumb_0{k + 1}_l", parent, at, way))
        parent, at = bones[-1][0], at + way * size
    for finger, (root, spread, sizes) in FINGERS.items():
        way, at, parent = finger_way(spread), hand_point(*root), "hand_l"
        for k, size in enumerate(sizes):
            bones.append((f"{finger}_0{k + 1}_l", parent, at, way))
            parent, at = bones[-1][0], at + way * size
    hip, knee, ankle = vec(0.093, 0.905, 0.0), vec(0.098, 0.485, 0.004), vec(0.102, 0.090, -0.016)
    bones += [
        ("thigh_l", "pelvis", hip, knee - hip),
        ("thigh_twist_l", "thigh_l", hip, knee - hip),
        ("calf_l", "thigh_l", knee, ankle - knee),
        ("foot_l", "calf_l", ankle, vec(0.0, -0.5, 1.0)),
        ("ball_l", "foot_l", vec(0.104, 0.024, 0.100), Z),
    ]
    return bones


def build():
    bones = [
        Bone("root", None, vec(0, 0, 0)),
        Bone("pelvis", "root", vec(0, 0.955, 0.0), Y),
        Bone("spine_01", "pelvis", vec(0, 1.035, -0.002), Y),
        Bone("spine_02", "spine_01", vec(0, 1.145, -0.006), Y),
        Bone("spine_03", "spine_02", vec(0, 1.265, -0.016), Y),
        Bone("neck", "spine_03", vec(0, 1.445, -0.026), vec(0, 1.0, 0.22)),
        Bone("head", "neck", vec(0, 1.525, -0.008), Y),
    ]
    for name, parent, at, way in left_side():
        bones.append(Bone(name, parent, at, way))
    for name, parent, at, way in left_side():
        right_parent = parent[:-2] + "_r" if parent.endswith("_l") else parent
        bones.append(Bone(name[:-2] + "_r", right_parent, mirror(at), None if way is None else mirror(way)))
    return Skeleton(bones)


def curl_axis(finger):
    """The axis a left finger bends about in the bind pose, towards the palm for positive angles."""
    if finger == "thumb":
        return unit(ARM * 0.35 - Z * 0.45 + PALM * -0.6)
    return -Z

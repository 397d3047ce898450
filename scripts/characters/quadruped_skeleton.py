"""The quadruped's bones: 33 of them, a fox-like dog 0.51 m at the shoulder, facing +Z."""

from .linalg import Z, mirror, vec
from .skeleton import Bone, Skeleton

# The head is drawn at life size around its joint and enlarged: a young animal's proportions.
HEAD_DRAWN, HEAD, HEAD_SCALE = vec(0, 0.745, 0.305), vec(0, 0.675, 0.305), 1.22


def enlarged(p):
    """A point of the head as drawn, where it ends up."""
    return HEAD + (p - HEAD_DRAWN) * HEAD_SCALE


def as_drawn(p):
    return HEAD_DRAWN + (p - HEAD) / HEAD_SCALE


def left_side():
    front = [
        ("scapula_l", "spine_03", vec(0.046, 0.530, 0.130), None),
        ("upperarm_l", "scapula_l", vec(0.064, 0.392, 0.200), None),
        ("lowerarm_l", "upperarm_l", vec(0.072, 0.282, 0.128), None),
        ("hand_l", "lowerarm_l", vec(0.072, 0.103, 0.146), None),
        ("paw_l", "hand_l", vec(0.072, 0.026, 0.166), Z),
    ]
    hind = [
        ("thigh_l", "pelvis", vec(0.058, 0.445, -0.205), None),
        ("calf_l", "thigh_l", vec(0.070, 0.307, -0.130), None),
        ("foot_l", "calf_l", vec(0.070, 0.139, -0.282), None),
        ("ball_l", "foot_l", vec(0.070, 0.026, -0.242), Z),
    ]
    ear = [("ear_l", "head", enlarged(vec(0.042, 0.812, 0.316)), vec(0.25, 1.0, -0.1))]
    return ear, front, hind


def build():
    bones = [
        Bone("root", None, vec(0, 0, 0)),
        Bone("pelvis", "root", vec(0, 0.478, -0.190), Z),
        Bone("spine_01", "pelvis", vec(0, 0.488, -0.100)),
        Bone("spine_02", "spine_01", vec(0, 0.485, 0.015)),
        Bone("spine_03", "spine_02", vec(0, 0.482, 0.125)),
        Bone("neck_01", "spine_03", vec(0, 0.530, 0.215)),
        Bone("neck_02", "neck_01", vec(0, 0.600, 0.268)),
        Bone("head", "neck_02", HEAD, vec(0, 0.2, 1.0)),
        Bone("jaw", "head", enlarged(vec(0, 0.738, 0.348)), vec(0, -0.1, 1.0)),
        Bone("tail_01", "pelvis", vec(0, 0.502, -0.262)),
        Bone("tail_02", "tail_01", vec(0, 0.496, -0.340)),
        Bone("tail_03", "tail_02", vec(0, 0.468, -0.418)),
        Bone("tail_04", "tail_03", vec(0, 0.438, -0.495)),
    ]
    left = [bone for limb in left_side() for bone in limb]
    for name, parent, at, way in left:
        bones.append(Bone(name, parent, at, way))
    for name, parent, at, way in left:
        above = parent[:-2] + "_r" if parent.endswith("_l") else parent
        bones.append(Bone(name[:-2] + "_r", above, mirror(at), None if way is None else mirror(way)))
    return Skeleton(bones)

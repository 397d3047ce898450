"""Skeletons: bones with a place in the bind pose, and poses of them."""

import numpy as np

from .linalg import IDENTITY, X, Y, Z, dot, frame, inverse, mul, rotate, unit


class Bone:
    """One bone: where its joint is in the bind pose and which way it points."""

    def __init__(self, name, parent, position, toward=None):
        self.name = name
        self.parent = parent
        self.position = np.asarray(position, dtype=float)
        self.toward = toward
        self.orientation = IDENTITY


class Skeleton:
    """Bones, parents first. +Y of a bone's own axes points along the bone, as is common."""

    def __init__(self, bones):
        self.bones = bones
        self.index = {bone.name: i for i, bone in enumerate(bones)}
        self.parents = [self.index[b.parent] if b.parent else None for b in bones]
        for i, bone in enumerate(bones):
            if bone.parent is None:
                continue
            way = bone.toward
            if way is None:
                way = self._away(i)
            side = X if abs(dot(unit(way), X)) < 0.9 else Z
            bone.orientation = frame(way, side)

    def _away(self, i):
        """Towards the first child, or onwards from the parent."""
        for j, parent in enumerate(self.parents):
            if parent == i:
                way = self.bones[j].position - self.bones[i].position
                if dot(way, way) > 1e-8:
                    return way
        way = self.bones[i].position - self.bones[self.parents[i]].position
        return way if dot(way, way) > 1e-8 else Y

    def position(self, name):
        return self.bones[self.index[name]].position

    def offset(self, i):
        """From the parent's joint to this one, in the bind pose."""
        return self.bones[i].position - self.bones[self.parents[i]].position

    def names(self):
        return [bone.name for bone in self.bones]


class Pose:
    """What every bone does relative to the bind pose.

    `turn[name]` is a rotation in the axes of the bind pose's model space, relative to the parent's
    own turn: the identity everywhere is the bind pose.
    """

    def __init__(self, skeleton):
        self.skeleton = skeleton
        self.turn = {}
        self.root = np.zeros(3)
        self.pelvis = np.zeros(3)

    def copy(self):
        other = Pose(self.skeleton)
        other.turn = dict(self.turn)
        other.root = self.root.copy()
        other.pelvis = self.pelvis.copy()
        return other

    def chain(self, name):
        """Indices from the root down to the bone."""
        out = []
        i = self.skeleton.index[name]
        while i is not None:
            out.append(i)
            i = self.skeleton.parents[i]
        return out[::-1]

    def place(self, name):
        """Model-space turn and joint position of one bone."""
        turn, position = IDENTITY, np.zeros(3)
        s = self.skeleton
        for i in self.chain(name):
            bone = s.bones[i]
            if s.parents[i] is None:
                position = bone.position + self.root
            else:
                offset = s.offset(i)
                if bone.name == "pelvis":
                    offset = offset + self.pelvis
                position = position + rotate(turn, offset)
            turn = mul(turn, self.turn.get(bone.name, IDENTITY))
        return turn, position

    def point(self, name, bind_point):
        """Where a point that moves with a bone is, given where it is in the bind pose."""
        turn, position = self.place(name)
        return position + rotate(turn, bind_point - self.skeleton.position(name))

    def set_model_turn(self, name, turn):
        """Turns a bone so that its model-space turn is the one given."""
        s = self.skeleton
        parent = s.parents[s.index[name]]
        above = self.place(s.bones[parent].name)[0] if parent is not None else IDENTITY
        self.turn[name] = mul(inverse(above), turn)

    def locals(self):
        """Local translation and rotation of every bone in its own axes, for export."""
        s = self.skeleton
        out = []
        for i, bone in enumerate(s.bones):
            turn = self.turn.get(bone.name, IDENTITY)
            if s.parents[i] is None:
                out.append((bone.position + self.root, mul(turn, bone.orientation)))
                continue
            above = s.bones[s.parents[i]].orientation
            offset = s.offset(i)
            if bone.name == "pelvis":
                offset = offset + self.pelvis
            out.append((rotate(inverse(above), offset), mul(inverse(above), turn, bone.orientation)))
        return out

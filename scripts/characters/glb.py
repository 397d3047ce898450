"""Reads back a .glb that make_characters.py wrote and poses it, for the checks."""

import json
import struct

import numpy as np

from .linalg import mul, rotate

TYPES = {5126: "<f4", 5121: "u1", 5123: "<u2"}
WIDTH = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Character:
    """Nodes, skin, clips and the mesh's vertices."""

    def __init__(self, data):
        size = struct.unpack_from("<I", data, 12)[0]
        self.document = json.loads(data[20 : 20 + size])
        self.bytes = data[28 + size :]
        d = self.document
        self.nodes = d["nodes"]
        self.parent = {c: i for i, n in enumerate(self.nodes) for c in n.get("children", [])}
        self.joints = d["skins"][0]["joints"]
        self.binds = self.accessor(d["skins"][0]["inverseBindMatrices"])
        self.clips = {a["name"]: a for a in d["animations"]}
        parts = [p["attributes"] for p in d["meshes"][0]["primitives"]]
        self.positions, self.influences, self.weights = (
            np.concatenate([self.accessor(p[k]) for p in parts]) for k in ("POSITION", "JOINTS_0", "WEIGHTS_0")
        )
        self.influences = self.influences.astype(int)
        self.weights = self.weights / 255.0
        self.triangles = sum(d["accessors"][p["indices"]]["count"] // 3 for p in d["meshes"][0]["primitives"])

    def accessor(self, index):
        a = self.document["accessors"][index]
        view = self.document["bufferViews"][a["bufferView"]]
        width = WIDTH[a["type"]]
        flat = np.frombuffer(self.bytes, TYPES[a["componentType"]], a["count"] * width, view["byteOffset"])
        return flat.reshape(-1, width).astype(float)

    def seconds(self, clip):
        return max(float(self.accessor(s["input"])[-1, 0]) for s in self.clips[clip]["samplers"])

    def place(self, clip, t):
        """Model-space (rotation, position) of every node at time t, rotations by nlerp."""
        translation = [np.array(n.get("translation", (0.0, 0.0, 0.0))) for n in self.nodes]
        rotation = [np.array(n.get("rotation", (0.0, 0.0, 0.0, 1.0))) for n in self.nodes]
        animation = self.clips[clip]
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            value = self.sample(sampler, t)
            node = channel["target"]["node"]
            if channel["target"]["path"] == "rotation":
                rotation[node] = value / np.sqrt((value * value).sum())
            else:
                translation[node] = value
        out = {}

        def find(i):
            if i not in out:
                if i in self.parent:
                    turn, at = find(self.parent[i])
                    out[i] = (mul(turn, rotation[i]), at + rotate(turn, translation[i]))
                else:
                    out[i] = (rotation[i], translation[i])
            return out[i]

        return [find(i) for i in range(len(self.nodes))]

    def sample(self, sampler, t):
        cache = self.__dict__.setdefault("keys", {})
        key = (sampler["input"], sampler["output"])
        if key not in cache:
            cache[key] = (self.accessor(key[0])[:, 0], self.accessor(key[1]))
        times, values = cache[key]
        if len(times) == 1 or t <= times[0]:
            return values[0]
        k = min(int(np.searchsorted(times, t)), len(times) - 1)
        u = min((t - times[k - 1]) / (times[k] - times[k - 1]), 1.0)
        return values[k - 1] * (1.0 - u) + values[k] * u

    def skinned(self, clip, t, vertices):
        """Model-space positions of some vertices."""
        placed = self.place(clip, t)
        out = np.zeros((len(vertices), 3))
        for row, v in enumerate(vertices):
            point = np.append(self.positions[v], 1.0)
            for joint, weight in zip(self.influences[v], self.weights[v]):
                if weight > 0.0:
                    m = self.binds[joint].reshape(4, 4)
                    bound = point[0] * m[0, :3] + point[1] * m[1, :3] + point[2] * m[2, :3] + m[3, :3]
                    turn, at = placed[self.joints[joint]]
                    out[row] += weight * (at + rotate(turn, bound))
        return out

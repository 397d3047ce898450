"""Writes one skinned, animated character as a .glb file, the same bytes every time."""

import json
import struct

import numpy as np

from .linalg import inverse, rotate

FLOAT, UBYTE, USHORT = 5126, 5121, 5123
ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963


def floats(values, decimals):
    """Little-endian f32 on a decimal grid: far coarser than any machine's rounding differences."""
    return (np.round(np.asarray(values, dtype=float), decimals) + 0.0).astype("<f4")


class Writer:
    """Collects accessors and their bytes."""

    def __init__(self):
        self.bytes = bytearray()
        self.views = []
        self.accessors = []
        self.shared = {}

    def accessor(self, data, component, kind, target=None, bounds=False, normalized=False):
        """Adds an array and returns its accessor; an equal one added before is used again."""
        raw = data.tobytes()
        key = (raw, component, kind, target, normalized)
        if key in self.shared:
            return self.shared[key]
        while len(self.bytes) % 4:
            self.bytes.append(0)
        view = {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(raw)}
        if target:
            view["target"] = target
            if target == ARRAY_BUFFER and len(data):
                view["byteStride"] = len(raw) // len(data)
        self.bytes += raw
        self.views.append(view)
        entry = {
            "bufferView": len(self.views) - 1,
            "componentType": component,
            "count": len(data),
            "type": kind,
        }
        if normalized:
            entry["normalized"] = True
        if bounds:
            flat = data.reshape(len(data), -1)
            entry["min"] = [float(v) for v in flat.min(axis=0)]
            entry["max"] = [float(v) for v in flat.max(axis=0)]
        self.accessors.append(entry)
        self.shared[key] = len(self.accessors) - 1
        return self.shared[key]


def matrix(rotation, translation):
    """Column-major 4x4."""
    columns = [rotate(rotation, axis) for axis in np.eye(3)]
    out = []
    for c in columns:
        out += [c[0], c[1], c[2], 0.0]
    return out + [translation[0], translation[1], translation[2], 1.0]


def glb(name, skeleton, rest, primitives, materials, clips):
    """The file's bytes.

    `rest` are local (translation, rotation) pairs, one per bone; `primitives` dicts of arrays with
    a material index; `clips` objects with name, times, translations, rotations, extras.
    """
    out = Writer()
    nodes = []
    for i, bone in enumerate(skeleton.bones):
        translation, rotation = rest[i]
        node = {"name": bone.name}
        t, r = floats(translation, 6), floats(rotation, 7)
        if t.any():
            node["translation"] = [float(v) for v in t]
        if r[:3].any():
            node["rotation"] = [float(v) for v in r]
        children = [j for j, parent in enumerate(skeleton.parents) if parent == i]
        if children:
            node["children"] = children
        nodes.append(node)
    nodes.append({"name": name, "mesh": 0, "skin": 0})

    mesh = []
    for p in primitives:
        attributes = {
            "POSITION": out.accessor(floats(p["positions"], 5), FLOAT, "VEC3", ARRAY_BUFFER, True),
            "NORMAL": out.accessor(unit_floats(p["normals"]), FLOAT, "VEC3", ARRAY_BUFFER),
            "COLOR_0": out.accessor(p["colors"], UBYTE, "VEC4", ARRAY_BUFFER, normalized=True),
            "JOINTS_0": out.accessor(p["joints"], UBYTE, "VEC4", ARRAY_BUFFER),
            "WEIGHTS_0": out.accessor(p["weights"], UBYTE, "VEC4", ARRAY_BUFFER, normalized=True),
        }
        indices = out.accessor(
            np.asarray(p["triangles"], dtype="<u2").reshape(-1), USHORT, "SCALAR", ELEMENT_ARRAY_BUFFER
        )
        mesh.append({"attributes": attributes, "indices": indices, "material": p["material"]})

    binds = []
    for bone in skeleton.bones:
        back = inverse(bone.orientation)
        binds.append(matrix(back, -rotate(back, bone.position)))
    skin = {
        "name": name,
        "joints": list(range(len(skeleton.bones))),
        "skeleton": 0,
        "inverseBindMatrices": out.accessor(floats(binds, 6), FLOAT, "MAT4"),
    }

    animations = [animation(out, skeleton, clip) for clip in clips]
    while len(out.bytes) % 4:
        out.bytes.append(0)
    document = {
        "asset": {"version": "2.0", "generator": "Throng scripts/make_characters.py"},
        "scene": 0,
        "scenes": [{"name": name, "nodes": [0, len(nodes) - 1]}],
        "nodes": nodes,
        "meshes": [{"name": name, "primitives": mesh}],
        "skins": [skin],
        "materials": materials,
        "animations": animations,
        "accessors": out.accessors,
        "bufferViews": out.views,
        "buffers": [{"byteLength": len(out.bytes)}],
    }
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(text), 0x4E4F534A) + text
    body += struct.pack("<II", len(out.bytes), 0x004E4942) + bytes(out.bytes)
    return struct.pack("<III", 0x46546C67, 2, 12 + len(body)) + body


def unit_floats(vectors):
    v = np.round(np.asarray(vectors, dtype=float), 4)
    return (v / np.sqrt((v * v).sum(axis=-1, keepdims=True)) + 0.0).astype("<f4")


def animation(out, skeleton, clip):
    """One animation; a channel that does not move keeps one key, one at rest is left out."""
    samplers, channels = [], []
    times = np.array(clip.times, dtype="<f4")
    for i, _ in enumerate(skeleton.bones):
        for path, kind, values, rest in (
            ("translation", "VEC3", floats(clip.translations[i], 5), floats(clip.rest[i][0], 5)),
            ("rotation", "VEC4", unit_floats6(clip.rotations[i]), unit_floats6([clip.rest[i][1]])[0]),
        ):
            still = bool((np.abs(values - values[0]) <= 2e-6).all())
            if still and bool((np.abs(values[0] - rest) <= 2e-5).all()):
                continue
            keys = times[:1] if still else times
            values = values[:1] if still else values
            samplers.append(
                {
                    "input": out.accessor(keys, FLOAT, "SCALAR", bounds=True),
                    "output": out.accessor(values, FLOAT, kind),
                    "interpolation": "LINEAR",
                }
            )
            channels.append({"sampler": len(samplers) - 1, "target": {"node": i, "path": path}})
    return {"name": clip.name, "channels": channels, "samplers": samplers, "extras": clip.extras}


def unit_floats6(rotations):
    """Quaternions on a grid of 1e-6, unit again, each in the hemisphere of the one before."""
    q = np.round(np.asarray(rotations, dtype=float), 6)
    q = q / np.sqrt((q * q).sum(axis=-1, keepdims=True))
    for k in range(1, len(q)):
        if (q[k] * q[k - 1]).sum() < 0.0:
            q[k] = -q[k]
    return (q + 0.0).astype("<f4")

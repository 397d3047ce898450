#!/usr/bin/env python3
"""Measures the built-in characters' feet: slide while planted, height, depth below the ground.

Reads assets/*.glb, plays every clip at 120 Hz with its root motion, and looks at the vertices of
the soles. Exit status 1 when a planted sole slides, floats or sinks by a centimetre.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from characters.glb import Character
from characters.linalg import rotate

ASSETS = pathlib.Path(__file__).resolve().parent.parent / "assets"
FEET = {
    "humanoid": {"l": ("foot_l", "ball_l"), "r": ("foot_r", "ball_r")},
    "quadruped": {"fl": ("paw_l",), "fr": ("paw_r",), "hl": ("ball_l",), "hr": ("ball_r",)},
}
RATE, TOUCH, LIMIT = 120, 0.004, 0.010


def soles(character, bones):
    """Vertices near the ground in the bind pose that mostly follow these bones."""
    index = {n["name"]: i for i, n in enumerate(character.nodes)}
    joints = [character.joints.index(index[b]) for b in bones]
    out = []
    for v, p in enumerate(character.positions):
        share = sum(w for j, w in zip(character.influences[v], character.weights[v]) if j in joints)
        if p[1] < 0.006 and share > 0.5:
            out.append(v)
    return out


def twice(character, clip, track):
    """The vertices' tracks when the clip plays two times, root motion carried on."""
    turn, at = character.place(clip, character.seconds(clip))[character.joints[0]]
    again = [[at + rotate(turn, p) for p in frame] for frame in track[1:]]
    return np.concatenate([track, np.array(again)])


def spans(planted, foot, seconds, loops):
    """When a foot stands, in time order; in a loop also the second time round, joined at the seam."""
    times = sorted((p["start"], p["end"]) for p in planted if p["foot"] == foot)
    if loops:
        times += [(start + seconds, end + seconds) for start, end in times]
    out = []
    for start, end in times:
        if out and start - out[-1][1] < 1e-3:
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out


def measure(character, clip, feet):
    """Per clip: worst slide of a touching sole vertex, worst height of a planted sole, lowest point."""
    seconds = character.seconds(clip)
    extras = character.clips[clip]["extras"]
    slide = float_up = 0.0
    lowest = 1.0
    for foot, vertices in feet.items():
        frames = int(round(seconds * RATE)) + 1
        track = np.array([character.skinned(clip, k / RATE, vertices) for k in range(frames)])
        lowest = min(lowest, float(track[:, :, 1].min()))
        if extras["loop"]:
            track = twice(character, clip, track)
        for start, end in spans(extras["planted"], foot, seconds, extras["loop"]):
            inside = track[int(np.ceil(start * RATE - 1e-2)) : int(np.floor(end * RATE + 1e-2)) + 1]
            float_up = max(float_up, float(inside[:, :, 1].min(axis=1).max()))
            for v in range(len(vertices)):
                anchor = None
                for p in inside[:, v]:
                    if p[1] > TOUCH:
                        anchor = None
                    elif anchor is None:
                        anchor = p
                    else:
                        slide = max(slide, float(np.hypot(p[0] - anchor[0], p[2] - anchor[2])))
    return slide, float_up, lowest


def main():
    bad = False
    for name, bones in FEET.items():
        character = Character((ASSETS / f"{name}.glb").read_bytes())
        size = f"{len(character.joints)} bones, {len(character.positions)} vertices, {character.triangles} triangles"
        print(f"{name}: {size}")
        feet = {foot: soles(character, b) for foot, b in bones.items()}
        for clip in character.clips:
            slide, up, lowest = measure(character, clip, feet)
            fault = slide >= LIMIT or up >= LIMIT or lowest <= -LIMIT
            bad |= fault
            print(
                f"  {clip:10} {character.seconds(clip):5.2f} s   slide {slide * 1000:5.1f} mm"
                f"   planted sole at most {up * 1000:5.1f} mm up   lowest {lowest * 1000:6.1f} mm"
                + ("   BAD" if fault else "")
            )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

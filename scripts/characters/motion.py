"""Curves through key values, and clips baked from poses at 30 Hz."""

import math

import numpy as np

RATE = 30


class Curve:
    """Cubic Hermite through (time, value) keys; values are numbers or vectors.

    Tangents are those of an auto-clamped animation curve: an extreme is held flat, so nothing
    overshoots its keys (Fritsch and Butland 1984). `ends` gives the slopes at both ends instead.
    With a `period` the curve repeats.
    """

    def __init__(self, keys, period=None, ends=None):
        self.period = period
        self.times = [float(t) for t, _ in keys]
        self.values = [np.atleast_1d(np.asarray(v, dtype=float)) for _, v in keys]
        self.scalar = np.ndim(keys[0][1]) == 0
        if period is not None:
            before = (self.times[-1] - period, self.values[-1])
            first = (self.times[0] + period, self.values[0])
            second = (self.times[1 % len(keys)] + period * (1 if len(keys) > 1 else 2), self.values[1 % len(keys)])
            self.times = [before[0]] + self.times + [first[0], second[0]]
            self.values = [before[1]] + self.values + [first[1], second[1]]
        n = len(self.times)
        gaps = [self.times[k + 1] - self.times[k] for k in range(n - 1)]
        slopes = [(self.values[k + 1] - self.values[k]) / gaps[k] for k in range(n - 1)]
        self.tangents = [np.zeros_like(self.values[0]) for _ in range(n)]
        for k in range(1, n - 1):
            a, b, h0, h1 = slopes[k - 1], slopes[k], gaps[k - 1], gaps[k]
            w0, w1 = 2.0 * h1 + h0, h1 + 2.0 * h0
            safe_a, safe_b = np.where(a == 0.0, 1.0, a), np.where(b == 0.0, 1.0, b)
            mean = (w0 + w1) / (w0 / safe_a + w1 / safe_b + 1e-30)
            self.tangents[k] = np.where(a * b > 0.0, mean, 0.0)
        if ends:
            self.tangents[0] = np.atleast_1d(np.asarray(ends[0], dtype=float))
            self.tangents[-1] = np.atleast_1d(np.asarray(ends[1], dtype=float))

    def __call__(self, t):
        if self.period is not None:
            t = t % self.period
            if t < self.times[1]:
                t += self.period
        t = min(max(t, self.times[0]), self.times[-1])
        k = 0
        while k < len(self.times) - 2 and t > self.times[k + 1]:
            k += 1
        h = self.times[k + 1] - self.times[k]
        u = (t - self.times[k]) / h
        a, b = self.values[k], self.values[k + 1]
        ta, tb = self.tangents[k] * h, self.tangents[k + 1] * h
        u2, u3 = u * u, u * u * u
        out = a * (2 * u3 - 3 * u2 + 1) + ta * (u3 - 2 * u2 + u) + b * (3 * u2 - 2 * u3) + tb * (u3 - u2)
        return float(out[0]) if self.scalar else out


def cycle(*keys):
    """A curve over one stride, phase 0..1."""
    return Curve(keys, period=1.0)


def over(*keys):
    """A curve over seconds, held before the first and after the last key."""
    return Curve(keys, ends=None)


class Clip:
    """A baked clip: per bone, local translations and rotations at each time."""

    def __init__(self, skeleton, name, seconds, pose_at, rest, **extras):
        frames = int(math.floor(seconds * RATE + 0.5))
        self.name = name
        self.seconds = frames / RATE
        self.times = [k / RATE for k in range(frames + 1)]
        self.rest = rest
        self.poses = [pose_at(t) for t in self.times]
        locals_ = [p.locals() for p in self.poses]
        bones = range(len(skeleton.bones))
        self.translations = [[f[i][0] for f in locals_] for i in bones]
        self.rotations = [[f[i][1] for f in locals_] for i in bones]
        self.extras = extras


def notifies(*pairs):
    """(name, seconds) pairs as glTF extras, in order of time."""
    return [{"name": n, "time": round(t, 4)} for n, t in sorted(pairs, key=lambda p: p[1])]


def planted(seconds, loops, *spans):
    """(foot, start, end) in seconds as glTF extras; a span across a loop's end is cut in two."""
    out = []
    for foot, start, end in spans:
        if loops:
            turns = math.floor(start / seconds + 1e-9)
            start, end = start - turns * seconds, end - turns * seconds
            if end > seconds + 1e-9:
                out.append((foot, 0.0, end - seconds))
                end = seconds
        out.append((foot, start, min(end, seconds)))
    return [{"foot": f, "start": round(a, 4), "end": round(b, 4)} for f, a, b in sorted(out)]

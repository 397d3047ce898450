"""Polygon cages: rings, tubes, Catmull-Clark subdivision, weights, normals, occlusion."""

import math

import numpy as np

from .linalg import smoothstep, unit, vec


def ring(center, side, up, width, above, below, count, power=2.0, phase=0.0):
    """Points of a closed superellipse: `width` to both sides, `above` and `below` along `up`."""
    points = []
    for k in range(count):
        a = 2.0 * math.pi * k / count + phase
        c, s = math.cos(a), math.sin(a)
        c = math.copysign(abs(c) ** (2.0 / power), c) if abs(c) > 1e-12 else 0.0
        s = math.copysign(abs(s) ** (2.0 / power), s) if abs(s) > 1e-12 else 0.0
        reach = above if s >= 0.0 else below
        points.append(center + side * (width * c) + up * (reach * s))
    return points


def mixed(*pairs):
    """Weighted sum of mappings from bone names to weights."""
    out = {}
    for weights, share in pairs:
        for name, w in weights.items():
            out[name] = out.get(name, 0.0) + w * share
    return out


def along(chain, at):
    """Weights of a point beside a chain of bones: one gives way to the next.

    `chain` lists (bone, where it has taken over wholly) in ascending order.
    """
    out, above = {}, 0.0
    for k in range(len(chain) - 1, -1, -1):
        name, full = chain[k]
        share = smoothstep(chain[k - 1][1], full, at) if k else 1.0
        out[name] = share * (1.0 - above)
        above += out[name]
    return out


class Mesh:
    """Vertices with bone weights, faces with a paint (index into a palette)."""

    def __init__(self, bones):
        self.bone = {name: i for i, name in enumerate(bones)}
        self.points = []
        self.weights = []
        self.faces = []
        self.paints = []

    def vertex(self, point, weights):
        """Adds a vertex; `weights` maps bone names to any non-negative numbers."""
        row = np.zeros(len(self.bone))
        for name, w in sorted(weights.items()):
            row[self.bone[name]] += w
        self.points.append(np.asarray(point, dtype=float))
        self.weights.append(row / row.sum())
        return len(self.points) - 1

    def ring(self, points, weights):
        """Adds vertices; `weights` is one mapping for all or a function of the point."""
        each = weights if callable(weights) else lambda _: weights
        return [self.vertex(p, each(p)) for p in points]

    def face(self, corners, paint):
        self.faces.append(tuple(corners))
        self.paints.append(paint)

    def bridge(self, a, b, paint, skip=(), closed=True):
        """Quads between two rings of equal length."""
        n = len(a)
        for k in range(n if closed else n - 1):
            if k not in skip:
                j = (k + 1) % n
                self.face((a[k], a[j], b[j], b[k]), paint[k] if isinstance(paint, list) else paint)

    def fan(self, loop, point, weights, paint):
        """Closes a loop with a vertex in its middle."""
        tip = self.vertex(point, weights)
        for k in range(len(loop)):
            self.face((loop[k], loop[(k + 1) % len(loop)], tip), paint)
        return tip

    def absorb(self, other):
        base = len(self.points)
        self.points += other.points
        self.weights += other.weights
        self.faces += [tuple(i + base for i in f) for f in other.faces]
        self.paints += other.paints

    def mirrored(self):
        """The other side: x negated, bones `_l` and `_r` swapped, faces turned over."""
        out = Mesh(self.bone)
        names = list(self.bone)
        swap = {"_l": "_r", "_r": "_l"}
        order = [self.bone[n[:-2] + swap.get(n[-2:], n[-2:])] for n in names]
        out.points = [vec(-p[0], p[1], p[2]) for p in self.points]
        out.weights = [row[order] for row in self.weights]
        out.faces = [f[::-1] for f in self.faces]
        out.paints = list(self.paints)
        return out

    def oriented(self):
        """Makes all windings agree across edges and face outwards (positive volume)."""
        by_edge = {}
        for f, face in enumerate(self.faces):
            for a, b in zip(face, face[1:] + face[:1]):
                by_edge.setdefault((min(a, b), max(a, b)), []).append(f)
        seen = [False] * len(self.faces)
        for start in range(len(self.faces)):
            if seen[start]:
                continue
            seen[start] = True
            stack, island = [start], [start]
            while stack:
                face = self.faces[stack.pop()]
                for a, b in zip(face, face[1:] + face[:1]):
                    for g in by_edge[(min(a, b), max(a, b))]:
                        if seen[g]:
                            continue
                        other = self.faces[g]
                        if (a, b) in zip(other, other[1:] + other[:1]):
                            self.faces[g] = other[::-1]
                        seen[g] = True
                        stack.append(g)
                        island.append(g)
            corners = [self.points[i] for f in island for i in self.faces[f]]
            middle = sum(corners) / len(corners)
            volume = 0.0
            for f in island:
                face = self.faces[f]
                a = self.points[face[0]] - middle
                for b, c in zip(face[1:], face[2:]):
                    n = np.cross(self.points[b] - middle, self.points[c] - middle)
                    volume += float((a * n).sum())
            if volume < 0.0:
                for f in island:
                    self.faces[f] = self.faces[f][::-1]
        return self

    def dropped(self):
        """Without the vertices that no face uses."""
        used = sorted({i for f in self.faces for i in f})
        new = {old: k for k, old in enumerate(used)}
        self.points = [self.points[i] for i in used]
        self.weights = [self.weights[i] for i in used]
        self.faces = [tuple(new[i] for i in f) for f in self.faces]
        return self

    def subdivided(self, keep=0.0):
        """One step of Catmull-Clark (1978), boundaries as cubic B-splines.

        `keep` in 0..1 moves the cage beforehand so that its vertices end up that much nearer to
        where they were drawn, which counters the scheme's shrinking.
        """
        self.dropped()
        drawn = np.array(self.points)
        cage = drawn.copy()
        for _ in range(6 if keep > 0.0 else 0):
            cage += keep * 0.8 * (drawn - self._divide(cage)[: len(drawn)])
        count = len(drawn)
        points = self._divide(cage)
        weights = self._divide(np.array(self.weights))
        out = Mesh(self.bone)
        out.points = list(points)
        out.weights = [row / row.sum() for row in np.maximum(weights, 0.0)]
        edge_index = {e: k for k, e in enumerate(self._edges()[0])}
        edges = len(edge_index)
        for f, face in enumerate(self.faces):
            n = len(face)
            for k in range(n):
                a, b, c = face[k - 1], face[k], face[(k + 1) % n]
                ab = count + edge_index[(min(a, b), max(a, b))]
                bc = count + edge_index[(min(b, c), max(b, c))]
                out.face((b, bc, count + edges + f, ab), self.paints[f])
        return out

    def _edges(self):
        by_edge = {}
        for f, face in enumerate(self.faces):
            for a, b in zip(face, face[1:] + face[:1]):
                by_edge.setdefault((min(a, b), max(a, b)), []).append(f)
        edges = sorted(by_edge)
        return edges, [by_edge[e] for e in edges]

    def _divide(self, values):
        """Catmull-Clark on any per-vertex values: vertices, then edges, then faces."""
        edges, sides = self._edges()
        centers = [sum(values[i] for i in f) / len(f) for f in self.faces]
        around_faces = [[] for _ in values]
        around_edges = [[] for _ in values]
        border = [[] for _ in values]
        for f, face in enumerate(self.faces):
            for i in face:
                around_faces[i].append(f)
        middles = []
        for (a, b), fs in zip(edges, sides):
            mid = (values[a] + values[b]) * 0.5
            around_edges[a].append(mid)
            around_edges[b].append(mid)
            if len(fs) == 2:
                mid = (values[a] + values[b] + centers[fs[0]] + centers[fs[1]]) * 0.25
            else:
                border[a].append(b)
                border[b].append(a)
            middles.append(mid)
        moved = []
        for i, v in enumerate(values):
            if border[i]:
                moved.append(v * 0.75 + sum(values[j] for j in border[i]) * (0.25 / len(border[i])))
                continue
            n = len(around_faces[i])
            f = sum(centers[k] for k in around_faces[i]) / n
            e = sum(around_edges[i]) / len(around_edges[i])
            moved.append((f + e * 2.0 + v * (n - 3.0)) / n)
        return np.array(moved + middles + centers)

    def smooth_weights(self, rounds, amount=0.5, only=None):
        """Spreads weights over neighbouring vertices."""
        edges, _ = self._edges()
        near = [[] for _ in self.points]
        for a, b in edges:
            near[a].append(b)
            near[b].append(a)
        for _ in range(rounds):
            old = list(self.weights)
            for i, js in enumerate(near):
                if js and (only is None or only(self.points[i])):
                    mean = sum(old[j] for j in js) / len(js)
                    self.weights[i] = old[i] * (1.0 - amount) + mean * amount
        return self

    def triangles(self):
        """Triangles with their paints; quads are cut along the shorter diagonal."""
        out, paints = [], []
        for face, paint in zip(self.faces, self.paints):
            if len(face) == 4:
                a, b, c, d = face
                p = self.points
                ac, bd = p[a] - p[c], p[b] - p[d]
                if float((ac * ac).sum()) <= float((bd * bd).sum()) + 1e-9:
                    cut = [(a, b, c), (a, c, d)]
                else:
                    cut = [(b, c, d), (b, d, a)]
            else:
                cut = [face]
            out += cut
            paints += [paint] * len(cut)
        return out, paints

    def normals(self):
        """Smooth vertex normals: face normals weighted by the angle at the vertex."""
        out = np.zeros((len(self.points), 3))
        for face in self.faces:
            n = len(face)
            for k in range(n):
                p = self.points[face[k]]
                a = self.points[face[(k + 1) % n]] - p
                b = self.points[face[k - 1]] - p
                area = np.cross(a, b)
                size = math.sqrt(float((area * area).sum()))
                if size > 1e-14:
                    angle = math.atan2(size, float((a * b).sum()))
                    out[face[k]] += area / size * angle
        return np.array([unit(v) if (v * v).sum() > 1e-12 else vec(0, 1, 0) for v in out])

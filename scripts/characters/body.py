"""From painted meshes to the primitives of a glTF mesh: splits, occlusion, packed weights."""

import math

import numpy as np

from .linalg import unit


def linear(srgb):
    """sRGB bytes to linear numbers (IEC 61966-2-1)."""
    out = []
    for c in srgb:
        c /= 255.0
        out.append(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
    return np.array(out)


def directions(count):
    """Points spread evenly over the sphere (Fibonacci), turned so that none lies in an axis plane."""
    out = []
    for k in range(count):
        y = 1.0 - 2.0 * (k + 0.5) / count
        r = math.sqrt(1.0 - y * y)
        a = math.pi * (3.0 - math.sqrt(5.0)) * k + 0.3217
        v = np.array([r * math.cos(a), y, r * math.sin(a)])
        out.append(unit(v + np.array([0.0137, 0.0071, -0.0113])))
    return out


def occlusion(points, normals, triangles, reach=0.22, rays=48):
    """How open each vertex is to its surroundings, 0..1, by casting rays at the triangles.

    Rays that leave within `reach` count as open; a hit nearby counts more than a far one
    (Moeller and Trumbore's test, 1997).
    """
    a, b, c = (np.array([points[t[k]] for t in triangles]) for k in range(3))
    ab, ac = b - a, c - a
    fan = directions(rays)
    out = np.ones(len(points))
    for i, p in enumerate(points):
        n = normals[i]
        origin = p + n * 0.004
        shut = total = 0.0
        near = np.nonzero(((a - origin) ** 2).sum(axis=1) < (reach + 0.1) ** 2)[0]
        na, nab, nac = a[near], ab[near], ac[near]
        from_a = origin - na
        q = np.cross(from_a, nab)
        for d in fan:
            facing = float((d * n).sum())
            if facing <= 0.05:
                continue
            total += facing
            h = np.cross(d, nac)
            det = (nab * h).sum(axis=1)
            safe = np.where(np.abs(det) > 1e-12, det, 1.0)
            u = (from_a * h).sum(axis=1) / safe
            v = (q * d).sum(axis=1) / safe
            t = (q * nac).sum(axis=1) / safe
            hit = (np.abs(det) > 1e-12) & (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 1e-4) & (t < reach)
            if hit.any():
                shut += facing * (1.0 - float(t[hit].min()) / reach) ** 0.5
        out[i] = 1.0 - shut / total
    return out


def packed_weights(row):
    """The four strongest bones as bytes that sum to 255, strongest first."""
    order = sorted(range(len(row)), key=lambda b: (-round(float(row[b]), 6), b))[:4]
    kept = np.array([row[b] if row[b] > 0.012 else 0.0 for b in order])
    kept = kept / kept.sum()
    whole = [int(math.floor(w * 255.0 + 0.5 - 1e-7)) for w in kept]
    whole[0] += 255 - sum(whole)
    return [b if w else 0 for b, w in zip(order, whole)], whole


def primitives(mesh, paints, darkest=0.45):
    """One primitive for painted skin and cloth that stays, one for what the tint multiplies.

    A paint is (sRGB or a function of the bind position that gives it, tinted or not).
    """
    triangles, painted = mesh.triangles()
    normals = mesh.normals()
    open_sky = occlusion(mesh.points, normals, triangles)
    out = []
    for tinted in (False, True):
        vertices, index, tris = [], {}, []
        for t, p in zip(triangles, painted):
            if paints[p][1] != tinted:
                continue
            corner = []
            for i in t:
                key = (i, p)
                if key not in index:
                    index[key] = len(vertices)
                    vertices.append(key)
                corner.append(index[key])
            tris.append(corner)
        if not tris:
            continue
        colors, joints, weights = [], [], []
        for i, p in vertices:
            shade = darkest + (1.0 - darkest) * open_sky[i]
            paint = paints[p][0]
            rgb = linear(paint(mesh.points[i]) if callable(paint) else paint)
            rgb = np.floor(np.minimum(rgb * shade, 1.0) * 255.0 + 0.5 - 1e-7)
            colors.append([int(rgb[0]), int(rgb[1]), int(rgb[2]), 255])
            js, ws = packed_weights(mesh.weights[i])
            joints.append(js)
            weights.append(ws)
        out.append(
            {
                "positions": [mesh.points[i] for i, _ in vertices],
                "normals": [normals[i] for i, _ in vertices],
                "colors": np.array(colors, dtype=np.uint8),
                "joints": np.array(joints, dtype=np.uint8),
                "weights": np.array(weights, dtype=np.uint8),
                "triangles": tris,
                "material": 1 if tinted else 0,
            }
        )
    return out


def materials(tinted_name):
    """What primitives() numbers: colours stand in COLOR_0, already linear."""

    def entry(name, roughness):
        return {
            "name": name,
            "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": roughness},
        }

    return [entry("body", 0.8), entry(tinted_name, 0.9)]

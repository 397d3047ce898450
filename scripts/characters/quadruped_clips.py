"""The quadruped's clips that stay in place or turn: idle, jump, turns, sit, howl."""

import math

from .linalg import Y, axis_angle, rotate, smoothstep, vec
from .motion import Clip, Curve, cycle, notifies, over, planted
from .quadruped_gait import LEGS, run_fwd, walk_fwd
from .quadruped_rig import FRONT, HIND, controls, mirrored, paw, pose
from .skeleton import Pose

G = 9.81


def on_all(seconds):
    return planted(seconds, False, *((leg, 0.0, seconds) for leg in LEGS))


def standing():
    c = controls()
    c.pelvis = vec(0, -0.008, 0)
    c.chest = (0.0, 0.0, 0.0)
    c.neck, c.head = (4.0, 0.0, 0.0), (4.0, 0.0, 0.0)
    return c


def idle(skeleton, rest):
    seconds = 5.0
    breath = Curve(
        [(0.0, -1.0), (0.14, 1.0), (0.25, -1.0), (0.39, 1.0), (0.5, -1.0), (0.64, 1.0), (0.75, -1.0), (0.89, 1.0)],
        period=1.0,
    )
    shift = cycle((0.0, -0.4), (0.30, 1.0), (0.50, 0.8), (0.78, -1.0))
    look = cycle((0.0, 0.0), (0.12, 2.0), (0.22, 30.0), (0.44, 28.0), (0.56, -22.0), (0.80, -20.0), (0.92, -1.0))
    nod = cycle((0.0, 3.0), (0.26, -1.0), (0.48, 0.0), (0.60, 7.0), (0.82, 6.0))
    tilt = cycle((0.0, 0.0), (0.26, 3.0), (0.46, 4.0), (0.64, -9.0), (0.78, -8.0))
    wag = Curve([(k / 16.0, 11.0 if k % 2 else -11.0) for k in range(16)], period=1.0)
    force = cycle((0.0, 0.3), (0.24, 1.0), (0.46, 0.7), (0.60, 0.25), (0.90, 0.25))
    flick = cycle((0.0, 0.0), (0.33, 0.0), (0.36, 22.0), (0.41, -3.0), (0.46, 0.0), (0.95, 0.0))

    def at(t):
        u = t / seconds
        c = standing()
        w, b = shift(u), breath(u)
        c.pelvis = vec(0.012 * w, -0.010 + 0.001 * b, 0.003 * w)
        c.hips = (0.0, -1.0 * w, 2.2 * w)
        c.chest = (-0.5 * b, 1.5 * w, 0.8 * w)
        turn = look(u)
        c.neck = (2.0 - 0.8 * b, 0.45 * turn, 0.0)
        c.head = (nod(u), turn, tilt(u))
        c.ears = (flick(u), 0.4 * flick(u - 0.02) + 4.0 * force(u))
        c.jaw = 4.0 + 2.0 * breath(u - 0.03)
        c.tail = tuple((4.0 * force(u) - 2.0 * k, wag(u - 0.02 * k) * force(u) * (0.8 + 0.25 * k)) for k in range(4))
        return pose(skeleton, c)

    return Clip(
        skeleton, "idle", seconds, at, rest, loop=True, root_motion=False, notifies=[], sync=[], planted=on_all(seconds)
    )


def jump(skeleton, rest):
    """A hop on the spot: crouch, push with the hind legs, a parabola, fore paws land first."""
    seconds, off, on = 1.5, 0.46, 0.90
    start, end = 0.030, -0.020
    lift = (end - start) / (on - off) + G * (on - off) / 2.0
    rise = Curve([(0.0, -0.008), (0.26, -0.120), (0.31, -0.116), (off, start)], ends=(0.0, lift))
    fall = Curve(
        [(on, end), (1.05, -0.098), (1.11, -0.092), (1.34, 0.0), (seconds, -0.008)], ends=(lift - G * (on - off), 0.0)
    )

    def height(t):
        if t < off:
            return rise(t)
        if t < on:
            return start + lift * (t - off) - 0.5 * G * (t - off) ** 2
        return fall(t)

    pitch = over(
        (0.0, 0.0),
        (0.24, 4.0),
        (0.32, 0.0),
        (off, -27.0),
        (0.58, -21.0),
        (0.74, 2.0),
        (on, 10.0),
        (1.05, 4.0),
        (1.30, -1.5),
        (seconds, 0.0),
    )
    flex = over(
        (0.0, 0.0), (0.27, 16.0), (off, -14.0), (0.66, 10.0), (0.84, -6.0), (1.06, 16.0), (1.32, -2.0), (seconds, 0.0)
    )
    neck = over(
        (0.0, 4.0), (0.26, 20.0), (off, -4.0), (0.70, 8.0), (on, 4.0), (1.06, 18.0), (1.32, 2.0), (seconds, 4.0)
    )
    head = over((0.0, 4.0), (0.26, 10.0), (off, -14.0), (0.72, 10.0), (on, 14.0), (1.08, 10.0), (seconds, 4.0))
    fold = over((0.34, 0.0), (0.56, 1.0), (0.72, 0.9), (0.86, 0.0), (seconds, 0.0))
    tuck = over((off, 0.0), (0.64, 0.55), (0.76, 1.0), (0.86, 0.8), (0.95, 0.0), (seconds, 0.0))
    ears = over((0.0, 0.0), (0.26, 16.0), (0.50, 34.0), (0.75, 4.0), (1.0, -6.0), (1.14, 18.0), (seconds, 0.0))
    tails = over((0.0, 0.0), (0.26, 8.0), (0.50, -16.0), (0.74, 12.0), (1.0, 22.0), (1.14, -6.0), (1.34, 0.0))
    # Fore paws leave early and land early; hind paws do what the pelvis does.
    fore_off, fore_on = 0.36, 0.88

    def at(t):
        c = standing()
        up, p, f = height(t), pitch(t), flex(t)
        c.pelvis = vec(0, up, -0.05 * smoothstep(0.0, 0.12, -up))
        c.hips, c.chest = (p - 0.5 * f, 0, 0), (p + 0.5 * f, 0, 0)
        c.neck, c.head = (neck(t), 0, 0), (head(t) + 0.25 * p, 0, 0)
        c.ears = (ears(t), ears(t - 0.03))
        c.jaw = 3.0 + 6.0 * fold(t)
        c.tail = tuple((tails(t - 0.045 * k), 0.0) for k in range(4))
        hop = over((fore_off, 0.0), (off, 0.60), (0.62, 1.0), (0.74, 0.84), (fore_on, 0.0))(t)
        front = over((fore_off, 0.0), (off, 0.06), (0.62, 0.07), (fore_on, 0.0))(t)
        high = hop * 0.43 if fore_off < t < fore_on else 0.0
        bend = fold(t)
        c.fl = c.fr = paw(
            FRONT + vec(0, high, front), 84.0 * bend, -20.0 * bend + (1 - bend) * 84.0 * bend, 14.0 * bend
        )
        heel = over((0.30, 0.0), (off, 46.0), (0.60, 56.0), (0.78, 6.0), (on, -6.0), (1.0, 0.0))(t)
        if off < t < on:
            toes = heel * (1.0 - smoothstep(off, off + 0.08, t)) - 14.0 * tuck(t)
            c.hl = c.hr = paw(HIND + vec(0, max(up - start + 0.10 * tuck(t), 0.0), -0.03 * tuck(t)), heel, toes)
        else:
            c.hl = c.hr = paw(HIND, heel)
        return pose(skeleton, c)

    return Clip(
        skeleton,
        "jump",
        seconds,
        at,
        rest,
        loop=False,
        root_motion=False,
        notifies=notifies(
            ("takeoff", off),
            ("footstep_fl", fore_on),
            ("footstep_fr", fore_on),
            ("footstep_hl", on),
            ("footstep_hr", on),
            ("land", on),
        ),
        sync=[],
        planted=planted(
            seconds,
            False,
            *((leg, 0.0, fore_off if leg[0] == "f" else off) for leg in LEGS),
            *((leg, fore_on if leg[0] == "f" else on, seconds) for leg in LEGS),
        ),
    )


def turn(skeleton, rest, name, flipped):
    """A quarter turn on the spot, leading with the head; four steps."""
    seconds, angle = 1.4, 90.0
    facing = over((0.0, 0.0), (0.08, 3.0), (0.92, 87.0), (1.0, angle))
    # Two rounds of four steps, an eighth of a turn each.
    steps = {
        "fl": ((0.05, 0.21), (0.49, 0.65)),
        "hr": ((0.13, 0.29), (0.57, 0.73)),
        "fr": ((0.27, 0.43), (0.71, 0.87)),
        "hl": ((0.35, 0.51), (0.79, 0.95)),
    }
    bend = over((0.0, 0.0), (0.18, 14.0), (0.60, 13.0), (0.92, 2.0), (1.0, 0.0))
    look = over((0.0, 0.0), (0.16, 36.0), (0.50, 30.0), (0.85, 6.0), (1.0, 0.0))
    drop = over(
        (0.0, -0.008), (0.15, -0.028), (0.30, -0.022), (0.45, -0.030), (0.60, -0.022), (0.80, -0.028), (1.0, -0.008)
    )
    roll = over((0.0, 0.0), (0.14, -2.0), (0.36, 2.0), (0.58, -2.0), (0.80, 2.0), (1.0, 0.0))
    swish = over((0.0, 0.0), (0.26, 16.0), (0.58, 12.0), (0.74, -4.0), (0.85, 0.0))

    def step(leg, u):
        start, end = steps[leg][0 if u < steps[leg][1][0] else 1]
        done = sum(smoothstep(a, b, u) for a, b in steps[leg]) / 2.0
        part = min(max((u - start) / (end - start), 0.0), 1.0)
        yaw = angle * done * (1.0 if leg[1] == "l" else -1.0)
        high = Curve([(0.0, 0.0), (0.45, 0.062), (1.0, 0.0)])(part)
        lean = over((0.0, 0.0), (0.40, 26.0), (0.80, -3.0), (1.0, 0.0))(part)
        base = FRONT if leg[0] == "f" else HIND
        mine = c_yaw(u) * (1.0 if leg[1] == "l" else -1.0)
        return paw(
            rotate(axis_angle(Y, yaw), base + vec(0, high, 0)),
            lean,
            lean * (1.0 - smoothstep(0.1, 0.3, part)),
            6.0 * math.sin(math.pi * part),
            yaw - mine,
        )

    def c_yaw(u):
        return facing(u)

    def at(t):
        u = t / seconds
        c = standing()
        c.yaw = facing(u)
        c.pelvis = vec(0.0, drop(u), 0.0)
        c.hips, c.chest = (0.0, -0.5 * bend(u), roll(u)), (0.0, 0.5 * bend(u), 0.6 * roll(u))
        c.neck, c.head = (4.0, 0.5 * look(u), 0.0), (5.0, look(u), -0.12 * look(u))
        c.ears = (6.0 * abs(roll(u)), 4.0)
        c.jaw = 3.0
        c.tail = tuple((2.0, -swish(u - 0.05 * k)) for k in range(4))
        for leg in LEGS:
            setattr(c, leg, step(leg, u))
        return pose(skeleton, mirrored(c) if flipped else c)

    other = {"l": "r", "r": "l"}
    landed = [
        (f"footstep_{leg[0]}{other[leg[1]] if flipped else leg[1]}", end * seconds)
        for leg, rounds in steps.items()
        for _, end in rounds
    ]
    return Clip(
        skeleton,
        name,
        seconds,
        at,
        rest,
        loop=True,
        root_motion=True,
        turn_degrees=-angle if flipped else angle,
        notifies=notifies(*landed),
        sync=[],
        planted=planted(
            seconds,
            False,
            *(
                (leg[0] + other[leg[1]] if flipped else leg, a * seconds, b * seconds)
                for leg, (one, two) in steps.items()
                for a, b in ((0.0, one[0]), (one[1], two[0]), (two[1], 1.0))
            ),
        ),
    )


def sit(skeleton, rest):
    """Sits down, tilts its head at you, gets up again."""
    seconds = 4.0
    down = over((0.0, 0.0), (0.14, -0.04), (0.75, 1.0), (3.05, 1.0), (3.75, 0.0), (seconds, 0.0))
    settle = over((0.55, 0.0), (0.80, 1.0), (1.05, 0.0))
    tilt = over((0.9, 0.0), (1.25, 17.0), (1.80, 15.0), (2.15, -16.0), (2.70, -14.0), (3.05, 0.0))
    look = over((0.0, 0.0), (0.5, -8.0), (1.0, -4.0), (2.9, -4.0), (3.6, 0.0))
    wag = Curve(
        [(0.0, 0.0)] + [(0.75 + 0.16 * k, 16.0 if k % 2 else -16.0) for k in range(14)] + [(3.15, 0.0), (seconds, 0.0)]
    )

    def at(t):
        c = standing()
        d, s = down(t), settle(t)
        c.pelvis = vec(0.0, -0.008 - 0.212 * d - 0.010 * s, 0.045 * d)
        c.hips = (-40.0 * d, 0.0, 0.0)
        c.chest = (-20.0 * d - 2.0 * s, 0.0, 0.18 * tilt(t))
        c.neck = (4.0 + 24.0 * d + 4.0 * s, 0.0, 0.0)
        c.head = (4.0 + look(t), 0.25 * tilt(t), tilt(t))
        c.ears = (-3.0 * d + 0.3 * max(tilt(t), 0.0), -3.0 * d + 0.3 * max(-tilt(t), 0.0))
        c.jaw = 3.0 + 5.0 * d
        c.hl = c.hr = paw(HIND, -66.0 * d)
        c.fl = c.fr = paw(FRONT + vec(0.0, 0.0, 0.0), -6.0 * d, blade=8.0 * d)
        c.tail = tuple((22.0 * d - 6.0 * k * d, wag(t - 0.035 * k) * d) for k in range(4))
        return pose(skeleton, c)

    return Clip(
        skeleton,
        "sit",
        seconds,
        at,
        rest,
        loop=False,
        root_motion=False,
        notifies=notifies(("sit", 0.75)),
        sync=[],
        planted=on_all(seconds),
    )


def howl(skeleton, rest):
    """Stands square, throws its head up and howls."""
    seconds = 3.6
    up = over((0.0, 0.0), (0.30, -0.22), (0.90, 1.0), (2.55, 1.0), (3.25, 0.0), (seconds, 0.0))
    voice = over((0.0, 0.0), (0.70, 0.0), (1.0, 1.0), (1.7, 0.85), (2.40, 1.0), (2.70, 0.0), (seconds, 0.0))
    quiver = Curve(
        [(0.0, 0.0)] + [(1.0 + 0.11 * k, 1.0 if k % 2 else -1.0) for k in range(14)] + [(2.7, 0.0), (seconds, 0.0)]
    )

    def at(t):
        c = standing()
        u, v = up(t), voice(t)
        c.pelvis = vec(0.0, -0.008 - 0.024 * u, -0.015 * u)
        c.hips, c.chest = (-1.5 * u, 0.0, 0.0), (-8.0 * u, 0.0, 0.0)
        c.neck = (4.0 - 22.0 * u, 0.0, 0.0)
        c.head = (4.0 - 62.0 * u + 0.8 * quiver(t), 0.0, 1.5 * quiver(t - 0.05) * v)
        c.jaw = 22.0 * v + 0.8 * quiver(t) * v
        c.ears = (34.0 * max(u, 0.0), 34.0 * max(u, 0.0))
        c.tail = tuple((-5.0 * u - 1.5 * k * u, 2.0 * quiver(t - 0.08 * k)) for k in range(4))
        return pose(skeleton, c)

    return Clip(
        skeleton,
        "howl",
        seconds,
        at,
        rest,
        loop=False,
        root_motion=False,
        notifies=notifies(("howl", 0.95)),
        sync=[],
        planted=on_all(seconds),
    )


def build(skeleton):
    rest = Pose(skeleton).locals()
    return [
        idle(skeleton, rest),
        walk_fwd(skeleton, rest),
        run_fwd(skeleton, rest),
        turn(skeleton, rest, "turn_left", False),
        turn(skeleton, rest, "turn_right", True),
        jump(skeleton, rest),
        sit(skeleton, rest),
        howl(skeleton, rest),
    ]

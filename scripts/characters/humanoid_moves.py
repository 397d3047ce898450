"""The humanoid's jump and turns."""

from .humanoid_rig import SOLE, arm, mirrored, pose
from .humanoid_stance import STANCE, TOE_OUT, standing, standing_foot
from .linalg import X, Y, axis_angle, mul, rotate, smoothstep, vec
from .motion import Clip, Curve, notifies, over, planted

G = 9.81


def jump(skeleton, rest):
    """Anticipation, push, 0.47 s of flight on a parabola, landing, recovery."""
    off, on, seconds = 0.5, 29 / 30, 1.7
    start, end = 0.050, -0.025
    lift = (end - start) / (on - off) + G * (on - off) / 2.0
    rise = Curve([(0.0, -0.004), (0.30, -0.270), (0.36, -0.262), (off, start)], ends=(0.0, lift))
    fall = Curve(
        [(on, end), (1.13, -0.240), (1.20, -0.228), (1.48, -0.005), (seconds, -0.004)],
        ends=(lift - G * (on - off), 0.0),
    )

    def height(t):
        if t < off:
            return rise(t)
        if t < on:
            return start + lift * (t - off) - 0.5 * G * (t - off) ** 2
        return fall(t)

    pitch = over(
        (0.0, 0.0), (0.30, 0.0), (off, 46.0), (0.60, 50.0), (0.80, 22.0), (on, 26.0), (1.04, 0.0), (seconds, 0.0)
    )
    tuck = over((off, 0.0), (0.70, 0.105), (0.80, 0.105), (0.90, 0.065), (on, 0.0))
    lean = over(
        (0.0, 2.0),
        (0.30, 34.0),
        (0.38, 32.0),
        (off, 2.0),
        (0.72, 8.0),
        (on, 10.0),
        (1.14, 30.0),
        (1.22, 29.0),
        (1.50, 1.0),
        (seconds, 2.0),
    )
    chest = over(
        (0.0, 1.0),
        (0.28, 38.0),
        (0.38, 30.0),
        (off, -8.0),
        (0.68, 2.0),
        (on, 10.0),
        (1.15, 36.0),
        (1.24, 34.0),
        (1.52, -1.0),
        (seconds, 1.0),
    )
    head = over(
        (0.0, 1.0), (0.28, 14.0), (0.42, -10.0), (0.60, -8.0), (0.85, 10.0), (1.10, 16.0), (1.50, 0.0), (seconds, 1.0)
    )
    ahead = over(
        (0.0, 0.0),
        (0.30, -0.095),
        (off, 0.085),
        (on, 0.080),
        (1.14, -0.085),
        (1.22, -0.080),
        (1.50, 0.0),
        (seconds, 0.0),
    )
    swing = over(
        (0.0, 3.0),
        (0.27, -58.0),
        (0.36, -56.0),
        (0.53, 128.0),
        (0.64, 140.0),
        (0.84, 92.0),
        (1.02, 52.0),
        (1.18, -14.0),
        (1.30, -16.0),
        (1.52, 8.0),
        (seconds, 3.0),
    )
    elbow = over(
        (0.0, 16.0), (0.28, 22.0), (0.44, 58.0), (0.56, 32.0), (0.84, 40.0), (1.16, 48.0), (1.50, 18.0), (seconds, 16.0)
    )
    out = over((0.0, 9.0), (0.30, 18.0), (0.54, 14.0), (0.80, 30.0), (1.10, 30.0), (1.50, 10.0), (seconds, 9.0))

    def at(t):
        c = standing()
        up = height(t)
        c.pelvis = vec(0, up, ahead(t))
        c.hips, c.chest, c.head = (lean(t), 0, 0), (chest(t), 0, 0), (head(t), 0, 0)
        f = standing_foot(pitch(t))
        if off < t < on:
            f.ankle = standing_foot(pitch(t)).ankle + vec(0, up - start + tuck(t), 0)
            f.toes = max(pitch(t), 0.0) * (1.0 - smoothstep(off, off + 0.10, t)) + 20.0 * smoothstep(on - 0.12, on, t)
        c.foot_l = c.foot_r = f
        for side in "lr":
            setattr(
                c,
                f"arm_{side}",
                arm(
                    forward=swing(t),
                    out=out(t),
                    turn=14,
                    elbow=elbow(t),
                    roll=8,
                    flex=6 - swing(t - 0.05) * 0.05,
                    hand=("relaxed", "soft_fist", smoothstep(0.1, 0.3, t) * (1 - smoothstep(0.45, 0.6, t))),
                ),
            )
            setattr(
                c, f"shoulder_{side}", (over((0.0, 0.0), (0.3, -2.0), (0.56, 12.0), (1.0, 4.0), (seconds, 0.0))(t), 0.0)
            )
        return pose(skeleton, c)

    return Clip(
        skeleton,
        "jump",
        seconds,
        at,
        rest,
        loop=False,
        root_motion=False,
        notifies=notifies(("takeoff", off), ("land", on), ("footstep_l", on), ("footstep_r", on)),
        sync=[],
        planted=planted(seconds, False, *((foot, a, b) for foot in "lr" for a, b in ((0.0, off), (on, seconds)))),
    )


def swapped(foot):
    return "r" if foot == "l" else "l"


def turn(skeleton, rest, name, flipped):
    """A quarter turn to the left in two steps; to the right it is the mirror image."""
    seconds, angle = 1.2, 90.0
    facing = over((0.0, 0.0), (0.10, 3.0), (0.46, 46.0), (0.86, 87.0), (1.0, angle))
    steps = {"l": (0.12, 0.46), "r": (0.50, 0.86)}
    drop = over(
        (0.0, -0.004), (0.16, -0.034), (0.32, -0.020), (0.49, -0.040), (0.68, -0.022), (0.88, -0.034), (1.0, -0.004)
    )
    sway = over((0.0, 0.0), (0.16, -0.042), (0.34, -0.034), (0.52, 0.036), (0.72, 0.036), (0.90, 0.010), (1.0, 0.0))
    hip = over((0.0, 0.0), (0.20, 4.0), (0.48, -2.0), (0.76, 4.0), (1.0, 0.0))
    chest = over((0.0, 0.0), (0.22, 14.0), (0.50, 6.0), (0.74, 6.0), (1.0, 0.0))
    look = over((0.0, 0.0), (0.16, 26.0), (0.40, 24.0), (0.80, 5.0), (1.0, 0.0))
    roll = over((0.0, 0.0), (0.16, -2.0), (0.30, -3.5), (0.52, 1.5), (0.68, 4.0), (0.90, 0.5), (1.0, 0.0))
    arms = over((0.0, 0.0), (0.28, 1.0), (0.66, -0.8), (0.94, 0.0))

    def step(side, u):
        """Foot in model space, given as the left one's or mirrored."""
        start, end = steps[side]
        done = smoothstep(start, end, u)
        part = min(max((u - start) / (end - start), 0.0), 1.0)
        yaw = angle * done * (1.0 if side == "l" else -1.0)
        lift = Curve([(0.0, 0.0), (0.40, 0.085), (0.60, 0.080), (1.0, 0.0)])(part)
        pitch = over((0.0, 0.0), (0.15, 16.0), (0.45, 14.0), (0.80, -6.0), (1.0, 0.0))(part)
        f = standing_foot(0.0)
        ankle, _ = SOLE.placed(pitch, TOE_OUT, STANCE)
        about = axis_angle(Y, yaw)
        f.ankle = rotate(about, ankle) + vec(0, lift, 0)
        f.turn = axis_angle(Y, yaw + TOE_OUT)
        f.turn = mul(f.turn, axis_angle(X, pitch))
        f.toes = max(pitch, 0.0) * (1.0 - smoothstep(0.15, 0.4, part))
        return f

    def at(t):
        u = t / seconds
        c = standing()
        c.yaw = facing(u)
        c.pelvis = vec(sway(u), drop(u), 0.0)
        c.hips = (2.5, hip(u), roll(u))
        c.chest = (2.0, chest(u), -0.5 * roll(u))
        c.head = (2.0, look(u), 0.3 * roll(u))
        c.foot_l, c.foot_r = step("l", u), step("r", u)
        for side, s in (("l", 1.0), ("r", -1.0)):
            w = arms(u - 0.04) * s
            setattr(
                c,
                f"arm_{side}",
                arm(forward=3 - 9 * w, out=11 + 3 * abs(w), turn=14, elbow=18 + 6 * abs(w), roll=8, flex=6 + 4 * w),
            )
        if flipped:
            c = mirrored(c)
        return pose(skeleton, c)

    first, second = ("r", "l") if flipped else ("l", "r")
    return Clip(
        skeleton,
        name,
        seconds,
        at,
        rest,
        loop=True,
        root_motion=True,
        turn_degrees=-angle if flipped else angle,
        notifies=notifies(
            (f"footstep_{first}", steps["l"][1] * seconds), (f"footstep_{second}", steps["r"][1] * seconds)
        ),
        sync=[],
        planted=planted(
            seconds,
            False,
            *(
                (swapped(foot) if flipped else foot, a * seconds, b * seconds)
                for foot, (up, down) in steps.items()
                for a, b in ((0.0, up), (down, 1.0))
            ),
        ),
    )

"""The humanoid's clips, and those of them that stay in place: idle, wave, aim."""

from . import humanoid_gait, humanoid_moves
from .humanoid_rig import arm, pose
from .humanoid_stance import breathe, on_both, standing
from .linalg import unit, vec
from .motion import Clip, Curve, cycle, notifies, over
from .skeleton import Pose


def lean(c, w):
    """The weight goes over to the left foot, to the right one below zero, -1..1."""
    c.pelvis = vec(0.030 * w, -0.005 - 0.006 * abs(w), 0.004 * w)
    c.hips = (2.0, 2.5 * w, 3.2 * w)


# How far idling leans where it begins: what is a difference from there leaves the legs alone.
IDLE_LEAN = 0.15


def idle(skeleton, rest):
    seconds = 5.0
    breath = Curve([(0.0, -1.0), (0.19, 1.0), (0.27, 0.9), (0.5, -1.0), (0.70, 1.0), (0.78, 0.9)], period=1.0)
    shift = cycle((0.0, IDLE_LEAN), (0.16, 0.85), (0.42, 1.0), (0.62, -0.75), (0.86, -0.95))
    look = cycle((0.0, 1.0), (0.22, 3.0), (0.34, 15.0), (0.52, 14.0), (0.64, -9.0), (0.84, -7.0))
    nod = cycle((0.0, 1.0), (0.30, -1.5), (0.55, 2.5), (0.80, 0.5))

    def at(t):
        u = t / seconds
        w, late = shift(u), shift(u - 0.03)
        c = standing()
        lean(c, w)
        c.chest = (1.0, 1.0 * late, -2.2 * late)
        c.head = (nod(u), look(u), 1.4 * late)
        for side, s in (("l", 1.0), ("r", -1.0)):
            lag = shift(u - 0.06) * s
            setattr(
                c,
                f"arm_{side}",
                arm(
                    forward=3 + 1.6 * lag,
                    out=9.5 - 1.2 * lag,
                    turn=14,
                    elbow=17 + 2.5 * lag + 1.2 * breath(u - 0.05),
                    roll=8,
                    flex=6 - 2.0 * lag,
                ),
            )
            setattr(c, f"shoulder_{side}", (-1.0 * late * s, 0.0))
        breathe(c, breath(u))
        return pose(skeleton, c)

    return Clip(
        skeleton,
        "idle",
        seconds,
        at,
        rest,
        loop=True,
        root_motion=False,
        notifies=[],
        sync=[],
        planted=on_both(seconds),
    )


def wave(skeleton, rest):
    """Weight to the left, the right arm goes up and waves three times."""
    seconds = 3.0
    raised = over((0.0, 0.0), (0.12, -0.05), (0.50, 1.0), (2.20, 1.0), (2.85, 0.0), (seconds, 0.0))
    bent = over((0.0, 0.0), (0.10, 0.0), (0.40, 1.12), (0.58, 1.0), (2.20, 1.0), (2.80, 0.0), (seconds, 0.0))
    beat = over(
        (0.50, 0.0), (0.74, 1.0), (1.02, -1.0), (1.30, 1.0), (1.58, -1.0), (1.86, 0.85), (2.12, -0.5), (2.35, 0.0)
    )
    weight = over((0.0, 0.0), (0.55, 1.0), (2.20, 0.9), (2.85, 0.0), (seconds, 0.0))
    look = over((0.0, 0.0), (0.30, 0.6), (0.60, 1.0), (2.30, 1.0), (2.90, 0.0), (seconds, 0.0))

    def at(t):
        c = standing()
        w, up, b = weight(t), raised(t), beat(t)
        late = beat(t - 0.07)
        c.pelvis = vec(0.030 * w, -0.004 - 0.007 * w, 0)
        c.hips = (2.0, -3.0 * w, 3.5 * w)
        c.chest = (1.0 - 2.5 * w, -7.0 * w, -3.5 * w + 0.8 * b * up)
        c.head = (1.0 - 4.0 * look(t), -9.0 * look(t), 5.0 * look(t) + 1.0 * late)
        c.shoulder_r = (5.0 * up, 0.0)
        c.arm_r = arm(
            forward=3 + 12 * up,
            out=9 + 76 * up,
            turn=14 - (96 - 14 * b) * up * 1.0,
            elbow=16 + 72 * bent(t) + 8 * b * up,
            roll=8 * (1 - up) - 6 * up,
            flex=6 * (1 - up) - 6 * up,
            tilt=(-16 * late) * up,
            hand=("relaxed", "open", max(up, 0.0)),
        )
        c.arm_l = arm(forward=3 - 2 * w, out=9 + 3 * w, turn=14, elbow=16 + 4 * w, roll=8, flex=6)
        breathe(c, 0.5 * w)
        return pose(skeleton, c)

    return Clip(
        skeleton,
        "wave",
        seconds,
        at,
        rest,
        loop=False,
        root_motion=False,
        notifies=notifies(("wave", 0.74)),
        sync=[],
        planted=on_both(seconds),
    )


def aim_pose(skeleton, rest):
    """Both hands out in front at eye height, legs and hips as idling begins, breathing."""
    seconds = 3.0
    breath = cycle((0.0, -1.0), (0.40, 1.0), (0.52, 0.9))
    drift = cycle((0.0, 0.0), (0.27, 1.0), (0.70, -0.8))

    def at(t):
        u = t / seconds
        c = standing()
        lean(c, IDLE_LEAN)
        c.chest, c.head = (5.0, -13.0 + 0.5 * drift(u), 0.0), (4.0, 0.0, 3.0)
        breathe(c, 0.6 * breath(u))
        c.shoulder_l = (c.shoulder_l[0] + 5.0, 14.0)
        c.shoulder_r = (c.shoulder_r[0] + 6.0, 9.0)
        hold = vec(0.002 * drift(u - 0.1), 1.475 + 0.006 * breath(u - 0.06) - 0.003 * drift(u), 0.42)
        c.arm_r = arm(
            to=(hold + vec(-0.020, 0.0, 0.005), unit(vec(0.04, 0.03, 1.0)), vec(1, 0, 0), vec(-0.85, -0.7, 0.0)),
            hand="grip",
        )
        c.arm_l = arm(
            to=(
                hold + vec(0.046, -0.020, -0.010),
                unit(vec(-0.34, 0.10, 1.0)),
                unit(vec(-0.9, 0.25, -0.3)),
                vec(0.75, -0.8, 0.0),
            ),
            hand="grip",
        )
        return pose(skeleton, c)

    return Clip(
        skeleton,
        "aim_pose",
        seconds,
        at,
        rest,
        loop=True,
        root_motion=False,
        notifies=[],
        sync=[],
        planted=on_both(seconds),
    )


def build(skeleton):
    rest = Pose(skeleton).locals()
    return [
        idle(skeleton, rest),
        humanoid_gait.walk_fwd(skeleton, rest),
        humanoid_gait.walk_back(skeleton, rest),
        humanoid_gait.run_fwd(skeleton, rest),
        humanoid_gait.run_back(skeleton, rest),
        humanoid_moves.jump(skeleton, rest),
        humanoid_moves.turn(skeleton, rest, "turn_left", False),
        humanoid_moves.turn(skeleton, rest, "turn_right", True),
        wave(skeleton, rest),
        aim_pose(skeleton, rest),
    ]

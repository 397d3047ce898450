"""Walking and running: one stride as key poses, feet placed against the ground.

Phase 0 is the left foot's contact, 0.5 the right's. A gait holds curves over the phase for the
left side; the right side is the same half a stride later.
"""

from types import SimpleNamespace

from .humanoid_rig import SOLE, arm, controls, foot, pose
from .linalg import vec
from .motion import Clip, Curve, cycle, notifies, planted


class Gait:
    """The path of one foot through a stride, relative to the moving root.

    While it stands the foot moves back at exactly the speed of the root, so it does not slide.
    """

    def __init__(self, speed, seconds, stance, ahead, width, pitch, swing, toe_out=6.0):
        self.speed, self.seconds, self.stance = speed, seconds, stance
        self.ahead, self.width, self.toe_out = ahead, width, toe_out
        self.pitch = cycle(*pitch)
        h = 1e-3
        off, before = self.standing(stance)[0], self.standing(stance - h)[0]
        on, after = self.standing(0.0)[0], self.standing(h)[0]
        keys = [(stance, off)] + [(t, vec(SOLE.ankle[0] + width, y, z)) for t, y, z in swing]
        keys.append((1.0, on))
        self.swing = Curve(keys, ends=((off - before) / h, (after - on) / h))

    def standing(self, phase):
        z = self.ahead - self.speed * self.seconds * phase
        return SOLE.placed(self.pitch(phase), self.toe_out, vec(self.width, 0.0, z))

    def foot(self, phase):
        """Ankle and turn in root space, and the toes' bend."""
        phase %= 1.0
        pitch = self.pitch(phase)
        if phase <= self.stance:
            ankle, turn = self.standing(phase)
            return ankle, turn, max(pitch, 0.0)
        _, turn = SOLE.placed(pitch, self.toe_out, vec(0, 0, 0))
        released = (phase - self.stance) / (1.0 - self.stance)
        bend = max(pitch, 0.0) * max(1.0 - released * 3.0, 0.0)
        return self.swing(phase), turn, max(bend, -8.0 if released > 0.6 else bend)


def stride(skeleton, rest, name, gait, body, backwards=False):
    """Bakes a looping clip; `body` maps curve names to curves over the phase.

    Backwards, the feet run through the same stride the other way round.
    """
    sign = -1.0 if backwards else 1.0
    speed = gait.speed * sign

    def at(seconds):
        phase = seconds / gait.seconds
        c = controls()
        c.root = vec(0, 0, speed * seconds)
        b = SimpleNamespace(**{k: v(phase) for k, v in body.items() if not k.startswith("arm")})
        c.pelvis = vec(b.sway, b.bob, b.surge)
        c.hips = (b.hip_pitch, b.hip_yaw, b.hip_roll)
        c.chest = (b.chest_pitch, b.chest_yaw, b.chest_roll)
        c.head = (b.head_pitch, b.head_yaw, b.head_roll)
        for side, shift in (("l", 0.0), ("r", 0.5)):
            ankle, turn, toes = gait.foot(sign * (phase + shift))
            setattr(c, f"foot_{side}", foot(ankle + c.root, turn, toes))
            a = {k[4:]: v(phase + shift) for k, v in body.items() if k.startswith("arm_")}
            lift = a.pop("lift", 0.0)
            brought = a.pop("brought", 0.0)
            setattr(c, f"shoulder_{side}", (lift, brought))
            setattr(c, f"arm_{side}", arm(hand=body["arm"], **a))
        return pose(skeleton, c)

    down = 0.0 if not backwards else (1.0 - gait.stance)
    seconds = gait.seconds
    left, right = down * seconds, (down + 0.5) % 1.0 * seconds
    return Clip(
        skeleton,
        name,
        seconds,
        at,
        rest,
        loop=True,
        root_motion=True,
        speed=round(speed, 4),
        notifies=notifies(("footstep_l", left), ("footstep_r", right)),
        sync=notifies(("left_down", left), ("right_down", right)),
        planted=planted(
            seconds, True, ("l", left, left + gait.stance * seconds), ("r", right, right + gait.stance * seconds)
        ),
    )


def twice(*keys):
    """A curve that repeats every step: keys over half a stride."""
    return cycle(*(keys + tuple((t + 0.5, v) for t, v in keys)))


def sided(*keys):
    """A curve whose second half is the first with its sign turned: for yaw, roll and sway."""
    return cycle(*(keys + tuple((t + 0.5, -v) for t, v in keys)))


def still(value):
    return lambda _: value


def walk_fwd(skeleton, rest):
    gait = Gait(
        speed=1.4,
        seconds=28 / 30,
        stance=17 / 28,
        ahead=0.300,
        width=-0.022,
        pitch=(
            (0.0, -19),
            (0.09, 0),
            (0.28, 0),
            (0.42, 14),
            (0.51, 32),
            (0.607, 60),
            (0.675, 69),
            (0.79, 22),
            (0.90, -14),
            (0.96, -21),
        ),
        swing=((0.68, 0.245, -0.275), (0.78, 0.190, -0.02), (0.88, 0.135, 0.22), (0.95, 0.132, 0.315)),
    )
    body = dict(
        bob=twice((0.02, -0.043), (0.09, -0.046), (0.30, -0.014), (0.40, -0.022)),
        sway=sided((0.05, 0.006), (0.25, 0.022), (0.45, 0.006)),
        surge=twice((0.0, 0.008), (0.25, -0.008)),
        hip_pitch=twice((0.0, 4.0), (0.12, 5.5), (0.30, 3.0)),
        hip_yaw=sided((0.02, -7.0), (0.14, -5.0), (0.34, 3.0)),
        hip_roll=sided((0.0, -0.5), (0.13, 4.5), (0.34, 1.5)),
        chest_pitch=twice((0.04, 3.0), (0.15, 4.0), (0.34, 2.0)),
        chest_yaw=sided((0.05, 8.0), (0.20, 4.5), (0.38, -4.0)),
        chest_roll=sided((0.0, 0.4), (0.16, -1.8), (0.36, -0.5)),
        head_pitch=twice((0.08, 2.0), (0.30, 0.5)),
        head_yaw=sided((0.06, 1.5), (0.30, -0.5)),
        head_roll=sided((0.15, 0.8), (0.40, 0.2)),
        arm_forward=cycle((0.04, -24), (0.28, -2), (0.54, 26), (0.78, 4)),
        arm_out=cycle((0.04, 10), (0.28, 8), (0.54, 7), (0.78, 8)),
        arm_turn=cycle((0.04, 6), (0.54, 22)),
        arm_elbow=cycle((0.10, 10), (0.30, 14), (0.60, 38), (0.80, 22)),
        arm_roll=cycle((0.06, 14), (0.56, 6)),
        arm_flex=cycle((0.14, 12), (0.40, -2), (0.64, 2), (0.86, 10)),
        arm_brought=cycle((0.05, -6), (0.55, 7)),
        arm="relaxed",
    )
    return stride(skeleton, rest, "walk_fwd", gait, body)


def run_fwd(skeleton, rest):
    gait = Gait(
        speed=3.75,
        seconds=20 / 30,
        stance=6 / 20,
        ahead=0.285,
        width=-0.055,
        toe_out=3.0,
        pitch=(
            (0.0, -10),
            (0.045, 0),
            (0.10, 0),
            (0.19, 20),
            (0.25, 42),
            (0.30, 66),
            (0.36, 86),
            (0.46, 98),
            (0.58, 84),
            (0.74, 24),
            (0.88, -8),
            (0.95, -14),
        ),
        swing=(
            (0.43, 0.370, -0.50),
            (0.56, 0.520, -0.42),
            (0.68, 0.440, -0.06),
            (0.80, 0.300, 0.28),
            (0.90, 0.190, 0.370),
        ),
    )
    body = dict(
        bob=twice((0.02, -0.050), (0.13, -0.090), (0.31, -0.034), (0.40, -0.014), (0.47, -0.034)),
        sway=sided((0.15, 0.010), (0.35, 0.003)),
        surge=twice((0.05, 0.0), (0.18, -0.012), (0.36, 0.010)),
        hip_pitch=twice((0.04, 10), (0.15, 12), (0.34, 7)),
        hip_yaw=sided((0.02, -9), (0.17, -3), (0.34, 9), (0.42, 11)),
        hip_roll=sided((0.0, -1.0), (0.13, 5.0), (0.30, 2.0)),
        chest_pitch=twice((0.06, 12), (0.16, 14), (0.36, 10)),
        chest_yaw=sided((0.02, 14), (0.18, 3), (0.36, -12), (0.44, -15)),
        chest_roll=sided((0.15, -2.5), (0.36, -0.5)),
        head_pitch=twice((0.10, 5), (0.34, 2)),
        head_yaw=sided((0.04, 3), (0.30, -2)),
        head_roll=sided((0.15, 1.0), (0.40, 0.0)),
        arm_forward=cycle((0.02, -52), (0.10, -50), (0.30, -6), (0.50, 40), (0.60, 40), (0.80, -4)),
        arm_out=cycle((0.04, 18), (0.54, 10)),
        arm_turn=cycle((0.04, 4), (0.54, 34)),
        arm_elbow=cycle((0.06, 82), (0.32, 76), (0.58, 104), (0.82, 84)),
        arm_roll=still(4.0),
        arm_flex=cycle((0.12, 12), (0.62, 0)),
        arm_brought=cycle((0.05, -10), (0.55, 12)),
        arm_lift=still(2.0),
        arm="soft_fist",
    )
    return stride(skeleton, rest, "run_fwd", gait, body)


def walk_back(skeleton, rest):
    gait = Gait(
        speed=1.0,
        seconds=30 / 30,
        stance=18 / 30,
        ahead=0.235,
        width=-0.012,
        pitch=((0.0, -12), (0.10, 0), (0.36, 0), (0.50, 14), (0.62, 36), (0.72, 30), (0.84, 4), (0.94, -13)),
        swing=((0.70, 0.190, -0.25), (0.80, 0.165, -0.02), (0.90, 0.135, 0.16)),
    )
    body = dict(
        bob=twice((0.10, -0.030), (0.18, -0.034), (0.38, -0.018)),
        sway=sided((0.10, -0.012), (0.20, -0.022), (0.40, -0.010)),
        surge=twice((0.0, -0.010), (0.25, 0.004)),
        hip_pitch=twice((0.05, 1.0), (0.30, 3.0)),
        hip_yaw=sided((0.04, -5.0), (0.24, 2.0)),
        hip_roll=sided((0.0, -0.5), (0.20, -3.5), (0.36, -1.0)),
        chest_pitch=twice((0.05, 1.0), (0.30, 3.0)),
        chest_yaw=sided((0.08, 5.0), (0.30, -2.0)),
        chest_roll=sided((0.20, 1.5), (0.40, 0.4)),
        head_pitch=twice((0.10, 4.0), (0.34, 2.0)),
        head_yaw=cycle((0.05, -7.0), (0.55, -11.0)),
        head_roll=sided((0.15, 0.6), (0.40, 0.0)),
        arm_forward=cycle((0.02, -8), (0.30, 4), (0.52, 20), (0.80, 6)),
        arm_out=cycle((0.04, 13), (0.54, 11)),
        arm_turn=cycle((0.04, 8), (0.54, 18)),
        arm_elbow=cycle((0.08, 22), (0.58, 36)),
        arm_roll=still(10.0),
        arm_flex=cycle((0.10, 0), (0.60, 10)),
        arm_brought=cycle((0.05, -3), (0.55, 3)),
        arm="relaxed",
    )
    return stride(skeleton, rest, "walk_back", gait, body, backwards=True)


def run_back(skeleton, rest):
    gait = Gait(
        speed=2.2,
        seconds=18 / 30,
        stance=8 / 18,
        ahead=0.185,
        width=-0.020,
        pitch=((0.0, -3), (0.06, 0), (0.14, 4), (0.30, 26), (0.42, 44), (0.54, 52), (0.70, 26), (0.88, 2)),
        swing=((0.52, 0.270, -0.42), (0.66, 0.300, -0.24), (0.80, 0.230, 0.06), (0.91, 0.150, 0.20)),
    )
    body = dict(
        bob=twice((0.07, -0.030), (0.20, -0.085), (0.34, -0.075), (0.45, -0.030)),
        sway=sided((0.10, -0.012), (0.30, -0.014)),
        surge=twice((0.05, 0.004), (0.25, -0.006)),
        hip_pitch=twice((0.10, 5), (0.30, 8)),
        hip_yaw=sided((0.02, -6), (0.25, 2)),
        hip_roll=sided((0.08, -1.0), (0.28, -3.5)),
        chest_pitch=twice((0.10, 7), (0.30, 10)),
        chest_yaw=sided((0.05, 8), (0.28, -2)),
        chest_roll=sided((0.28, 2.0), (0.45, 0.5)),
        head_pitch=twice((0.10, 4), (0.34, 2)),
        head_yaw=cycle((0.05, -8.0), (0.55, -13.0)),
        head_roll=still(0.0),
        arm_forward=cycle((0.02, -24), (0.28, 0), (0.52, 26), (0.78, 2)),
        arm_out=cycle((0.04, 22), (0.54, 16)),
        arm_turn=cycle((0.04, 10), (0.54, 30)),
        arm_elbow=cycle((0.06, 66), (0.56, 82)),
        arm_roll=still(4.0),
        arm_flex=still(4.0),
        arm_brought=cycle((0.05, -5), (0.55, 6)),
        arm_lift=still(3.0),
        arm="soft_fist",
    )
    return stride(skeleton, rest, "run_back", gait, body, backwards=True)

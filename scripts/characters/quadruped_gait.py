"""The fox's gaits: paths of the paws through a stride, walk and gallop."""

from .linalg import vec
from .motion import Clip, Curve, cycle, notifies, planted
from .quadruped_rig import FRONT, HIND, controls, level, paw, pose

LEGS = ("hl", "fl", "hr", "fr")


class Step:
    """One leg's path through a stride: the paw stands still on the ground, then swings."""

    def __init__(self, base, speed, seconds, stance, ahead, pitch, swing, toes, blade=None, narrow=0.0):
        self.base, self.travel, self.stance = base, speed * seconds, stance
        self.ahead, self.narrow = ahead, narrow
        self.pitch, self.toes = cycle(*pitch), cycle(*toes)
        self.blade = cycle(*blade) if blade else lambda _: 0.0
        off, on = self.standing(stance), self.standing(0.0) + vec(0, 0, 0)
        back = vec(0, 0, -self.travel)
        keys = [(stance, off)] + [(t, base + vec(-narrow, y, z)) for t, y, z in swing] + [(1.0, on)]
        self.swing = Curve(keys, ends=(back * 0.55, back))

    def standing(self, phase):
        return self.base + vec(-self.narrow, 0.0, self.ahead - self.travel * phase)

    def paw(self, phase, root):
        phase %= 1.0
        pitch = self.pitch(phase)
        if phase <= self.stance:
            return paw(self.standing(phase) + root, pitch, pitch, self.blade(phase))
        free = (phase - self.stance) / (1.0 - self.stance)
        hold = max(1.0 - free * 3.5, 0.0, (free - 0.85) / 0.15)
        toes = pitch * hold + self.toes(phase) * (1.0 - hold)
        return paw(self.swing(phase) + root, pitch, toes, self.blade(phase))


def tail(lift, swing, phase, lag=0.09):
    """A chain that follows its base, each bone later than the one before."""
    return tuple((lift(phase - lag * k), swing(phase - lag * k)) for k in range(4))


def stride(skeleton, rest, name, seconds, speed, front, hind, phases, body):
    def at(t):
        u = t / seconds
        c = controls()
        c.root = vec(0, 0, speed * t)
        b = {k: f(u) for k, f in body.items() if not k.startswith("tail")}
        flex = b["flex"]
        pitch = level(b["hind"], b["fore"])
        c.pelvis = vec(b["sway"], b["hind"], b["surge"])
        c.hips = (pitch - 0.55 * flex, b["hip_yaw"], b["hip_roll"])
        c.chest = (pitch + 0.45 * flex, b["chest_yaw"], b["chest_roll"])
        c.neck = (b["neck"], 0.0, 0.0)
        c.head = (b["head"], b["look"], 0.0)
        c.ears = (b["ears"], body["ears"](u - 0.04))
        c.jaw = b["jaw"]
        c.tail = tail(body["tail_up"], body["tail_side"], u)
        for leg in LEGS:
            setattr(c, leg, (front if leg[0] == "f" else hind)[leg[1]].paw(u - phases[leg], c.root))
        return pose(skeleton, c)

    return Clip(
        skeleton,
        name,
        seconds,
        at,
        rest,
        loop=True,
        root_motion=True,
        speed=round(speed, 4),
        notifies=notifies(*((f"footstep_{leg}", phases[leg] * seconds) for leg in LEGS)),
        sync=notifies(("hind_left_down", phases["hl"] * seconds), ("hind_right_down", phases["hr"] * seconds)),
        planted=planted(
            seconds,
            True,
            *(
                (
                    leg,
                    phases[leg] * seconds,
                    (phases[leg] + (front if leg[0] == "f" else hind)[leg[1]].stance) * seconds,
                )
                for leg in LEGS
            ),
        ),
    )


def still(value):
    return lambda _: value


def twice(*keys):
    return cycle(*(keys + tuple((t + 0.5, v) for t, v in keys)))


def sided(*keys):
    return cycle(*(keys + tuple((t + 0.5, -v) for t, v in keys)))


def walk_fwd(skeleton, rest):
    """Four beats, hind before fore on each side, never fewer than two paws down."""
    speed, seconds = 0.8, 28 / 30
    front = Step(
        FRONT,
        speed,
        seconds,
        17 / 28,
        0.185,
        narrow=0.016,
        pitch=((0.0, -24), (0.12, -8), (0.32, 2), (0.48, 20), (0.61, 48), (0.72, 82), (0.83, 50), (0.93, -18)),
        swing=((0.72, 0.065, -0.225), (0.82, 0.090, 0.01), (0.92, 0.045, 0.205)),
        toes=((0.60, 30), (0.74, -22), (0.90, 5)),
        blade=((0.0, 16), (0.30, 0), (0.60, -18), (0.80, 0)),
    )
    hind = Step(
        HIND,
        speed,
        seconds,
        17 / 28,
        0.225,
        narrow=0.012,
        pitch=((0.0, -20), (0.14, -14), (0.36, -2), (0.50, 20), (0.61, 42), (0.74, 42), (0.86, -4), (0.95, -22)),
        swing=((0.72, 0.045, -0.190), (0.83, 0.065, 0.05), (0.93, 0.032, 0.235)),
        toes=((0.60, 24), (0.76, -16), (0.92, 4)),
    )
    body = dict(
        hind=twice((0.06, -0.018), (0.28, -0.004)),
        fore=twice((0.05, -0.012), (0.30, -0.022)),
        sway=sided((0.10, 0.002), (0.30, 0.013)),
        surge=still(0.0),
        flex=twice((0.05, 2.0), (0.30, -1.0)),
        hip_yaw=sided((0.03, -5.5), (0.28, 1.0)),
        hip_roll=sided((0.06, -1.0), (0.26, 4.0)),
        chest_yaw=sided((0.03, 2.5), (0.28, -3.0)),
        chest_roll=sided((0.02, -3.0), (0.27, 0.5)),
        neck=twice((0.05, 10.0), (0.30, 4.0)),
        head=twice((0.08, 6.0), (0.34, 1.0)),
        look=sided((0.10, 1.2), (0.35, -0.5)),
        ears=twice((0.10, 5.0), (0.35, 2.0)),
        jaw=still(1.0),
        tail_up=twice((0.10, 3.0), (0.35, -1.0)),
        tail_side=sided((0.06, 6.0), (0.30, -1.5)),
    )
    phases = {"hl": 0.0, "fl": 0.25, "hr": 0.5, "fr": 0.75}
    return stride(
        skeleton, rest, "walk_fwd", seconds, speed, {"l": front, "r": front}, {"l": hind, "r": hind}, phases, body
    )


def run_fwd(skeleton, rest):
    """A gallop: hind legs, stretched flight, fore legs, gathered flight; the back bends and opens."""
    # Keys stand 33 ms apart; between them a fast leg bends on a shallower arc and would sink.
    # The paws run 2 mm high for that.
    speed, seconds = 4.2, 14 / 30

    def fore(ahead):
        return Step(
            FRONT + vec(0, 0.002, 0),
            speed,
            seconds,
            3 / 14,
            ahead,
            narrow=0.022,
            pitch=((0.0, -22), (0.07, -5), (0.13, 12), (3 / 14, 36), (0.36, 116), (0.56, 112), (0.74, 50), (0.90, -30)),
            swing=((0.33, 0.110, -0.255), (0.50, 0.190, -0.11), (0.68, 0.215, 0.14), (0.84, 0.140, 0.29)),
            toes=((0.20, 30), (0.40, -30), (0.80, -6), (0.95, 6)),
            blade=((0.0, 24), (0.11, 2), (0.23, -26), (0.55, 0), (0.86, 26)),
        )

    def rear(ahead):
        return Step(
            HIND + vec(0, 0.002, 0),
            speed,
            seconds,
            3 / 14,
            ahead,
            narrow=0.016,
            pitch=((0.0, -20), (0.07, -8), (0.14, 10), (3 / 14, 32), (0.36, 70), (0.55, 48), (0.74, 0), (0.90, -38)),
            swing=((0.33, 0.095, -0.32), (0.48, 0.140, -0.26), (0.66, 0.085, 0.02), (0.84, 0.060, 0.29)),
            toes=((0.20, 30), (0.40, -24), (0.80, -4), (0.95, 6)),
        )

    body = dict(
        hind=cycle((0.02, -0.036), (0.15, -0.062), (0.32, 0.005), (0.52, 0.030), (0.72, -0.020), (0.88, -0.026)),
        fore=cycle((0.06, 0.030), (0.24, 0.020), (0.42, -0.042), (0.58, -0.066), (0.76, -0.040), (0.90, -0.005)),
        sway=still(0.0),
        surge=cycle((0.10, -0.010), (0.45, 0.010)),
        flex=cycle((0.00, 26.0), (0.10, 14.0), (0.34, -24.0), (0.50, -20.0), (0.74, 24.0), (0.90, 36.0)),
        hip_yaw=cycle((0.05, -3.0), (0.55, 2.0)),
        hip_roll=cycle((0.05, -2.0), (0.55, 2.0)),
        chest_yaw=cycle((0.20, -2.0), (0.60, 2.0)),
        chest_roll=cycle((0.45, -2.5), (0.95, 2.0)),
        neck=cycle((0.08, 32.0), (0.34, 26.0), (0.60, 18.0), (0.85, 30.0)),
        head=cycle((0.05, 7.0), (0.35, -2.0), (0.60, 5.0), (0.85, 4.0)),
        look=still(0.0),
        ears=cycle((0.10, 30.0), (0.55, 38.0)),
        jaw=cycle((0.15, 9.0), (0.65, 12.0)),
        tail_up=cycle((0.12, -9.0), (0.42, 5.0), (0.80, -1.0)),
        tail_side=cycle((0.25, 3.0), (0.75, -3.0)),
    )
    phases = {"hr": 0.0, "hl": 1 / 14, "fr": 6 / 14, "fl": 7 / 14}
    front = {"r": fore(0.190), "l": fore(0.240)}
    hind = {"r": rear(0.250), "l": rear(0.275)}
    return stride(skeleton, rest, "run_fwd", seconds, speed, front, hind, phases, body)

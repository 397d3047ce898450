"""How the humanoid stands: the pose that every clip in place starts from."""

from .humanoid_rig import SOLE, arm, controls, foot
from .linalg import vec
from .motion import planted

STANCE, TOE_OUT = vec(0.016, 0.0, 0.0), 9.0


def standing_foot(pitch=0.0, at=STANCE, yaw=TOE_OUT):
    """A foot of the standing pose, left side."""
    ankle, turn = SOLE.placed(pitch, yaw, at)
    return foot(ankle, turn, max(pitch, 0.0))


def on_both(seconds):
    return planted(seconds, False, ("l", 0.0, seconds), ("r", 0.0, seconds))


def standing():
    c = controls()
    c.pelvis = vec(0, -0.004, 0)
    c.hips, c.chest, c.head = (2.0, 0, 0), (1.0, 0, 0), (1.0, 0, 0)
    c.foot_l = c.foot_r = standing_foot()
    c.arm_l = c.arm_r = arm(forward=3, out=9, turn=14, elbow=16, roll=8, flex=6)
    return c


def breathe(c, amount):
    """Shoulders and chest rise with the breath, -1..1."""
    c.shoulder_l = tuple(a + b * amount for a, b in zip(c.shoulder_l, (1.6, -0.8)))
    c.shoulder_r = tuple(a + b * amount for a, b in zip(c.shoulder_r, (1.6, -0.8)))
    pitch, yaw, roll = c.chest
    c.chest = (pitch - 1.1 * amount, yaw, roll)

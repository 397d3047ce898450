"""Inverse kinematics and footing shared by both characters."""

import math

from .linalg import Y, aim, axis_angle, clamp, dot, length, mul, rotate, unit, vec


def two_bone(pose, upper, lower, end, target, pole, bind_pole):
    """Turns two bones so that the joint of `end` comes to `target`, bending towards `pole`.

    `bind_pole` is the direction in which the middle joint bends in the bind pose. The law of
    cosines gives the bend; a target out of reach is approached as far as the limb goes.
    """
    s = pose.skeleton
    a, b, c = s.position(upper), s.position(lower), s.position(end)
    la, lb = length(b - a), length(c - b)
    start = pose.place(upper)[1]
    way = target - start
    far = length(way)
    reach = clamp(far, abs(la - lb) + 1e-4, (la + lb) * 0.99995)
    way = way / far
    along = (la * la + reach * reach - lb * lb) / (2.0 * reach)
    out = math.sqrt(max(la * la - along * along, 0.0))
    bend = unit(pole - way * dot(pole, way))
    middle = start + way * along + bend * out
    tip = start + way * reach
    pose.set_model_turn(upper, aim(b - a, bind_pole, middle - start, bend))
    pose.set_model_turn(lower, aim(c - b, bind_pole, tip - middle, bend))


class Sole:
    """Where a foot touches the ground in the bind pose: ankle joint, heel, and the ball's joint."""

    def __init__(self, ankle, heel, ball):
        self.ankle, self.heel, self.ball = ankle, heel, ball

    def placed(self, pitch, yaw, ground):
        """Ankle position and foot turn.

        The foot stands as in the bind pose, moved by `ground` and turned by `yaw` degrees about
        the ankle; then it is pitched about its heel (toes up, negative) or its ball (heel up).
        """
        turn = axis_angle(Y, yaw)
        pivot = self.heel if pitch < 0.0 else self.ball
        base = vec(self.ankle[0], 0.0, self.ankle[2])
        tilt = axis_angle((1.0, 0.0, 0.0), pitch)
        ankle = pivot + rotate(tilt, self.ankle - pivot)
        return base + ground + rotate(turn, ankle - base), mul(turn, tilt)

"""The quadruped, put together."""

from . import body, gltf, quadruped_body, quadruped_clips, quadruped_head, quadruped_skeleton, quadruped_tack
from .mesh import Mesh
from .skeleton import Pose


def mesh(skeleton):
    bones = skeleton.names()
    out = Mesh(bones)
    trunk = quadruped_body.trunk(bones)
    blanket = quadruped_tack.blanket(trunk)
    for part in (trunk, blanket, quadruped_body.tail(bones), quadruped_tack.collar(bones), quadruped_head.head(bones)):
        out.absorb(part.dropped())
    return out


def build():
    """The bytes of assets/quadruped.glb."""
    skeleton = quadruped_skeleton.build()
    return gltf.glb(
        "quadruped",
        skeleton,
        Pose(skeleton).locals(),
        body.primitives(mesh(skeleton), quadruped_body.PAINTS),
        body.materials("tint_coat"),
        quadruped_clips.build(skeleton),
    )

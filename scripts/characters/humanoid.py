"""The humanoid, put together."""

from . import body, gltf, humanoid_body, humanoid_clips, humanoid_head, humanoid_skeleton
from .mesh import Mesh
from .skeleton import Pose


def mesh(skeleton):
    bones = skeleton.names()
    out = Mesh(bones)
    for part in (
        humanoid_body.shirt(bones),
        humanoid_body.trousers(bones),
        humanoid_head.head(bones),
        humanoid_head.hair(bones),
        humanoid_head.neck(bones),
    ):
        out.absorb(part.dropped())
    for part in (humanoid_body.arm(bones), humanoid_body.shoe(bones)):
        out.absorb(part.dropped())
        out.absorb(part.mirrored())
    return out


def build():
    """The bytes of assets/humanoid.glb."""
    skeleton = humanoid_skeleton.build()
    return gltf.glb(
        "humanoid",
        skeleton,
        Pose(skeleton).locals(),
        body.primitives(mesh(skeleton), humanoid_body.PAINTS),
        body.materials("tint_shirt"),
        humanoid_clips.build(skeleton),
    )

// Linear blend skinning from a palette of 3x4 matrices in a storage buffer.

// How many of a vertex's four influences can have weight: 1, 2 or 4.
override INFLUENCES: u32 = 4u;
// True where an instance's palette is mixed with the one before it.
override INTERPOLATE: bool = false;

// Three rows of an affine matrix, translation in w. Mirrors `Mat3x4`.
struct BoneMatrix {
    row0: vec4<f32>,
    row1: vec4<f32>,
    row2: vec4<f32>,
}

// One visible character, as instance attributes. Mirrors `InstanceRecord`.
struct Instance {
    // world_from_model: rotation, uniform scale, translation.
    @location(6) row0: vec4<f32>,
    @location(7) row1: vec4<f32>,
    @location(8) row2: vec4<f32>,
    // First palette matrix within the page; tint; id; bits of the ground's height, metres.
    @location(9) words: vec4<u32>,
    // First matrix of the palette before; bits of the newer one's share; bits of the coarser mesh's
    // share; which of the two palettes are cut: 1 the newer, 2 the one before.
    @location(10) mixed: vec4<u32>,
}

@group(2) @binding(0) var<storage, read> palette: array<BoneMatrix>;
// Of each matrix of a whole palette, which row of a cut one it is.
@group(2) @binding(1) var<storage, read> cut_rows: array<u32>;

fn add_scaled(sum: BoneMatrix, bone: BoneMatrix, weight: f32) -> BoneMatrix {
    return BoneMatrix(
        sum.row0 + bone.row0 * weight,
        sum.row1 + bone.row1 * weight,
        sum.row2 + bone.row2 * weight,
    );
}

// Where a joint's matrix is in a palette.
fn row_of(joint: u32, is_cut: u32) -> u32 {
    if is_cut == 0u {
        return joint;
    }
    return cut_rows[joint];
}

// A bone of an instance, between its last two palettes where that is wanted.
fn bone_matrix(instance: Instance, joint: u32) -> BoneMatrix {
    let newer = palette[instance.words.x + row_of(joint, instance.mixed.w & 1u)];
    if !INTERPOLATE {
        return newer;
    }
    let older = palette[instance.mixed.x + row_of(joint, instance.mixed.w & 2u)];
    let share = bitcast<f32>(instance.mixed.y);
    return BoneMatrix(
        mix(older.row0, newer.row0, share),
        mix(older.row1, newer.row1, share),
        mix(older.row2, newer.row2, share),
    );
}

// The weighted sum of a vertex's bone matrices: model space from mesh space.
fn skin_matrix(instance: Instance, joints: vec4<u32>, weights: vec4<f32>) -> BoneMatrix {
    let bone = bone_matrix(instance, joints.x);
    if INFLUENCES == 1u {
        return bone;
    }
    var sum = BoneMatrix(bone.row0 * weights.x, bone.row1 * weights.x, bone.row2 * weights.x);
    sum = add_scaled(sum, bone_matrix(instance, joints.y), weights.y);
    if INFLUENCES > 2u {
        sum = add_scaled(sum, bone_matrix(instance, joints.z), weights.z);
        sum = add_scaled(sum, bone_matrix(instance, joints.w), weights.w);
    }
    return sum;
}

fn transform_point(m: BoneMatrix, p: vec3<f32>) -> vec3<f32> {
    let h = vec4<f32>(p, 1.0);
    return vec3<f32>(dot(m.row0, h), dot(m.row1, h), dot(m.row2, h));
}

fn transform_vector(m: BoneMatrix, v: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(dot(m.row0.xyz, v), dot(m.row1.xyz, v), dot(m.row2.xyz, v));
}

// A normal under any affine matrix: by the cofactors, which are the inverse transpose times the
// determinant, so that non-uniform scale keeps it perpendicular and a singular matrix stays finite.
fn transform_normal(m: BoneMatrix, n: vec3<f32>) -> vec3<f32> {
    let c0 = cross(m.row1.xyz, m.row2.xyz);
    let c1 = cross(m.row2.xyz, m.row0.xyz);
    let c2 = cross(m.row0.xyz, m.row1.xyz);
    let turned = vec3<f32>(dot(c0, n), dot(c1, n), dot(c2, n));
    return select(turned, -turned, dot(m.row0.xyz, c0) < 0.0);
}

fn world_from_model(instance: Instance) -> BoneMatrix {
    return BoneMatrix(instance.row0, instance.row1, instance.row2);
}

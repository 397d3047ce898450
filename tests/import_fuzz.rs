//! Damaged files are refused or give a source that keeps its promises and a character: no panic, no endless loop,
//! and no more memory than a small file can be worth.

#![allow(clippy::unwrap_used, reason = "what is missing or wrong fails the test")]

mod support;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestRunner};
use serde_json::{Value, json};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use support::promises::check;
use support::shared;
use throng::asset::{self, BuildOptions, gltf};
use throng::math::Bounds;

/// Counts the bytes that are held and the most that ever were.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps `alloc_zeroed`'s contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn grow(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(held, Relaxed);
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What reading a file of a few kilobytes may hold at once: the limit on zeros that nothing stands
/// behind, decoded and made into influences, and a few images.
const MOST_HELD: usize = 256 << 20;
/// Longer clips are resampled into hundreds of megabytes, which is bounded, but takes its time.
const LONGEST_BUILT_SECONDS: f32 = 60.0;

/// A document and its binary chunk.
#[derive(Clone, Debug)]
struct Seed {
    json: Value,
    bin: Vec<u8>,
}

impl Seed {
    fn from_glb(bytes: &[u8]) -> Option<Self> {
        let length =
            |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
        let json_end = 20 + length(12)?;
        let json = serde_json::from_slice(bytes.get(20..json_end)?).ok()?;
        let bin = bytes.get(json_end + 8..).unwrap_or_default().to_vec();
        Some(Self { json, bin })
    }

    fn glb(&self) -> Vec<u8> {
        let json = serde_json::to_vec(&self.json).unwrap();
        let mut out = b"glTF\x02\0\0\0".to_vec();
        out.extend((28 + json.len() as u32 + self.bin.len() as u32).to_le_bytes());
        out.extend((json.len() as u32).to_le_bytes());
        out.extend(b"JSON");
        out.extend(json);
        out.extend((self.bin.len() as u32).to_le_bytes());
        out.extend(b"BIN\0");
        out.extend(&self.bin);
        out
    }
}

/// A skinned, textured, animated triangle with a sparse accessor and a compressed view.
fn character() -> Seed {
    let mut bin = Vec::new();
    let mut views = Vec::new();
    let mut accessors = Vec::new();
    let mut add = |bytes: &[u8], component: u32, kind: &str, count: usize| {
        bin.resize(bin.len().next_multiple_of(4), 0);
        views.push(json!({
            "buffer": 0, "byteOffset": bin.len(), "byteLength": bytes.len(), "byteStride": 0,
        }));
        bin.extend_from_slice(bytes);
        accessors.push(json!({
            "bufferView": views.len() - 1, "byteOffset": 0, "componentType": component,
            "type": kind, "count": count, "normalized": false,
        }));
    };
    let floats = |numbers: &[f32]| bytemuck::cast_slice::<f32, u8>(numbers).to_vec();
    let identity = glam::Mat4::IDENTITY.to_cols_array();
    let mut picture = std::io::Cursor::new(Vec::new());
    image::RgbImage::new(5, 3).write_to(&mut picture, image::ImageFormat::Png).unwrap();
    add(&floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]), 5126, "VEC3", 3);
    add(&[0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], 5121, "VEC4", 3);
    add(&floats(&[0.5, 0.5, 0.0, 0.0].repeat(3)), 5126, "VEC4", 3);
    add(&floats(&[0.0, 1.0].repeat(3)), 5126, "VEC2", 3);
    add(&[0, 1, 2], 5121, "SCALAR", 3);
    add(&floats(&identity.repeat(2)), 5126, "MAT4", 2);
    add(&floats(&[0.0, 1.0]), 5126, "SCALAR", 2);
    add(&floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]), 5126, "VEC4", 2);
    add(&floats(&[1.0; 18]), 5126, "VEC3", 6);
    let colors = meshopt::encode_vertex_buffer(&[[200u8, 100, 50, 255]; 3]).unwrap();
    add(&colors, 5121, "VEC4", 3);
    add(picture.get_ref(), 5121, "SCALAR", 1);
    views[9]["extensions"] = json!({ "EXT_meshopt_compression": {
        "buffer": 0, "byteOffset": views[9]["byteOffset"], "byteLength": colors.len(),
        "byteStride": 4, "count": 3, "mode": "ATTRIBUTES", "filter": "NONE",
    } });
    accessors[9]["normalized"] = json!(true);
    accessors[0]["sparse"] = json!({
        "count": 1,
        "indices": { "bufferView": 4, "byteOffset": 1, "componentType": 5121 },
        "values": { "bufferView": 8, "byteOffset": 0 },
    });
    let json = json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0, 1] }],
        "nodes": [
            { "mesh": 0, "skin": 0, "name": "body", "matrix": identity },
            { "children": [2], "translation": [0, 0, 0], "rotation": [0, 0, 0, 1] },
            { "name": "tip", "scale": [1, 1, 1] },
        ],
        "meshes": [{ "primitives": [{
            "attributes": {
                "POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2, "TEXCOORD_0": 3, "COLOR_0": 9,
            },
            "indices": 4, "material": 0, "mode": 4, "targets": [{ "POSITION": 0 }],
        }] }],
        "skins": [{ "joints": [1, 2], "inverseBindMatrices": 5 }],
        "animations": [{
            "name": "a",
            "samplers": [
                { "input": 6, "output": 7, "interpolation": "LINEAR" },
                { "input": 6, "output": 8, "interpolation": "CUBICSPLINE" },
            ],
            "channels": [
                { "sampler": 0, "target": { "node": 1, "path": "rotation" } },
                { "sampler": 1, "target": { "node": 2, "path": "translation" } },
            ],
        }],
        "materials": [{
            "pbrMetallicRoughness": {
                "baseColorFactor": [1, 1, 1, 1],
                "baseColorTexture": { "index": 0, "texCoord": 0, "extensions": {
                    "KHR_texture_transform": { "offset": [0, 0], "rotation": 0, "scale": [1, 1] },
                } },
                "metallicFactor": 0, "roughnessFactor": 1,
            },
            "emissiveFactor": [0, 0, 0], "alphaMode": "MASK", "alphaCutoff": 0.5,
        }],
        "textures": [{ "source": 0, "sampler": 0 }],
        "samplers": [{ "magFilter": 9728, "wrapS": 10497, "wrapT": 33071 }],
        "images": [{ "bufferView": 10, "mimeType": "image/png" }],
        "buffers": [{ "byteLength": bin.len() }],
        "bufferViews": views,
        "accessors": accessors,
    });
    Seed { json, bin }
}

/// One change to a file.
#[derive(Clone, Debug)]
enum Damage {
    /// A JSON value, picked by number, becomes a hostile one.
    Value(usize, Value),
    /// A JSON value, picked by number, is taken out of its object or list.
    Removed(usize),
    /// A JSON value becomes a copy of another.
    Copied(usize, usize),
    /// Bits of a byte of the binary chunk are flipped.
    Data(usize, u8),
    /// Bits of a byte of the whole file are flipped.
    File(usize, u8),
    /// The file ends early.
    Cut(usize),
}

fn hostile() -> impl Strategy<Value = Value> {
    let numbers = prop_oneof![
        prop::sample::select(vec![0u64, 1, 2, 3, 4, 5, 7, 8, 16, 64, 252, 255, 256, 1 << 16])
            .prop_map(Value::from),
        prop::sample::select(vec![5120u64, 5121, 5122, 5123, 5124, 5125, 5126, 9728, 33648])
            .prop_map(Value::from),
        prop::sample::select(vec![1u64 << 20, 1 << 26, 1 << 31, 1 << 32, 1 << 40, u64::MAX])
            .prop_map(Value::from),
        prop::sample::select(vec![-1.0f64, 0.5, 1e-45, 3.4e38, 1e39, -1e300]).prop_map(Value::from),
        (0u64..12).prop_map(Value::from),
    ];
    let words = prop::sample::select(vec![
        "",
        "SCALAR",
        "VEC2",
        "VEC3",
        "VEC4",
        "MAT2",
        "MAT3",
        "MAT4",
        "STEP",
        "LINEAR",
        "CUBICSPLINE",
        "weights",
        "pointer",
        "scale",
        "TRIANGLES",
        "INDICES",
        "ATTRIBUTES",
        "OCTAHEDRAL",
        "QUATERNION",
        "EXPONENTIAL",
        "COLOR",
        "../x",
        "data:,x",
        "data:;base64,AAAA",
    ]);
    prop_oneof![
        6 => numbers,
        2 => words.prop_map(Value::from),
        1 => prop::sample::select(vec![json!(null), json!([]), json!({}), json!([[]]), json!(true)]),
        1 => (0u64..4).prop_map(|i| json!([i, i, 0])),
    ]
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<prop::sample::Index>().prop_map(|index| index.index(1 << 20));
    prop_oneof![
        6 => (place.clone(), hostile()).prop_map(|(at, value)| Damage::Value(at, value)),
        1 => place.clone().prop_map(Damage::Removed),
        2 => (place.clone(), place.clone()).prop_map(|(from, to)| Damage::Copied(from, to)),
        3 => (place.clone(), 1u8..).prop_map(|(at, bits)| Damage::Data(at, bits)),
        2 => (place.clone(), 1u8..).prop_map(|(at, bits)| Damage::File(at, bits)),
        1 => place.prop_map(Damage::Cut),
    ]
}

/// The paths of all values in a document.
fn paths(value: &Value, path: &str, all: &mut Vec<String>) {
    all.push(path.to_owned());
    match value {
        Value::Array(list) => {
            for (i, item) in list.iter().enumerate() {
                paths(item, &format!("{path}/{i}"), all);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                paths(item, &format!("{path}/{key}"), all);
            }
        }
        _ => {}
    }
}

fn apply(seed: &Seed, changes: &[Damage]) -> Vec<u8> {
    let mut seed = seed.clone();
    let mut later = Vec::new();
    for change in changes {
        let mut all = Vec::new();
        paths(&seed.json, "", &mut all);
        let path = |at: usize| all[at % all.len()].clone();
        match change {
            Damage::Value(at, value) => {
                *seed.json.pointer_mut(&path(*at)).unwrap() = value.clone();
            }
            Damage::Removed(at) => {
                let path = path(*at);
                let Some((parent, key)) = path.rsplit_once('/') else { continue };
                match seed.json.pointer_mut(parent) {
                    Some(Value::Object(map)) => drop(map.remove(key)),
                    Some(Value::Array(list)) => drop(list.remove(key.parse().unwrap())),
                    _ => {}
                }
            }
            Damage::Copied(from, to) => {
                let copy = seed.json.pointer(&path(*from)).unwrap().clone();
                *seed.json.pointer_mut(&path(*to)).unwrap() = copy;
            }
            Damage::Data(at, bits) if !seed.bin.is_empty() => {
                let length = seed.bin.len();
                seed.bin[at % length] ^= bits;
            }
            change => later.push(change),
        }
    }
    let mut file = seed.glb();
    for change in later {
        match change {
            Damage::File(at, bits) => {
                let length = file.len();
                file[at % length] ^= bits;
            }
            Damage::Cut(at) => file.truncate(1 + at % file.len()),
            _ => {}
        }
    }
    file
}

/// Makes a character of a file and holds it to the limits; gives the most that was held, and whether it was read.
fn read(file: &[u8]) -> (usize, bool) {
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = gltf::read_bytes("damaged.glb", file).and_then(|source| {
        check(&source);
        let long = source.animations.iter().any(|a| a.seconds > LONGEST_BUILT_SECONDS);
        let build = || asset::build(&source, &BuildOptions::default());
        if long { Ok(None) } else { build().map(Some) }
    });
    let held = PEAK.load(Relaxed).saturating_sub(before);
    assert!(held < MOST_HELD, "{held} bytes held");
    match result {
        Ok(character) => {
            let bounds = character.map_or(Bounds::EMPTY, |character| character.bounds);
            let finite = bounds.min.is_finite() && bounds.max.is_finite();
            assert!(finite && bounds.radius.is_finite(), "{bounds:?}");
            (held, true)
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.len() < 2000, "{} bytes of message", message.len());
            assert!(!message.contains(|c: char| c.is_control()), "{message:?}");
            (held, false)
        }
    }
}

/// Sets each number of a document to each of the sizes that overflow or exhaust something, alone
/// and with the bytes behind it taken away. Gives the most that was held.
fn every_number_made_large(seed: &Seed) -> usize {
    let mut all = Vec::new();
    paths(&seed.json, "", &mut all);
    let mut most = 0;
    for path in all.iter().filter(|path| seed.json.pointer(path).unwrap().is_u64()) {
        for power in [16, 20, 22, 24, 28, 31, 32, 33, 40, 53, 62, 63] {
            let mut damaged = seed.clone();
            *damaged.json.pointer_mut(path).unwrap() = json!(1u64 << power);
            most = most.max(read(&damaged.glb()).0);
            let parent = path.rsplit_once('/').unwrap().0;
            if let Some(Value::Object(map)) = damaged.json.pointer_mut(parent)
                && map.remove("bufferView").is_some()
            {
                most = most.max(read(&damaged.glb()).0);
            }
        }
    }
    // All counts of a vertex's accessors together, so that they agree.
    for count in [1u64 << 20, 1 << 21, 1 << 24, 1 << 33, u64::MAX] {
        let mut damaged = seed.clone();
        for accessor in [0, 1, 2, 3, 9] {
            let accessor = damaged.json["accessors"][accessor].as_object_mut().unwrap();
            accessor.remove("bufferView");
            accessor.insert("count".into(), json!(count));
        }
        damaged.json["accessors"][2]["componentType"] = json!(5121);
        damaged.json["accessors"][0]["componentType"] = json!(5121);
        damaged.json["accessors"][0].as_object_mut().unwrap().remove("sparse");
        most = most.max(read(&damaged.glb()).0);
    }
    most
}

/// One test function, because what is held is counted for the whole process.
#[test]
fn damaged_files_are_refused_or_keep_their_promises() {
    let mut seeds = vec![character()];
    if let Some(folder) = shared("cases") {
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort_unstable();
        for file in files.iter().filter(|file| file.is_file()) {
            let bytes = fs::read(file).unwrap();
            if bytes.starts_with(b"glTF") && bytes.len() < 20_000 {
                seeds.extend(Seed::from_glb(&bytes));
            }
        }
    }
    let file = seeds[0].glb();
    assert!(read(&file).1, "{:?}", gltf::read_bytes("seed", &file).err());
    for end in 0..file.len() {
        assert!(!read(&file[..end]).1, "cut at {end}");
    }

    let most = every_number_made_large(&seeds[0]);
    println!("with one number made large, the most held was {} KiB", most >> 10);

    let cases: u32 =
        std::env::var("THRONG_FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(4000);
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(0x7461_6d65),
        ..Config::default()
    });
    let most = AtomicUsize::new(0);
    let whole = AtomicUsize::new(0);
    let count = seeds.len();
    let picks = (any::<prop::sample::Index>(), prop::collection::vec(damage(), 1..4));
    // Every other file is the one that has everything.
    let result = runner.run(&picks, |(seed, changes)| {
        let seed = seed.index(count * 2);
        let file = apply(&seeds[if seed < count { seed } else { 0 }], &changes);
        let (held, read) = read(&file);
        most.fetch_max(held, Relaxed);
        whole.fetch_add(usize::from(read), Relaxed);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let whole = whole.into_inner();
    println!("{whole} of {cases} were read; the most held was {} KiB", most.into_inner() >> 10);
    // Neither all refused nor all unharmed: the damage reaches past the first check.
    assert!(whole > cases as usize / 20 && whole < cases as usize * 19 / 20, "{whole} of {cases}");
}

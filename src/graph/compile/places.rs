//! Where a file names what only the character can have: clips and bones.

use crate::graph::file::{Graph, MaskLine, Node, Place, Source, Text};
use std::collections::HashMap;

/// Places of the names of clips and bones, each where it stands first, with the part of the file
/// it is in.
#[derive(Clone, Debug, Default)]
pub struct Places {
    file: String,
    clips: HashMap<String, (Option<Place>, String)>,
    bones: HashMap<String, (Option<Place>, String)>,
    /// Two bones of a solver of which the second has to hang below the first.
    limbs: HashMap<(String, String), (Option<Place>, String)>,
}

impl Places {
    pub(super) fn new(source: &Source<'_>, graph: &Graph<'_>) -> Self {
        let mut places = Self { file: source.name.into(), ..Self::default() };
        for (name, lines) in graph.masks.iter() {
            for line in lines {
                if let MaskLine::Bone(bone, _) | MaskLine::Subtree(bone, _) = line {
                    places.bone(source, bone, || format!("mask `{name}`"));
                }
            }
        }
        for (name, node) in graph.nodes.iter() {
            let part = || format!("node `{name}`");
            match node {
                Node::Clip { clip, .. } | Node::Frame { clip, .. } => {
                    let place = || (source.place_of(clip.as_str()), part());
                    places.clips.entry(clip.to_string()).or_insert_with(place);
                }
                Node::BoneTransform { bone, .. }
                | Node::TranslateBone { bone, .. }
                | Node::LookAt { bone, .. } => places.bone(source, bone, part),
                Node::TwoBoneIk { root, mid, end, .. } => {
                    [root, mid, end].into_iter().for_each(|b| places.bone(source, b, part));
                    places.limb(source, root, mid, part);
                    places.limb(source, mid, end, part);
                }
                Node::FootIk { hips, left, right, .. } => {
                    let all = std::iter::once(hips).chain(left).chain(right);
                    all.for_each(|b| places.bone(source, b, part));
                    for leg in [left, right] {
                        let lower = leg.iter();
                        let upper = std::iter::once(hips).chain(lower.clone());
                        upper.zip(lower).for_each(|(u, l)| places.limb(source, u, l, part));
                    }
                }
                Node::Fabrik { root, end, .. } => {
                    [root, end].into_iter().for_each(|b| places.bone(source, b, part));
                    places.limb(source, root, end, part);
                }
                _ => {}
            }
        }
        if let Some(bone) = &graph.root_motion.bone {
            places.bone(source, bone, || "root_motion".into());
        }
        places
    }

    /// Of a file that names nothing any more.
    pub(in crate::graph) fn of_file(name: &str) -> Self {
        Self { file: name.into(), ..Self::default() }
    }

    fn bone(&mut self, source: &Source<'_>, bone: &Text<'_>, part: impl Fn() -> String) {
        let place = || (source.place_of(bone.as_str()), part());
        self.bones.entry(bone.to_string()).or_insert_with(place);
    }

    fn limb(
        &mut self,
        source: &Source<'_>,
        upper: &Text<'_>,
        lower: &Text<'_>,
        part: impl Fn() -> String,
    ) {
        let place = || (source.place_of(lower.as_str()), part());
        self.limbs.entry((upper.to_string(), lower.to_string())).or_insert_with(place);
    }

    /// Where a clip is named, like `walk.ron:12:9: node "walk"`; the file where it is not.
    pub fn of_clip(&self, name: &str) -> String {
        self.at(self.clips.get(name))
    }

    /// Where a bone is named; the file where it is not.
    pub fn of_bone(&self, name: &str) -> String {
        self.at(self.bones.get(name))
    }

    /// Where a solver names a bone as one that hangs below another; the file where none does.
    pub fn of_limb(&self, upper: &str, lower: &str) -> String {
        self.at(self.limbs.get(&(upper.to_owned(), lower.to_owned())))
    }

    fn at(&self, entry: Option<&(Option<Place>, String)>) -> String {
        match entry {
            Some((Some(place), part)) => format!("{}:{place}: {part}", self.file),
            Some((None, part)) => format!("{}: {part}", self.file),
            None => self.file.clone(),
        }
    }
}

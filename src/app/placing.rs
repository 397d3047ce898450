//! From characters and options to a crowd on its places.

use super::characters::{Cast, Member};
use super::cli::{Mode, RunConfig};
use super::exit::Failure;
use super::memory;
use super::picture::Picture;
use super::playing::Parts;
use super::replay::Player;
use crate::asset::Surface;
use crate::crowd::{Crowd, CrowdConfig, CrowdKind, Playing};
use crate::math::Lanes;
use crate::motion::Bodies;
use crate::physics::Skeletal;
use std::sync::Arc;

/// The crowd that a run asks for.
///
/// # Errors
/// When it does not fit into memory, or a character can't be animated.
pub fn crowd(
    config: &RunConfig,
    cast: Cast,
    threads: usize,
    picture: Option<&Picture>,
    replay: Option<&Player>,
) -> Result<Crowd, Failure> {
    let defaults = CrowdConfig::default();
    let crowd = CrowdConfig {
        count: config.count,
        spawning: config.spawn.into(),
        seed: config.seed,
        layout: config.layout.into(),
        terrain: config.terrain(),
        threads,
        lanes: Lanes::new(config.simd)?,
        update_mode: config.visibility.into(),
        grace: config.grace,
        gates: config.gates(),
        budget_ms: config.budget_ms.map(|ms| ms as f32),
        ragdolls: config.ragdoll,
        interpolate: config.interpolate,
        prune: config.prune,
        steal: config.steal,
        page_matrices: picture.map_or(defaults.page_matrices, Picture::max_page_matrices),
        memory_limit: memory::crowd_limit(),
        ..defaults
    };
    let parts = match replay {
        Some(player) => player.playing().into(),
        None => Parts::new(config, &cast)?,
    };
    // In a window anybody can be knocked down, and be pointed at.
    let windowed = config.mode == Mode::Window;
    let extras =
        Extras { fall: config.ragdoll > 0 || windowed, surface: config.pick.is_some() || windowed };
    let mut crowd = place(crowd, cast, &config.weights, parts, extras)?;
    crowd.follow_some(config.followers, config.seed)?;
    Ok(crowd)
}

/// What not every run needs of its characters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras {
    /// Bodies, for those who fall.
    pub fall: bool,
    /// Triangles, for those who are pointed at.
    pub surface: bool,
}

/// Places a cast. Members without a part play simply, those without a weight have a weight of 1.
///
/// # Errors
/// When it does not fit into memory, or a character can't be animated.
pub fn place(
    config: CrowdConfig,
    cast: Cast,
    weights: &[f32],
    parts: Parts,
    extras: Extras,
) -> Result<Crowd, Failure> {
    let (playing, places) = parts.into_parts();
    let names = names(&cast);
    let playing = playing.into_iter().chain(std::iter::repeat_with(Playing::default));
    let kinds = cast.members.into_iter().zip(playing);
    let weights = weights.iter().copied().chain(std::iter::repeat(1.0));
    let kinds = kinds.zip(weights).zip(&names).map(|(((member, playing), weight), name)| {
        kind(&member, playing, extras).map(|kind| CrowdKind { weight, name: name.clone(), ..kind })
    });
    let kinds: Result<Vec<_>, Failure> = kinds.collect();
    let explain = |error| Parts::explain(&places, &names, error);
    Ok(Crowd::new(config, kinds?).map_err(explain)?)
}

/// A name for each of a cast; of several that have one name the others are numbered.
fn names(cast: &Cast) -> Vec<String> {
    let name = |(at, member): (usize, &Member)| {
        let name = &member.asset.name;
        match cast.members[..at].iter().filter(|before| before.asset.name == *name).count() {
            0 => name.clone(),
            before => format!("{name} {}", before + 1),
        }
    };
    cast.members.iter().enumerate().map(name).collect()
}

fn kind(member: &Member, playing: Playing, extras: Extras) -> Result<CrowdKind, Failure> {
    let (ground_offset, scale) = (member.ground_offset(), member.scale);
    let asset = &*member.asset;
    let rig = asset
        .rig_for(playing.scales_bones())
        .map_err(|e| anyhow::Error::from(e).context(asset.name.clone()))?;
    let surface = extras.surface.then(|| Arc::new(Surface::of(asset)));
    let bodies = extras.fall.then(|| Skeletal::new(asset, &rig)).flatten();
    let bodies = bodies.map(|bodies| Arc::new(bodies) as Arc<dyn Bodies>);
    let kind = CrowdKind::new(asset.name.clone(), Arc::new(rig), asset.bounds);
    let (notifies, sync_markers) = (asset.notifies.clone(), asset.sync_markers.clone());
    let kind = CrowdKind { bodies, surface, ..kind };
    Ok(CrowdKind { scale, ground_offset, notifies, sync_markers, playing, ..kind })
}

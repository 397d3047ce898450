//! What the executor shows to a profiler that listens: a zone per list, per task and per resolve.

use super::TaskKind;
use crate::profile::ZoneLocation;

/// One list, so one character, without its resolve.
pub(super) static CHARACTER: ZoneLocation = ZoneLocation::new(c"character");

/// Up to eight finished poses into palettes.
pub(super) static RESOLVE: ZoneLocation = ZoneLocation::new(c"resolve");

/// One executed task, by its kind.
pub(super) static TASKS: [ZoneLocation; TaskKind::COUNT] = [
    ZoneLocation::new(c"ReferencePose"),
    ZoneLocation::new(c"SampleClip"),
    ZoneLocation::new(c"Blend"),
    ZoneLocation::new(c"BlendMasked"),
    ZoneLocation::new(c"MakeAdditive"),
    ZoneLocation::new(c"ApplyAdditive"),
    ZoneLocation::new(c"Inertialize"),
    ZoneLocation::new(c"DeadBlend"),
    ZoneLocation::new(c"SavePoseSnapshot"),
    ZoneLocation::new(c"LoadPoseSnapshot"),
    ZoneLocation::new(c"BoneTransform"),
    ZoneLocation::new(c"TranslateBone"),
    ZoneLocation::new(c"TwoBoneIk"),
    ZoneLocation::new(c"Fabrik"),
    ZoneLocation::new(c"LookAt"),
    ZoneLocation::new(c"FootIk"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_shown_under_the_name_of_its_kind() {
        for kind in TaskKind::ALL {
            assert_eq!(TASKS[kind as usize].name(), kind.name());
        }
    }
}

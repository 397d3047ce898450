//! Programs to bytes and back; bytes that are none.

use super::naive::random_program;
use super::*;
use crate::graph::wire::MAGIC;
use proptest::prelude::*;

const HEADER: usize = 20;

fn program(seed: u64) -> Program {
    random_program(&mut Random(seed | 1))
}

/// Bytes with a header that suits them.
fn sealed(body: &[u8]) -> Vec<u8> {
    let mut bytes = Program::default().to_bytes()[..8].to_vec();
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend(twox_hash::XxHash3_64::oneshot(body).to_le_bytes());
    bytes.extend(body);
    bytes
}

proptest! {
    #[test]
    fn a_program_is_what_its_bytes_say(seed in any::<u64>()) {
        let program = program(seed);
        let bytes = program.to_bytes();
        prop_assert_eq!(Program::from_bytes(&bytes), Ok(program));
        prop_assert_eq!(sealed(&bytes[HEADER..]), bytes);
    }

    #[test]
    fn a_changed_byte_is_found(seed in any::<u64>(), at in any::<usize>(), bit in 0_u8..8) {
        let mut bytes = program(seed).to_bytes();
        let at = at % bytes.len();
        bytes[at] ^= 1_u8 << bit;
        // The two zero bytes of the header mean nothing.
        prop_assert!(Program::from_bytes(&bytes).is_err() || (6..8).contains(&at));
    }

    #[test]
    fn damage_under_a_right_checksum_is_an_error_or_a_program(
        seed in any::<u64>(), changes in prop::collection::vec((any::<usize>(), any::<u8>()), 1..9),
        cut in any::<usize>(),
    ) {
        let mut body = program(seed).to_bytes()[HEADER..].to_vec();
        for (at, byte) in changes {
            let len = body.len();
            body[at % len] = byte;
        }
        if cut % 3 == 0 {
            body.truncate(cut % body.len());
        }
        // Whatever comes out is refused by validation or can be run.
        if let Ok(program) = Program::from_bytes(&sealed(&body)) {
            run_if_valid(program);
        }
    }

    #[test]
    fn any_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Program::from_bytes(&bytes).is_err());
        if let Ok(program) = Program::from_bytes(&sealed(&bytes)) {
            run_if_valid(program);
        }
    }
}

fn run_if_valid(program: Program) {
    let Ok(valid) = program.validate() else { return };
    let c = character(Shape::plain(9), &["clip0", "clip1", "clip2", "clip3"], 3);
    let names = &mut NotifyNames::default();
    let target = Target { rig: &c.rig, clips: &c.clip_bindings, names };
    if let Ok(bound) = Arc::new(valid).bind(target)
        && bound.words() < 10_000
    {
        let mut p = Player::new(&bound, &c);
        for dt in [0.1, -0.3, f32::NAN] {
            let palette = p.step(dt);
            assert!(palette.iter().all(|m| m.to_affine().is_finite()));
        }
    }
}

#[test]
fn a_long_table_that_is_not_there_takes_no_memory() {
    // The name's length is all but four gigabytes.
    let body = [0xff; 64];
    assert_eq!(Program::from_bytes(&sealed(&body)), Err(DecodeError::End { at: 0 }));
}

#[test]
fn an_older_version_shows_the_bind_pose_and_a_newer_one_is_refused() {
    let mut bytes = program(4).to_bytes();
    bytes[4..6].copy_from_slice(&(Program::VERSION - 1).to_le_bytes());
    let (program, outdated) = Program::from_bytes_or_bind_pose(&bytes, "old").unwrap();
    assert_eq!(program, Program::bind_pose("old"));
    let (old, current) = (Program::VERSION - 1, Program::VERSION);
    let text = format!(
        "a compiled graph has version {old}, this build reads {current}: it shows the bind pose; \
         compile it again"
    );
    assert_eq!(outdated.unwrap().to_string(), text);
    let c = character(Shape::plain(9), &["idle"], 1);
    let bound = bind(program, &c);
    let palette = Player::new(&bound, &c).step(0.1);
    let rest = testing::rest_pose(&c.skeleton);
    let exact = testing::palette(&c.skeleton, &rest, 9);
    assert!(testing::difference(&palette, &exact) < 1e-5);

    bytes[4..6].copy_from_slice(&(Program::VERSION + 1).to_le_bytes());
    let error = Program::from_bytes_or_bind_pose(&bytes, "new").unwrap_err();
    assert_eq!(error, DecodeError::Version { found: current + 1, expected: current });
    assert_eq!(Program::from_bytes(b"RIFF"), Err(DecodeError::Magic));
    assert_eq!(Program::from_bytes(&MAGIC), Err(DecodeError::End { at: 4 }));
}

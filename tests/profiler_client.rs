//! The profiler's client in this process, as a viewer on this machine and on others sees it.
//!
//! The client is one per process, so this file is one test.

#![cfg(all(feature = "tracy-localhost", target_os = "linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test's helpers end with the fault that they find"
)]

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};
use throng::profile::{
    self, GpuApi, GpuTimeline, Phase, PhaseTimes, Plot, ZoneLevel, ZoneLocation,
};

/// Inodes of the sockets that this process holds.
fn own_sockets() -> HashSet<u64> {
    let entries = std::fs::read_dir("/proc/self/fd").expect("own descriptors");
    let links = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let inode = |link: std::path::PathBuf| {
        link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    links.filter_map(inode).collect()
}

/// Addresses, in the kernel's hexadecimal, and ports on which this process listens for TCP.
fn listening_on() -> Vec<(String, u16)> {
    const LISTEN: &str = "0A";
    let own = own_sockets();
    let mut found = Vec::new();
    for table in ["/proc/self/net/tcp", "/proc/self/net/tcp6"] {
        let text = std::fs::read_to_string(table).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<_> = line.split_whitespace().collect();
            let inode = fields.get(9).and_then(|inode| inode.parse().ok());
            if fields.get(3) == Some(&LISTEN) && inode.is_some_and(|inode| own.contains(&inode)) {
                let (address, port) = fields[1].split_once(':').expect("address:port");
                found.push((address.to_owned(), u16::from_str_radix(port, 16).expect("a port")));
            }
        }
    }
    found
}

fn within<T>(limit: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        match ask() {
            None if start.elapsed() < limit => std::thread::sleep(Duration::from_millis(5)),
            answer => return answer,
        }
    }
}

/// What a viewer sends first, and the answer's first byte (`TracyProtocol.hpp`).
fn connect(port: u16, version: u32) -> (TcpStream, u8) {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(b"TracyPrf").unwrap();
    stream.write_all(&version.to_le_bytes()).unwrap();
    let mut status = [0];
    stream.read_exact(&mut status).expect("an answer");
    (stream, status[0])
}

/// Some of everything that is sent.
fn frame(times: &PhaseTimes, gpu: &mut GpuTimeline) {
    static TASK: ZoneLocation = ZoneLocation::new(c"task");
    let listening = profile::listening();
    times.time(Phase::Execute, || {
        times.worker(Phase::Execute, || drop(profile::zone(&TASK, listening)))
    });
    for plot in Plot::ALL {
        profile::plot(plot, 1.0);
    }
    gpu.pass("shadow", 10, 20);
    profile::frame_mark();
}

#[test]
fn the_client_waits_on_loopback_and_streams_to_whoever_connects() {
    /// `HandshakeStatus`.
    const WELCOME: u8 = 1;
    const PROTOCOL_MISMATCH: u8 = 2;
    /// Tracy 0.14's.
    const PROTOCOL_VERSION: u32 = 82;
    let timeout = Duration::from_secs(10);

    assert_eq!(listening_on(), [], "nothing listens before init");
    profile::init(ZoneLevel::Tasks).expect("the first init");
    assert!(profile::init(ZoneLevel::Tasks).is_err(), "there is one log");

    let sockets = within(timeout, || Some(listening_on()).filter(|found| !found.is_empty()));
    let sockets = sockets.expect("the client listens");
    let loopback = ["0100007F", "00000000000000000000000001000000"];
    for (address, port) in &sockets {
        assert!(loopback.contains(&address.as_str()), "port {port} is open on {address}");
    }
    let port = sockets[0].1;

    let times = PhaseTimes::default();
    let mut gpu = GpuTimeline::new("test queue", GpuApi::Vulkan, 0);
    assert!(!profile::watched() && !profile::listening(), "nobody is connected yet");
    frame(&times, &mut gpu);

    let (_, status) = connect(port, PROTOCOL_VERSION + 1);
    assert_eq!(status, PROTOCOL_MISMATCH, "another version's viewer is told so");
    assert!(!profile::wait_for_viewer(Duration::from_millis(50)), "and is no viewer");

    let (mut viewer, status) = connect(port, PROTOCOL_VERSION);
    assert_eq!(status, WELCOME);
    assert!(profile::wait_for_viewer(timeout), "a viewer is seen");
    assert!(profile::watched() && profile::listening());

    // A zone costs bytes on the wire; an idle client sends far fewer in the same time.
    let mut received = 0;
    let mut buffer = vec![0; 1 << 16];
    let streamed = within(timeout, || {
        (0..100).for_each(|_| frame(&times, &mut gpu));
        received += viewer.read(&mut buffer).expect("a stream");
        (received > 100_000).then_some(())
    });
    assert!(streamed.is_some(), "only {received} bytes came");

    drop(viewer);
    let left = within(timeout, || (!profile::watched() && !profile::listening()).then_some(()));
    assert!(left.is_some(), "a viewer that leaves is noticed");
    frame(&times, &mut gpu);
}

//! As much of a viewer of Tracy 0.14 as it takes to count zones: the handshake, the stream's LZ4
//! blocks, the length of every event, and questions for the names of source locations. Layouts are
//! those of the client's `TracyQueue.hpp` and `TracyProtocol.hpp`.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

/// Number of zones by name.
pub type Zones = BTreeMap<String, u64>;

const PROTOCOL_VERSION: u32 = 82;
/// `WelcomeMessage`, then, on demand, `OnDemandPayloadMessage`.
const WELCOME: usize = 8 * 8 + 2 + 12 + 4 + 64 + 1024;
const ON_DEMAND: usize = 16;

/// `ServerQuery`.
mod query {
    pub const TERMINATE: u8 = 0;
    pub const STRING: u8 = 1;
    pub const SOURCE_LOCATION: u8 = 3;
}

/// `QueueType`, those that matter here.
mod event {
    /// With times of 64, 32 and 16 bits, and the same again with a call stack.
    pub const ZONE_BEGIN: [u8; 6] = [19, 20, 21, 22, 23, 24];
    pub const TERMINATE: u8 = 73;
    pub const SOURCE_LOCATION: u8 = 87;
    /// Strings without a pointer: the length counts from 256, or is a byte.
    pub const STRINGS_16: [u8; 2] = [112, 113];
    pub const STRINGS_8: [u8; 2] = [114, 115];
    /// Strings with a pointer.
    pub const FIRST_TRANSFER: u8 = 119;
    pub const STRING_DATA: u8 = 119;
    pub const SOURCE_LOCATION_PAYLOAD: u8 = 122;
    /// Those whose length has 32 bits.
    pub const LONG: [u8; 3] = [126, 129, 130];
}

/// Bytes of each event after its type.
const SIZES: [usize; 132] = [
    0, 0, 9, 12, 9, 12, 8, 8, 8, 0, 0, 0, 12, 8, 6, 12, 8, 6, 9, // messages, call stacks
    16, 12, 10, 16, 12, 10, 8, 4, 2, // zones
    16, 16, 12, 16, 16, 16, 4, // locks
    26, 26, 20, 20, 26, 26, 20, 20, 20, 20, // memory
    23, 23, 15, 15, 15, 23, 23, 15, 15, 15, // the GPU
    24, 20, 24, 22, 15, 11, 1, 9, 9, 12, 0, 0, 0, 24, 12, 14, 12, 2, // plots to sections
    0, 0, 4, 25, 17, 0, 16, 4, 3, 8, 16, 16, 16, 12, 31, 21, 12, 16, // terminate to lock mark
    16, 19, 16, 19, 27, 16, 12, 24, 16, 16, 16, 16, 16, 16, 16, 15, 17, // to parameters
    0, 4, 0, 16, 0, 0, 0, 0, 8, 8, 23, // answers, strings without a pointer
    8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, // strings with one
];

struct Viewer {
    stream: TcpStream,
    /// Everything that was unpacked, of which the last 64 KiB may be referred to again.
    history: Vec<u8>,
    /// Zones by the address of their source location.
    begun: HashMap<u64, u64>,
    /// Addresses whose source location was asked for and has not come.
    asked: VecDeque<u64>,
    /// Source location by the address of its name.
    naming: HashMap<u64, Vec<u64>>,
    names: HashMap<u64, String>,
    /// Zones whose source location came with them, by name.
    allocated: Zones,
    over: bool,
}

/// Connects to the program as soon as it listens, and looks on until it ends.
pub fn watch(port: u16) -> Zones {
    let mut viewer = Viewer {
        stream: connect(port),
        history: Vec::new(),
        begun: HashMap::new(),
        asked: VecDeque::new(),
        naming: HashMap::new(),
        names: HashMap::new(),
        allocated: Zones::new(),
        over: false,
    };
    while !(viewer.over && viewer.names.len() == viewer.begun.len()) {
        viewer.block();
    }
    viewer.ask(query::TERMINATE, 0);
    let mut zones = viewer.allocated;
    for (address, count) in viewer.begun {
        *zones.entry(viewer.names[&address].clone()).or_default() += count;
    }
    zones
}

fn connect(port: u16) -> TcpStream {
    let start = Instant::now();
    let mut stream = loop {
        match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            Ok(stream) => break stream,
            Err(fault) if start.elapsed() > Duration::from_secs(60) => panic!("{fault}"),
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(b"TracyPrf").unwrap();
    stream.write_all(&PROTOCOL_VERSION.to_le_bytes()).unwrap();
    let mut greeting = [0; 1 + WELCOME + ON_DEMAND];
    stream.read_exact(&mut greeting).expect("a welcome");
    assert_eq!(greeting[0], 1, "HandshakeWelcome");
    stream
}

impl Viewer {
    fn ask(&mut self, what: u8, about: u64) {
        let mut packet = vec![what];
        packet.extend(about.to_le_bytes());
        packet.extend(0_u32.to_le_bytes());
        // Whoever has gone needs no answer.
        let sent = self.stream.write_all(&packet);
        assert!(sent.is_ok() || what == query::TERMINATE);
    }

    /// Reads one block and the events in it; a block begins and ends with whole events.
    fn block(&mut self) {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).expect("a block, until the program says its last");
        let mut packed = vec![0; u32::from_le_bytes(length) as usize];
        self.stream.read_exact(&mut packed).expect("a whole block");
        let start = self.history.len();
        unpack(&packed, &mut self.history);
        let events = self.history[start..].to_vec();
        self.history.drain(..self.history.len().saturating_sub(1 << 16));
        let mut rest = events.as_slice();
        while let Some((&kind, after)) = rest.split_first() {
            let (data, after) = after.split_at(SIZES[usize::from(kind)]);
            let (text, after) = text(kind, after);
            self.event(kind, data, text);
            rest = after;
        }
    }

    fn event(&mut self, kind: u8, data: &[u8], text: &[u8]) {
        let address = |at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
        match kind {
            _ if event::ZONE_BEGIN.contains(&kind) => {
                let location = address(data.len() - 8);
                let count = self.begun.entry(location).or_default();
                *count += 1;
                if *count == 1 {
                    self.asked.push_back(location);
                    self.ask(query::SOURCE_LOCATION, location);
                }
            }
            event::SOURCE_LOCATION => {
                // Answers come in the order of the questions and do not repeat them.
                let location = self.asked.pop_front().expect("a question");
                self.naming.entry(address(0)).or_default().push(location);
                self.ask(query::STRING, address(0));
            }
            event::STRING_DATA => {
                let name = String::from_utf8_lossy(text).into_owned();
                for location in self.naming.remove(&address(0)).unwrap_or_default() {
                    self.names.insert(location, name.clone());
                }
            }
            event::SOURCE_LOCATION_PAYLOAD => {
                // Colour, line, then function, file and, last, the name; the former end with zeros.
                let name = text[8..].splitn(3, |b| *b == 0).nth(2).unwrap_or_default();
                let name = String::from_utf8_lossy(name).into_owned();
                *self.allocated.entry(name).or_default() += 1;
            }
            event::TERMINATE => self.over = true,
            _ => {}
        }
    }
}

/// The string that comes with an event, and what follows it.
fn text(kind: u8, after: &[u8]) -> (&[u8], &[u8]) {
    let number =
        |bytes: usize| after[..bytes].iter().rev().fold(0, |n: usize, b| n << 8 | usize::from(*b));
    let (header, length) = match kind {
        _ if event::STRINGS_8.contains(&kind) => (1, number(1)),
        _ if event::STRINGS_16.contains(&kind) => (2, number(2) + 256),
        _ if event::LONG.contains(&kind) => (4, number(4)),
        _ if kind >= event::FIRST_TRANSFER => (2, number(2)),
        _ => return (&[], after),
    };
    after[header..].split_at(length)
}

/// Appends an LZ4 block (`lz4_Block_format.md`) to what was unpacked before it.
fn unpack(packed: &[u8], out: &mut Vec<u8>) {
    let mut bytes = packed.iter().copied();
    let length = |bytes: &mut dyn Iterator<Item = u8>, nibble: u8| {
        let mut sum = usize::from(nibble);
        let mut more = nibble == 15;
        while more {
            let byte = bytes.next().expect("a length");
            sum += usize::from(byte);
            more = byte == 255;
        }
        sum
    };
    while let Some(token) = bytes.next() {
        let literals = length(&mut bytes, token >> 4);
        out.extend(bytes.by_ref().take(literals));
        // The last sequence is literals alone.
        let Some(low) = bytes.next() else { return };
        let offset = usize::from(u16::from_le_bytes([low, bytes.next().expect("an offset")]));
        let repeated = 4 + length(&mut bytes, token & 15);
        assert!(offset > 0 && offset <= out.len(), "{offset} of {}", out.len());
        // Byte by byte, because a match may run into itself.
        for _ in 0..repeated {
            out.push(out[out.len() - offset]);
        }
    }
}

//! Frames into a recording, on a thread of its own.

use super::RecordedRun;
use crate::app::cli::RunConfig;
use crate::app::output;
use crate::crowd::{Crowd, ReplayHeader, ReplayWriter};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Frames that may wait for the disk; then the run waits too.
const WAITING: usize = 8;

/// What the thread is told.
enum Message {
    Frame(Vec<u8>),
    /// The run is over. A channel that closes without it is a run that failed.
    End,
}

/// What became of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// Number of frames.
    pub frames: u64,
    /// Size of the file.
    pub bytes: u64,
}

/// A recording that is being written. Its file appears when it is finished, and not before.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    send: Option<SyncSender<Message>>,
    /// Buffers that the disk is done with.
    back: Receiver<Vec<u8>>,
    thread: Option<JoinHandle<anyhow::Result<Written>>>,
}

impl Recording {
    /// Begins a recording of a run whose crowd has not ticked; `checksums` are its cast's.
    ///
    /// # Errors
    /// Of the system.
    pub fn begin(
        path: &Path,
        config: &RunConfig,
        checksums: &[u64],
        crowd: &mut Crowd,
    ) -> anyhow::Result<Self> {
        let header = crowd.replay_header(checksums, RecordedRun::of(config).to_text()?);
        crowd.record_frames();
        let (send, messages) = sync_channel(WAITING);
        let (give_back, back) = sync_channel(WAITING + 1);
        let to = path.to_owned();
        let write = move || write(&to, &header, &messages, &give_back);
        let thread = thread::Builder::new().name("recording".into()).spawn(write)?;
        Ok(Self { path: path.to_owned(), send: Some(send), back, thread: Some(thread) })
    }

    /// Where it is written to.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Hands a frame to the thread; waits when the disk is behind by as many frames as may wait.
    /// When the disk refused a frame, [`Recording::finish`] tells.
    pub fn frame(&mut self, frame: &[u8]) {
        let mut buffer = self.back.try_recv().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(frame);
        if let Some(send) = &self.send {
            let _ = send.send(Message::Frame(buffer));
        }
    }

    /// Writes the end and waits for it.
    ///
    /// # Errors
    /// Of the file system; there is no file then.
    pub fn finish(mut self) -> anyhow::Result<Written> {
        if let Some(send) = self.send.take() {
            let _ = send.send(Message::End);
        }
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        ended.unwrap_or_else(|| Err(anyhow::anyhow!("the thread that writes it broke off")))
    }
}

impl Drop for Recording {
    /// Of a run that failed nothing is left, and that is so when the program ends.
    fn drop(&mut self) {
        self.send = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write(
    path: &Path,
    header: &ReplayHeader,
    messages: &Receiver<Message>,
    give_back: &SyncSender<Vec<u8>>,
) -> anyhow::Result<Written> {
    let mut written = Written { frames: 0, bytes: 0 };
    output::write_whole(path, |file| {
        let mut writer = ReplayWriter::new(file, header)?;
        loop {
            match messages.recv() {
                Ok(Message::Frame(frame)) => {
                    writer.frame(&frame)?;
                    // The run may be over by now, and need no buffers.
                    let _ = give_back.try_send(frame);
                }
                Ok(Message::End) => break,
                Err(_) => anyhow::bail!("the run broke off"),
            }
        }
        let (_, frames, bytes) = writer.finish()?;
        written = Written { frames, bytes };
        Ok(())
    })?;
    Ok(written)
}

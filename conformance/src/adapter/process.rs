//! A process with its three pipes. One thread writes, one reads lines, one keeps
//! the tail of standard error; nobody waits without a limit.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use onrecord_spec::op::{Fault, FaultKind};
use wait_timeout::ChildExt;

use super::fault;
use crate::words::{count, excerpt, visible_lines};

/// How much of standard error is kept, in bytes.
const TAIL: usize = 4096;

/// How long a process has to end when its input has ended, and its standard
/// error to come to its end when it has died.
const GRACE: Duration = Duration::from_secs(1);

/// How many lines wait unread. A process that floods is held up by its own pipe
/// and does not fill the runner's memory.
const LINES_AHEAD: usize = 4;

#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// Requests for the writing thread; dropping it ends the process's input.
    requests: Option<Sender<Vec<u8>>>,
    lines: Receiver<Line>,
    longest: usize,
    /// How many bytes of a line without its end have been read.
    begun: Arc<AtomicUsize>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    stderr_ended: Receiver<()>,
    /// True once it was ended from here.
    ended: bool,
}

/// What the reading thread saw.
#[derive(Debug)]
enum Line {
    Whole(Vec<u8>),
    TooLong,
    /// The output ended, with this much behind the last line break.
    End(Vec<u8>),
}

impl Process {
    pub(super) fn start(command: &[String], longest: usize) -> Result<Self, Fault> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(fault(FaultKind::NotStarted, "no command was given"));
        };
        let mut prepared = Command::new(program);
        prepared.args(arguments);
        prepared.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own, so that what it starts can be ended with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut prepared, 0);
        let mut child = prepared.spawn().map_err(|error| {
            let shown = excerpt(program, 200);
            let message = format!(
                "`{shown}` cannot be started: {error}; give a program and its arguments after \
                 `--`, as you would type them"
            );
            fault(FaultKind::NotStarted, &message)
        })?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(fault(FaultKind::NotStarted, "its pipes are not there"));
        };
        let begun = Arc::new(AtomicUsize::new(0));
        let (tail, stderr_ended) = keep_tail(stderr);
        Ok(Self {
            child,
            requests: Some(write_to(stdin)),
            lines: read_lines(stdout, longest, Arc::clone(&begun)),
            longest,
            begun,
            stderr: tail,
            stderr_ended,
            ended: false,
        })
    }

    /// Sends a line and waits for the next one.
    pub(super) fn exchange(
        &mut self,
        request: Vec<u8>,
        timeout: Duration,
    ) -> Result<Vec<u8>, Fault> {
        if let Some(requests) = &self.requests {
            // If the writing thread is gone, so is the process: reading tells.
            let _ = requests.send(request);
        }
        match self.lines.recv_timeout(timeout) {
            Ok(Line::Whole(line)) => Ok(line),
            Ok(Line::TooLong) => {
                let message = format!(
                    "it wrote a line that is longer than the limit of {} bytes",
                    self.longest
                );
                Err(fault(FaultKind::TooLong, &message))
            }
            Ok(Line::End(rest)) if rest.is_empty() => {
                Err(fault(FaultKind::Died, "it ended before it answered"))
            }
            Ok(Line::End(rest)) => {
                let rest = excerpt(&String::from_utf8_lossy(&rest), 80);
                let message = format!("it ended in the middle of a line: `{rest}`");
                Err(fault(FaultKind::Died, &message))
            }
            Err(RecvTimeoutError::Timeout) => Err(self.timed_out(timeout)),
            Err(RecvTimeoutError::Disconnected) => {
                Err(fault(FaultKind::Died, "it ended before it answered"))
            }
        }
    }

    fn timed_out(&self, timeout: Duration) -> Fault {
        let mut message = format!("it did not answer within {} s", timeout.as_secs_f64());
        let begun = self.begun.load(Ordering::Relaxed);
        if begun > 0 {
            message.push_str(&format!(
                "; it has written {} without a line break: end each answer with one, and flush",
                count(begun, "byte")
            ));
        }
        fault(FaultKind::Timeout, &message)
    }

    /// Ends the input and waits a moment for the process to end. True if it did.
    pub(super) fn close(&mut self) -> bool {
        self.requests = None;
        let until = Instant::now() + GRACE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(Line::End(_)) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(Line::Whole(_) | Line::TooLong) => {}
                Err(RecvTimeoutError::Timeout) => {
                    self.kill();
                    return false;
                }
            }
        }
        let ended = matches!(self.child.wait_timeout(GRACE), Ok(Some(_)));
        self.kill();
        ended
    }

    /// Ends the process and all that it started.
    pub(super) fn kill(&mut self) {
        self.requests = None;
        if self.ended {
            return;
        }
        self.ended = true;
        self.kill_group();
        // Both fail only if it has ended already, and then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// How a process ended whose output has ended.
    pub(super) fn ending(&mut self) -> String {
        match self.child.wait_timeout(GRACE) {
            Ok(Some(status)) => match status.code() {
                Some(code) => format!("exit code {code}"),
                None => status.to_string(),
            },
            Ok(None) => "it closed its standard output and went on".to_string(),
            Err(error) => format!("how it ended is not known: {error}"),
        }
    }

    #[cfg(unix)]
    fn kill_group(&self) {
        let group = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            // It may have ended already; then there is nothing to end.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }

    #[cfg(not(unix))]
    fn kill_group(&self) {}

    /// The last of standard error, after the process has ended.
    pub(super) fn stderr_tail(&mut self) -> String {
        let _ = self.stderr_ended.recv_timeout(GRACE);
        self.stderr_so_far()
    }

    pub(super) fn stderr_so_far(&mut self) -> String {
        let mut kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let text = visible_lines(&String::from_utf8_lossy(kept.make_contiguous()));
        text.trim_end().to_string()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn write_to(mut stdin: ChildStdin) -> Sender<Vec<u8>> {
    let (sender, requests) = channel::<Vec<u8>>();
    thread::spawn(move || {
        for request in requests {
            if stdin.write_all(&request).and_then(|()| stdin.flush()).is_err() {
                break;
            }
        }
    });
    sender
}

fn read_lines(stdout: ChildStdout, longest: usize, begun: Arc<AtomicUsize>) -> Receiver<Line> {
    let (sender, lines) = sync_channel(LINES_AHEAD);
    thread::spawn(move || read_to_end(BufReader::new(stdout), longest, &begun, &sender));
    lines
}

fn read_to_end(
    mut reader: impl BufRead,
    longest: usize,
    begun: &AtomicUsize,
    sender: &SyncSender<Line>,
) {
    let mut line = Vec::new();
    while let Ok(read) = reader.fill_buf() {
        if read.is_empty() {
            break;
        }
        let (piece, whole) = match read.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at, true),
            None => (read.len(), false),
        };
        if line.len() + piece > longest {
            let _ = sender.send(Line::TooLong);
            return;
        }
        line.extend_from_slice(&read[..piece]);
        reader.consume(piece + usize::from(whole));
        if whole && sender.send(Line::Whole(std::mem::take(&mut line))).is_err() {
            return;
        }
        begun.store(line.len(), Ordering::Relaxed);
    }
    let _ = sender.send(Line::End(line));
}

/// The end of a stream, and word of when it has come to its end.
fn keep_tail(mut stderr: impl Read + Send + 'static) -> (Arc<Mutex<VecDeque<u8>>>, Receiver<()>) {
    let tail = Arc::new(Mutex::new(VecDeque::with_capacity(TAIL)));
    let (ended, told) = channel();
    let kept = Arc::clone(&tail);
    thread::spawn(move || {
        let mut buffer = [0; TAIL];
        while let Ok(read @ 1..) = stderr.read(&mut buffer) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(&buffer[..read]);
            let surplus = kept.len().saturating_sub(TAIL);
            kept.drain(..surplus);
        }
        let _ = ended.send(());
    });
    (tail, told)
}

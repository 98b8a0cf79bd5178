//! `billow export`.

use crate::args::{ExportArgs, Format, FrameRange};
use crate::failure::Failure;
use crate::output::{Output, bytes};
use crate::progress::Bar;
use billow::io::cache::{Reader, UpAxis};
use billow::io::export::ply::Precision;
use billow::io::export::{
    FrameSource, SequenceFormat, SequenceOptions, Summary, UsdOptions, write_sequence, write_usd,
};
use billow::io::{self, Frame};
use serde_json::json;
use std::cell::Cell;
use std::path::{Path, PathBuf};

pub(crate) fn export(args: &ExportArgs, output: Output) -> Result<(), Failure> {
    let source = Selection::new(Reader::open(&args.run)?, args.frames)?;
    let target = target(args);
    let summary = {
        let bar = Bar::new("export", output.quiet);
        let (done, total) = (Cell::new(0), source.frames.len() as u64);
        let progress = |_: u32| {
            done.set(done.get() + 1);
            bar.set(done.get(), total);
        };
        write(args.format, &source, &target, progress)?
    };
    report(&summary, &target, output);
    Ok(())
}

fn write(
    format: Format,
    source: &Selection,
    target: &Path,
    progress: impl FnMut(u32),
) -> Result<Summary, Failure> {
    let sequence = |format| SequenceOptions { format, merged: false, objects: Vec::new() };
    match format {
        Format::Ply => {
            Ok(write_sequence(source, target, &sequence(SequenceFormat::Ply(Precision::Double)), progress)?)
        }
        Format::Obj => Ok(write_sequence(source, target, &sequence(SequenceFormat::Obj), progress)?),
        Format::Usd => {
            if let Some(folder) = target.parent().filter(|f| !f.as_os_str().is_empty()) {
                std::fs::create_dir_all(folder)
                    .map_err(|error| Failure::System(format!("cannot make {}: {error}", folder.display())))?;
            }
            Ok(write_usd(source, target, &UsdOptions::default(), progress)?)
        }
    }
}

fn report(summary: &Summary, target: &Path, output: Output) {
    for (object, reason) in &summary.skipped {
        output.say(format!("left out `{object}`: {reason}"));
    }
    output.say(format!(
        "{} frames, {} files, {} in {}",
        summary.frames,
        summary.files.len(),
        bytes(summary.bytes),
        target.display()
    ));
    output.result(&json!({
        "ok": true,
        "output": target.display().to_string(),
        "frames": summary.frames,
        "files": summary.files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>(),
        "bytes": summary.bytes,
        "skipped": summary.skipped.iter().map(|(object, reason)| json!({"object": object, "reason": reason})).collect::<Vec<_>>(),
    }));
}

/// Where to write: as typed, or beside the run. A USD target without a USD ending is a folder for the file.
fn target(args: &ExportArgs) -> PathBuf {
    let run = args.run.canonicalize().unwrap_or_else(|_| args.run.clone());
    let name = run.file_name().map_or_else(|| "run".into(), |n| n.to_string_lossy().into_owned());
    match (args.format, &args.output) {
        (Format::Usd, None) => args.run.with_file_name(format!("{name}.usdc")),
        (Format::Usd, Some(path)) if has_usd_ending(path) => path.clone(),
        (Format::Usd, Some(path)) => path.join(format!("{name}.usdc")),
        (_, Some(path)) => path.clone(),
        (Format::Ply, None) => args.run.with_file_name(format!("{name}-ply")),
        (Format::Obj, None) => args.run.with_file_name(format!("{name}-obj")),
    }
}

fn has_usd_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    matches!(ending.as_deref(), Some("usd" | "usda" | "usdc"))
}

/// The frames of a run that were asked for.
struct Selection {
    reader: Reader,
    frames: Vec<u32>,
}

impl Selection {
    fn new(reader: Reader, range: Option<FrameRange>) -> Result<Self, Failure> {
        let all = reader.frames();
        let wanted = |k: &u32| range.is_none_or(|r| *k >= r.first && r.last.is_none_or(|last| *k <= last));
        let frames: Vec<u32> = all.iter().copied().filter(wanted).collect();
        if frames.is_empty() {
            let have = match (all.first(), all.last()) {
                (Some(first), Some(last)) => format!("it has frames {first} to {last}"),
                _ => "it has no frames yet".to_string(),
            };
            return Err(Failure::bad_input(
                format!("no frame of {} was asked for", reader.dir().display()),
                have,
            ));
        }
        Ok(Self { reader, frames })
    }
}

impl FrameSource for Selection {
    fn frames(&self) -> &[u32] {
        &self.frames
    }

    fn frame(&self, index: u32) -> io::Result<Frame> {
        self.reader.read(index)
    }

    fn fps(&self) -> f64 {
        FrameSource::fps(&self.reader)
    }

    fn up_axis(&self) -> UpAxis {
        FrameSource::up_axis(&self.reader)
    }

    fn title(&self) -> &str {
        FrameSource::title(&self.reader)
    }
}

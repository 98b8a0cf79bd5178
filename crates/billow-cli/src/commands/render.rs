//! `billow render`.

use super::interrupt;
use crate::args::{Pair, RenderArgs};
use crate::failure::Failure;
use crate::output::{Output, duration};
use crate::progress::Bar;
use billow::io::cache::Reader;
use billow::num::par;
use billow::render::{
    Image, Picture, RunStudio, Settings, Sheet, Watch, develop, write_apng, write_exr, write_gif, write_png,
};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(crate) fn render(args: &RenderArgs, output: Output) -> Result<(), Failure> {
    let start = Instant::now();
    let (files, made) = par::with_threads(args.common.threads, || {
        let reader = Reader::open(&args.run)?;
        let plan = Plan::new(args, &reader)?;
        let bar = Bar::new("render", output.quiet);
        plan.carry_out(reader, &bar)
    })?;
    let seconds = start.elapsed().as_secs_f64();
    match files.as_slice() {
        [file] => output.say(format!("{} in {}", file.display(), duration(seconds))),
        [first, .., last] => {
            let count = files.len();
            output.say(format!(
                "{count} pictures, {} to {}, in {}",
                first.display(),
                last.display(),
                duration(seconds)
            ));
        }
        [] => {}
    }
    output.result(&json!({
        "ok": true,
        "files": files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>(),
        "frames": made.frames,
        "samples": made.samples,
        "seconds": seconds,
        "seconds_per_frame": seconds / made.frames.max(1) as f64,
        "samples_per_second": made.samples as f64 / seconds,
    }));
    Ok(())
}

/// What was made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Made {
    pub(super) frames: u64,
    pub(super) samples: u64,
}

/// Which frames are shown, how, and where the pictures go.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) frames: Vec<u32>,
    pub(super) settings: Settings,
    pub(super) target: Target,
}

/// Where pictures go.
#[derive(Debug)]
pub(super) enum Target {
    /// A file per frame; the ending says the format.
    Stills { folder: PathBuf, ending: &'static str },
    /// One picture.
    File(PathBuf),
    /// A contact sheet.
    Sheet { file: PathBuf, columns: u32, rows: u32 },
    /// An animated GIF or PNG.
    Animation(PathBuf),
    /// A movie made by ffmpeg.
    Movie(PathBuf),
}

impl Plan {
    fn new(args: &RenderArgs, reader: &Reader) -> Result<Self, Failure> {
        let mut frames = chosen(args, reader)?;
        let target = target(args, frames.len())?;
        if let Target::Sheet { columns, rows, .. } = target {
            frames = Sheet::choose(columns, rows, frames.len()).into_iter().map(|k| frames[k]).collect();
        }
        Ok(Self { frames, settings: settings(args), target })
    }

    /// Makes the pictures; returns the files.
    pub(super) fn carry_out(&self, reader: Reader, bar: &Bar) -> Result<(Vec<PathBuf>, Made), Failure> {
        let aspect = f64::from(self.settings.width) / f64::from(self.settings.height);
        let fps = reader.manifest().fps;
        let mut studio = RunStudio::new(reader, None, &self.frames, aspect)?;
        let mut sink = Sink::open(&self.target, &self.settings, fps)?;
        let mut made = Made::default();
        for (k, index) in self.frames.iter().enumerate() {
            let picture = self.shoot(&mut studio, *index, k, bar)?;
            made.frames += 1;
            made.samples += picture.samples;
            sink.take(*index, &picture)?;
        }
        Ok((sink.close()?, made))
    }

    /// One picture, with the bar moving and Ctrl-C obeyed.
    fn shoot(&self, studio: &mut RunStudio, index: u32, k: usize, bar: &Bar) -> Result<Picture, Failure> {
        let (watch, done) = (Watch::default(), AtomicBool::new(false));
        let total = self.frames.len() as u64;
        let picture = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if interrupt::flag().load(Ordering::Relaxed) {
                        watch.stop();
                    }
                    bar.set_share(k as u64, watch.done(), total);
                    std::thread::sleep(Duration::from_millis(40));
                }
            });
            let picture = studio.shoot(index, &self.settings, &watch);
            done.store(true, Ordering::Relaxed);
            picture
        })?;
        if watch.stopped() {
            return Err(Failure::Interrupted(format!(
                "stopped at frame {index}; {k} of {total} pictures are done"
            )));
        }
        Ok(picture)
    }
}

/// The frames asked for.
fn chosen(args: &RenderArgs, reader: &Reader) -> Result<Vec<u32>, Failure> {
    let all = reader.frames();
    let wanted = |k: &u32| match (args.frame, args.frames) {
        (Some(frame), _) => *k == frame,
        (None, Some(range)) => *k >= range.first && range.last.is_none_or(|last| *k <= last),
        (None, None) => true,
    };
    let frames: Vec<u32> = all.iter().copied().filter(wanted).step_by(args.every as usize).collect();
    if frames.is_empty() {
        let have = match (all.first(), all.last()) {
            (Some(first), Some(last)) => format!("it has frames {first} to {last}"),
            _ => "it has no frames yet".to_string(),
        };
        return Err(Failure::bad_input(format!("no frame of {} was asked for", args.run.display()), have));
    }
    Ok(frames)
}

fn settings(args: &RenderArgs) -> Settings {
    let base = if args.preview { Settings::preview() } else { Settings::default() };
    let Pair(width, height) = args.size;
    Settings {
        width,
        height,
        samples: args.samples.unwrap_or(base.samples),
        noise: args.noise.unwrap_or(base.noise),
        denoise: !args.no_denoise,
        caustics: args.caustics,
        ..base
    }
}

/// Where to write: as typed, or beside the run.
fn target(args: &RenderArgs, frames: usize) -> Result<Target, Failure> {
    let run = args.run.canonicalize().unwrap_or_else(|_| args.run.clone());
    let name = run.file_name().map_or_else(|| "run".into(), |n| n.to_string_lossy().into_owned());
    let beside = |suffix: &str| args.run.with_file_name(format!("{name}-{suffix}"));
    if let Some(file) = &args.movie {
        return movie_target(file);
    }
    if let Some(Pair(columns, rows)) = args.sheet {
        let file = args.output.clone().unwrap_or_else(|| beside("sheet.png"));
        return Ok(Target::Sheet { file, columns, rows });
    }
    match &args.output {
        Some(path) if matches!(ending(path).as_str(), "png" | "exr") => {
            if frames == 1 {
                return Ok(Target::File(path.clone()));
            }
            Err(Failure::bad_input(
                format!("{frames} pictures do not fit into one file, {}", path.display()),
                "name a folder, choose one with --frame N, or ask for a --sheet or a --movie",
            ))
        }
        other => Ok(Target::Stills {
            folder: other.clone().unwrap_or_else(|| beside("pictures")),
            ending: if args.exr { "exr" } else { "png" },
        }),
    }
}

fn movie_target(file: &Path) -> Result<Target, Failure> {
    match ending(file).as_str() {
        "gif" | "png" | "apng" => Ok(Target::Animation(file.into())),
        "mp4" | "webm" | "mov" | "mkv" if ffmpeg_is_installed() => Ok(Target::Movie(file.into())),
        "mp4" | "webm" | "mov" | "mkv" => Err(Failure::bad_input(
            format!("{} needs the program ffmpeg, which is not installed", file.display()),
            "install ffmpeg, or write an animation that needs nothing: --movie NAME.gif or NAME.png",
        )),
        _ => Err(Failure::bad_input(
            format!("{} is no movie format known here", file.display()),
            "end the name in .gif, .png, .mp4, .webm, .mov or .mkv",
        )),
    }
}

fn ending(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

fn ffmpeg_is_installed() -> bool {
    let quiet = Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

/// Where finished pictures are put.
enum Sink<'a> {
    Stills { folder: &'a Path, ending: &'static str, written: Vec<PathBuf> },
    File(&'a Path),
    Sheet { file: &'a Path, sheet: Sheet },
    Animation { file: &'a Path, fps: f64, images: Vec<Image> },
    Movie { file: &'a Path, ffmpeg: Child },
}

impl<'a> Sink<'a> {
    fn open(target: &'a Target, settings: &Settings, fps: f64) -> Result<Self, Failure> {
        Ok(match target {
            Target::Stills { folder, ending } => Self::Stills { folder, ending, written: Vec::new() },
            Target::File(file) => Self::File(file),
            Target::Sheet { file, columns, rows } => {
                Self::Sheet { file, sheet: Sheet::new(*columns, *rows, settings.width, settings.height) }
            }
            Target::Animation(file) => Self::Animation { file, fps, images: Vec::new() },
            Target::Movie(file) => Self::Movie { file, ffmpeg: start_ffmpeg(file, settings, fps)? },
        })
    }

    fn take(&mut self, index: u32, picture: &Picture) -> Result<(), Failure> {
        let still = |file: &Path| match ending(file).as_str() {
            "exr" => write_exr(file, picture),
            _ => write_png(file, &develop(picture)),
        };
        match self {
            Self::Stills { folder, ending, written } => {
                let file = folder.join(format!("frame-{index:04}.{ending}"));
                still(&file)?;
                written.push(file);
            }
            Self::File(file) => still(file)?,
            Self::Sheet { sheet, .. } => sheet.add(&develop(picture), &index.to_string()),
            Self::Animation { images, .. } => images.push(develop(picture)),
            Self::Movie { ffmpeg, file } => {
                use std::io::Write;
                let image = develop(picture);
                let pipe = ffmpeg.stdin.as_mut().ok_or_else(|| broken_pipe(file, "it takes no input"))?;
                pipe.write_all(image.pixels.as_flattened()).map_err(|e| broken_pipe(file, &e.to_string()))?;
            }
        }
        Ok(())
    }

    /// Completes the files and names them.
    fn close(self) -> Result<Vec<PathBuf>, Failure> {
        match self {
            Self::Stills { written, .. } => Ok(written),
            Self::File(file) => Ok(vec![file.into()]),
            Self::Sheet { file, sheet } => {
                write_png(file, &sheet.finish())?;
                Ok(vec![file.into()])
            }
            Self::Animation { file, fps, images } => {
                if ending(file) == "gif" {
                    write_gif(file, &images, fps)?;
                } else {
                    write_apng(file, &images, fps)?;
                }
                Ok(vec![file.into()])
            }
            Self::Movie { file, ffmpeg } => {
                let done = ffmpeg.wait_with_output().map_err(|e| broken_pipe(file, &e.to_string()))?;
                if !done.status.success() {
                    return Err(broken_pipe(file, String::from_utf8_lossy(&done.stderr).trim()));
                }
                Ok(vec![file.into()])
            }
        }
    }
}

/// Starts ffmpeg reading raw pictures from a pipe.
fn start_ffmpeg(file: &Path, settings: &Settings, fps: f64) -> Result<Child, Failure> {
    let size = format!("{}x{}", settings.width, settings.height);
    let rate = fps.to_string();
    Command::new("ffmpeg")
        .args(["-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", &size, "-r", &rate])
        // Most players want even sizes and four-two-zero colour.
        .args(["-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"])
        .arg(file)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| broken_pipe(file, &e.to_string()))
}

fn broken_pipe(file: &Path, reason: &str) -> Failure {
    Failure::System(format!("ffmpeg could not write {}: {reason}", file.display()))
}

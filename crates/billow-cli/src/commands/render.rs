//! `billow render`.

use super::interrupt;
use super::sink::{Sink, Target, ending, ffmpeg_is_installed};
use crate::args::{Pair, RenderArgs};
use crate::failure::Failure;
use crate::output::{Output, duration};
use crate::progress::Bar;
use billow::io::cache::Reader;
use billow::num::par;
use billow::render::{Look, Picture, RunStudio, Settings, Sheet, Watch};
use serde_json::json;
use std::path::{Path, PathBuf};
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

/// A quick contact sheet of a run, beside it: what a machine without a screen shows of it.
pub(super) fn overview(run: &Path, output: Output) -> Result<PathBuf, Failure> {
    let reader = Reader::open(run)?;
    let file = beside(run, "sheet.png");
    let settings = Settings { width: 480, height: 270, samples: 8, ..Settings::preview() };
    let plan = Plan::sheet(reader.frames(), [3, 2], settings, file.clone());
    plan.carry_out(reader, &Bar::new("picture", output.quiet))?;
    Ok(file)
}

/// What was made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Made {
    pub(super) frames: u64,
    pub(super) samples: u64,
}

/// Which frames are shown, how, and where the pictures go.
#[derive(Debug)]
struct Plan {
    shots: Shots,
    target: Target,
}

/// Which frames are shown and how.
#[derive(Debug)]
pub(super) struct Shots {
    pub(super) frames: Vec<u32>,
    pub(super) settings: Settings,
    /// Instead of the run's own look.
    pub(super) look: Option<Look>,
}

impl Plan {
    fn new(args: &RenderArgs, reader: &Reader) -> Result<Self, Failure> {
        let frames = chosen(args, reader)?;
        let look = look(args)?;
        if let Some(Pair(columns, rows)) = args.sheet {
            let file = args.output.clone().unwrap_or_else(|| beside(&args.run, "sheet.png"));
            if ending(&file) != "png" {
                return Err(Failure::bad_input(
                    format!("a contact sheet cannot be written as {}", file.display()),
                    "end its name in .png",
                ));
            }
            let mut plan = Self::sheet(&frames, [columns, rows], settings(args), file);
            plan.shots.look = look;
            return Ok(plan);
        }
        let target = target(args, frames.len())?;
        Ok(Self { shots: Shots { frames, settings: settings(args), look }, target })
    }

    /// A contact sheet of frames spread evenly over those given.
    fn sheet(frames: &[u32], [columns, rows]: [u32; 2], settings: Settings, file: PathBuf) -> Self {
        let frames = spread(frames, columns, rows);
        let columns = columns.min(frames.len() as u32);
        let rows = (frames.len() as u32).div_ceil(columns.max(1));
        let target = Target::Sheet { file, columns, rows };
        Self { shots: Shots { frames, settings, look: None }, target }
    }

    /// Makes the pictures; returns the files.
    fn carry_out(&self, reader: Reader, bar: &Bar) -> Result<(Vec<PathBuf>, Made), Failure> {
        let fps = self.pace(reader.manifest().fps);
        let mut studio = self.shots.studio(reader)?;
        let mut sink = Sink::open(&self.target, &self.shots.settings, fps)?;
        let made = self.shots.take(&mut studio, bar, |index, picture| sink.take(index, picture))?;
        Ok((sink.close()?, made))
    }

    /// Pictures per second at which a movie of these frames runs as fast as what it shows.
    fn pace(&self, fps: f64) -> f64 {
        match self.shots.frames.as_slice() {
            [first, .., last] => fps * (self.shots.frames.len() - 1) as f64 / f64::from(last - first),
            _ => fps,
        }
    }
}

/// The frames of a contact sheet, spread evenly over those given.
pub(super) fn spread(frames: &[u32], columns: u32, rows: u32) -> Vec<u32> {
    Sheet::choose(columns, rows, frames.len()).into_iter().map(|k| frames[k]).collect()
}

impl Shots {
    /// The studio in which the pictures are taken.
    pub(super) fn studio(&self, reader: Reader) -> Result<RunStudio, Failure> {
        let aspect = f64::from(self.settings.width) / f64::from(self.settings.height);
        Ok(RunStudio::new(reader, self.look.clone(), &self.frames, aspect)?)
    }

    /// Takes the pictures one after the other and hands them over.
    pub(super) fn take(
        &self,
        studio: &mut RunStudio,
        bar: &Bar,
        mut hand_over: impl FnMut(u32, &Picture) -> Result<(), Failure>,
    ) -> Result<Made, Failure> {
        let mut made = Made::default();
        for (k, index) in self.frames.iter().enumerate() {
            let picture = self.shoot(studio, *index, k, bar)?;
            made.frames += 1;
            made.samples += picture.samples;
            hand_over(*index, &picture)?;
        }
        Ok(made)
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

/// The look of another scene than the run's own.
fn look(args: &RenderArgs) -> Result<Option<Look>, Failure> {
    args.scene.as_ref().map(|name| Ok(super::run::load(name, &[])?.look().clone())).transpose()
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
    if let Some(file) = &args.movie {
        return movie_target(file);
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
        Some(path) if matches!(ending(path).as_str(), "gif" | "mp4" | "webm" | "mov" | "mkv" | "apng") => {
            Err(Failure::bad_input(
                format!("{} is a movie, not a picture", path.display()),
                format!("write: --movie {}", path.display()),
            ))
        }
        Some(path)
            if matches!(ending(path).as_str(), "jpg" | "jpeg" | "tif" | "tiff" | "bmp" | "webp" | "hdr") =>
        {
            Err(Failure::bad_input(
                format!("{} is no picture format known here", path.display()),
                "end the name in .png or .exr, or name a folder",
            ))
        }
        other => Ok(Target::Stills {
            folder: other.clone().unwrap_or_else(|| beside(&args.run, "pictures")),
            ending: if args.exr { "exr" } else { "png" },
        }),
    }
}

/// The name of a run with a suffix, in the folder the run stands in.
fn beside(run: &Path, suffix: &str) -> PathBuf {
    let whole = run.canonicalize().unwrap_or_else(|_| run.to_path_buf());
    let name = whole.file_name().map_or_else(|| "run".into(), |n| n.to_string_lossy().into_owned());
    run.with_file_name(format!("{name}-{suffix}"))
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

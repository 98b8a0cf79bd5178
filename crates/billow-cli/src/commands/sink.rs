//! Where pictures go: files, contact sheets, animations, and movies by ffmpeg.

use crate::failure::Failure;
use billow::render::{Image, Picture, Settings, Sheet, develop, write_apng, write_exr, write_gif, write_png};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

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

/// A file's ending in lower case.
pub(super) fn ending(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Whether movies can be made.
pub(super) fn ffmpeg_is_installed() -> bool {
    let quiet = Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

/// Where finished pictures are put.
pub(super) enum Sink<'a> {
    Stills { folder: &'a Path, ending: &'static str, written: Vec<PathBuf> },
    File(&'a Path),
    Sheet { file: &'a Path, sheet: Sheet },
    Animation { file: &'a Path, fps: f64, images: Vec<Image> },
    Movie(Movie<'a>),
}

impl<'a> Sink<'a> {
    pub(super) fn open(target: &'a Target, settings: &Settings, fps: f64) -> Result<Self, Failure> {
        Ok(match target {
            Target::Stills { folder, ending } => Self::Stills { folder, ending, written: Vec::new() },
            Target::File(file) => Self::File(file),
            Target::Sheet { file, columns, rows } => {
                let cells = u64::from(*columns) * u64::from(*rows);
                let pixels = cells.saturating_mul(u64::from(settings.width) * u64::from(settings.height));
                if pixels > Settings::MOST_PIXELS {
                    return Err(Failure::bad_input(
                        format!(
                            "a sheet of {columns} × {rows} pictures of {} × {} is {:.0} million pixels; at most {:.0} million fit",
                            settings.width,
                            settings.height,
                            pixels as f64 * 1e-6,
                            Settings::MOST_PIXELS as f64 * 1e-6
                        ),
                        "ask for fewer pictures, or smaller ones with --size",
                    ));
                }
                Self::Sheet { file, sheet: Sheet::new(*columns, *rows, settings.width, settings.height) }
            }
            Target::Animation(file) => Self::Animation { file, fps, images: Vec::new() },
            Target::Movie(file) => Self::Movie(Movie::start(file, settings, fps)?),
        })
    }

    pub(super) fn take(&mut self, index: u32, picture: &Picture) -> Result<(), Failure> {
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
            Self::Sheet { sheet, .. } => sheet.add(develop(picture), &index.to_string()),
            Self::Animation { images, .. } => images.push(develop(picture)),
            Self::Movie(movie) => movie.take(&develop(picture))?,
        }
        Ok(())
    }

    /// Completes the files and names them.
    pub(super) fn close(self) -> Result<Vec<PathBuf>, Failure> {
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
            Self::Movie(movie) => movie.close().map(|file| vec![file]),
        }
    }
}

/// A movie that ffmpeg is writing.
pub(super) struct Movie<'a> {
    file: &'a Path,
    ffmpeg: Child,
}

impl<'a> Movie<'a> {
    /// Starts ffmpeg reading raw pictures from a pipe.
    fn start(file: &'a Path, settings: &Settings, fps: f64) -> Result<Self, Failure> {
        if let Some(folder) = file.parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|e| Failure::System(format!("cannot make {}: {e}", folder.display())))?;
        }
        let size = format!("{}x{}", settings.width, settings.height);
        let rate = fps.to_string();
        let ffmpeg = Command::new("ffmpeg")
            .args([
                "-y",
                "-loglevel",
                "error",
                "-f",
                "rawvideo",
                "-pix_fmt",
                "rgb24",
                "-s",
                &size,
                "-r",
                &rate,
            ])
            // Most players want even sizes and four-two-zero colour.
            .args(["-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"])
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| ffmpeg_failed(file, &e.to_string()))?;
        Ok(Self { file, ffmpeg })
    }

    fn take(&mut self, image: &Image) -> Result<(), Failure> {
        let Some(pipe) = self.ffmpeg.stdin.as_mut() else {
            return Err(ffmpeg_failed(self.file, "it takes no input"));
        };
        pipe.write_all(image.pixels.as_flattened()).map_err(|broken| {
            // It has gone, and has said why.
            self.ffmpeg.stdin = None;
            let mut said = String::new();
            let heard = self.ffmpeg.stderr.take().map(|mut pipe| pipe.read_to_string(&mut said));
            match heard {
                Some(Ok(_)) if !said.trim().is_empty() => ffmpeg_failed(self.file, said.trim()),
                _ => ffmpeg_failed(self.file, &broken.to_string()),
            }
        })
    }

    fn close(self) -> Result<PathBuf, Failure> {
        let done = self.ffmpeg.wait_with_output().map_err(|e| ffmpeg_failed(self.file, &e.to_string()))?;
        if !done.status.success() {
            return Err(ffmpeg_failed(self.file, String::from_utf8_lossy(&done.stderr).trim()));
        }
        Ok(self.file.into())
    }
}

fn ffmpeg_failed(file: &Path, reason: &str) -> Failure {
    Failure::System(format!("ffmpeg could not write {}: {reason}", file.display()))
}

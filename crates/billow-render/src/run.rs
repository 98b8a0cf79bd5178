//! Pictures of a run on disk.

use crate::error::RenderError;
use crate::film::Watch;
use crate::look::Look;
use crate::picture::Picture;
use crate::settings::Settings;
use crate::studio::Studio;
use billow_io::Frame;
use billow_io::cache::Reader;

/// At most this many frames are looked at to place the camera; evenly spread, both ends among them.
const SURVEYED: usize = 64;

/// A run with a studio around it.
#[derive(Debug)]
pub struct RunStudio {
    reader: Reader,
    studio: Studio,
    /// The frame shown last, which the next one may need for motion blur.
    last: Option<Frame>,
}

impl RunStudio {
    /// Looks at the given frames of a run and places camera and lights. Without a look of your own the run's counts.
    ///
    /// # Errors
    /// If frames are missing or damaged, the look is impossible, or there is nothing to see.
    pub fn new(reader: Reader, look: Option<Look>, frames: &[u32], aspect: f64) -> Result<Self, RenderError> {
        let look = look.map_or_else(|| run_look(&reader), Ok)?;
        let first = reader.frames().first().copied().ok_or_else(|| RenderError::Empty {
            what: format!("{} has no frames yet", reader.dir().display()),
        })?;
        let manifest = reader.manifest();
        let reference = reader.read(first)?;
        let mut survey = Studio::survey(&look, manifest.up_axis, manifest.fps, &reference, aspect)?;
        let count = frames.len().min(SURVEYED);
        for k in 0..count {
            let at = if count == 1 { 0 } else { k * (frames.len() - 1) / (count - 1) };
            survey.add(&reader.read(frames[at])?);
        }
        Ok(Self { studio: survey.finish()?, reader, last: None })
    }

    /// Takes the picture of a frame.
    ///
    /// # Errors
    /// If the frame is missing, damaged or broken.
    pub fn shoot(&mut self, index: u32, settings: &Settings, watch: &Watch) -> Result<Picture, RenderError> {
        let frame = self.reader.read(index)?;
        let before = match self.last.take() {
            Some(last) if last.index + 1 == index => Some(last),
            _ if index > 0 && self.reader.frames().contains(&(index - 1)) => {
                Some(self.reader.read(index - 1)?)
            }
            _ => None,
        };
        let picture = self.studio.shoot(&frame, before.as_ref(), settings, watch)?;
        self.last = Some(frame);
        Ok(picture)
    }

    /// The run.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The studio around it.
    pub fn studio(&self) -> &Studio {
        &self.studio
    }
}

/// The look a run carries; the default if it has none.
fn run_look(reader: &Reader) -> Result<Look, RenderError> {
    match reader.manifest().driver.get(Look::MANIFEST_KEY) {
        Some(stored) => serde_json::from_value(stored.clone())
            .map_err(|e| RenderError::Look(vec![format!("{}: {e}", reader.dir().display())])),
        None => Ok(Look::default()),
    }
}

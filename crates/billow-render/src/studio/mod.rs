//! From a run to pictures: what the look leaves open is chosen from the frames, then each frame is built and traced.

mod dress;
mod geometry;
mod lighting;
mod survey;

use crate::error::RenderError;
use crate::film::{Watch, expose};
use crate::look::{Finish, GridKind, Look, Surface};
use crate::picture::Picture;
use crate::settings::Settings;
use crate::shape::{Placement, Shape};
use crate::surface::Material;
use crate::vector::{Quat, Vec3};
use crate::world::{Dome, Floor, Fog, Instance, Lamps, Lens, World};
use billow_io::cache::UpAxis;
use billow_io::{Frame, Object};
use geometry::{Cache, Moment};
use std::collections::BTreeMap;
use survey::Record;

pub use survey::Survey;

/// A place to take pictures of a run: camera, lights, ground and materials, fixed for all its frames.
#[derive(Debug)]
pub struct Studio {
    look: Look,
    /// Origin of the tracer's coordinates in the scene [m].
    origin: billow_num::Vec3,
    up: Vec3,
    centre: Vec3,
    /// Radius of the subject [m].
    radius: f32,
    lens: Lens,
    lamps: Lamps,
    dome: Dome,
    floor_height: Option<f32>,
    records: BTreeMap<String, Record>,
    /// Time between frames [s].
    interval: f64,
    cache: Cache,
}

impl Studio {
    /// Starts looking at a run: its look, its up axis, its frame rate [1/s], the first frame, to which patterns are
    /// fixed, and the aspect ratio (width over height) of the pictures.
    ///
    /// # Errors
    /// If the look holds impossible values.
    pub fn survey(
        look: &Look,
        up: UpAxis,
        fps: f64,
        reference: &Frame,
        aspect: f64,
    ) -> Result<Survey, RenderError> {
        Survey::new(look, up, fps, reference, aspect)
    }

    /// Takes the picture of a frame. `before` is the frame before it, if there is one, for motion blur.
    ///
    /// # Errors
    /// If the settings are out of range or the frame holds broken geometry.
    pub fn shoot(
        &mut self,
        frame: &Frame,
        before: Option<&Frame>,
        settings: &Settings,
        watch: &Watch,
    ) -> Result<Picture, RenderError> {
        settings.check()?;
        let world = self.world(frame, before)?;
        let mut picture = expose(&world, &self.lens, settings, frame.index, watch);
        let gain = 2f32.powf(self.look.camera.exposure as f32);
        for pixel in &mut picture.radiance {
            *pixel = pixel.map(|c| c * gain);
        }
        for variance in &mut picture.variance {
            *variance *= gain * gain;
        }
        if settings.denoise && !watch.stopped() {
            crate::denoise::denoise(&mut picture);
        }
        Ok(picture)
    }

    /// Where the camera stands, what it looks at and its vertical angle of view [m, m, °].
    pub fn view(&self) -> (billow_num::Vec3, billow_num::Vec3, f64) {
        let scene = |p: Vec3| p.as_dvec3() + self.origin;
        let target = self.lens.position + self.lens.forward * self.lens.focus;
        (scene(self.lens.position), scene(target), 2.0 * f64::from(self.lens.half_height).atan().to_degrees())
    }

    fn world(&mut self, frame: &Frame, before: Option<&Frame>) -> Result<World, RenderError> {
        let shutter = self.look.camera.shutter as f32;
        let interval = before.map_or(self.interval, |b| frame.time - b.time);
        let (mut instances, mut fogs) = (Vec::new(), Vec::new());
        for object in &frame.objects {
            let default = Record::default();
            let record = self.records.get(&object.name).unwrap_or(&default);
            let surface = self.look.objects.get(&object.name).cloned().unwrap_or_default();
            if surface.hidden || record.is_floor {
                continue;
            }
            let earlier = before.and_then(|b| b.objects.iter().find(|o| o.name == object.name));
            let moment = Moment { object, earlier, shutter, interval, origin: self.origin };
            let fail = |reason: String| RenderError::Frame {
                frame: frame.index,
                object: object.name.clone(),
                reason,
            };
            if let Some(fog) = geometry::fog(&moment, &surface).map_err(fail)? {
                fogs.push(fog);
                continue;
            }
            let sizes = geometry::Sizes { subject: self.radius, surface: &surface };
            if let Some(shape) = self.cache.shape(&moment, record, &sizes).map_err(fail)? {
                let material = dress::material(&surface, record);
                instances.push(Instance::new(shape, material, moment.placements()));
            }
        }
        self.cache.forget_unused();
        Ok(World::new(instances, self.floor(), fogs, self.lamps.clone(), self.dome.clone()))
    }

    fn floor(&self) -> Option<Floor> {
        let height = self.floor_height.filter(|_| self.look.ground.visible)?;
        let material = dress::ground(&self.look, &self.records, self.up, self.radius);
        let centre = self.centre + self.up * (height - self.centre.dot(self.up));
        let fade = [2.5 * self.radius, 9.0 * self.radius];
        Some(Floor { up: self.up, height, centre, fade, material })
    }
}

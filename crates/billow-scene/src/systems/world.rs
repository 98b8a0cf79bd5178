//! All solvers of a scene as one simulation.

use super::{System, systems};
use crate::driver::{Simulation, StepError, StepReport};
use crate::resolve::Resolved;
use billow_io::Frame;
use billow_num::stages::Stages;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Version of the list of saved systems; each system has its own for its part.
const STATE_FORMAT: u32 = 2;

/// The systems of a scene, advanced together.
pub struct World {
    systems: Vec<Box<dyn System>>,
    /// Places of the frame's objects by name, in the order of the scene.
    order: HashMap<String, usize>,
}

/// The state of one system in a checkpoint.
#[derive(Serialize, Deserialize)]
struct Saved {
    system: String,
    format: u32,
    state: Vec<u8>,
}

impl World {
    /// The scene at t = 0.
    pub(crate) fn new(scene: &Resolved) -> Self {
        let order = scene.object_names().enumerate().map(|(place, name)| (name.to_owned(), place)).collect();
        Self { systems: systems(scene), order }
    }
}

impl Simulation for World {
    fn step(&mut self, t: f64, dt: f64) -> Result<StepReport, StepError> {
        let mut stages = Stages::default();
        for system in &mut self.systems {
            stages.absorb(&system.step(t, dt)?.stages);
        }
        Ok(StepReport { stages })
    }

    fn mark(&mut self) {
        self.systems.iter_mut().for_each(|s| s.mark());
    }

    fn rollback(&mut self) {
        self.systems.iter_mut().for_each(|s| s.rollback());
    }

    fn snapshot(&self, index: u32, time: f64) -> Frame {
        let mut frame = Frame { index, time, ..Frame::default() };
        frame.stats.insert("energy".into(), 0.0);
        for system in &self.systems {
            system.snapshot(&mut frame);
        }
        frame.objects.sort_by_cached_key(|object| self.order.get(&object.name).copied());
        frame
    }

    fn save(&self) -> Vec<u8> {
        let saved =
            |s: &dyn System| Saved { system: s.name().to_owned(), format: s.state_format(), state: s.save() };
        let all: Vec<Saved> = self.systems.iter().map(|s| saved(s.as_ref())).collect();
        postcard::to_stdvec(&all).expect("plain data always serialises to memory")
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        let all: Vec<Saved> = postcard::from_bytes(bytes).map_err(|e| e.to_string())?;
        if !all.iter().map(|s| s.system.as_str()).eq(self.systems.iter().map(|s| s.name())) {
            let names: Vec<&str> = all.iter().map(|s| s.system.as_str()).collect();
            return Err(format!("it holds the state of other solvers ({})", names.join(", ")));
        }
        for (system, saved) in self.systems.iter_mut().zip(&all) {
            let (name, format) = (system.name(), system.state_format());
            if saved.format != format {
                return Err(format!(
                    "its {name} state has format {}, this program uses {format}",
                    saved.format
                ));
            }
            system.load(&saved.state).map_err(|e| format!("its {name} state cannot be used: {e}"))?;
        }
        Ok(())
    }

    fn preroll(&self) -> f64 {
        self.systems.iter().map(|s| s.preroll()).fold(0.0, f64::max)
    }

    fn state_format(&self) -> u32 {
        STATE_FORMAT
    }
}

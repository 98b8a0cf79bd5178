//! A USD layer as this exporter builds it: prims with attributes whose values are in the file already.

use super::value::Value;
use crate::cache::UpAxis;
use crate::error::Result;

/// Stores values as they come and, at the end, the scene that refers to them.
pub(super) trait Backend {
    /// Where a stored value is.
    type Rep: Clone;
    /// Stores a value.
    fn store(&mut self, value: &Value<'_>) -> Result<Self::Rep>;
    /// Completes the file; returns its size.
    fn finish(self, layer: &Layer<Self::Rep>) -> Result<u64>;
}

pub(super) struct Layer<R> {
    pub(super) documentation: String,
    pub(super) up_axis: UpAxis,
    pub(super) fps: f64,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) root: Prim<R>,
}

pub(super) struct Prim<R> {
    pub(super) name: String,
    pub(super) type_name: &'static str,
    /// The object's own name, where it is not a USD name.
    pub(super) display_name: Option<String>,
    pub(super) attributes: Vec<Attribute<R>>,
    pub(super) children: Vec<Self>,
}

pub(super) struct Attribute<R> {
    pub(super) name: String,
    pub(super) type_name: &'static str,
    /// Whether the attribute may not change in time.
    pub(super) uniform: bool,
    pub(super) interpolation: Option<&'static str>,
    pub(super) channel: Channel<R>,
}

/// The values of an attribute over time.
pub(super) struct Channel<R> {
    hash: Option<u128>,
    samples: Vec<(f64, R)>,
    /// The last time at which the value was seen unchanged.
    held: Option<f64>,
}

impl<R: Clone> Channel<R> {
    pub(super) fn new() -> Self {
        Self { hash: None, samples: Vec::new(), held: None }
    }

    /// A value for all times.
    pub(super) fn constant(rep: R) -> Self {
        Self { hash: None, samples: vec![(0.0, rep)], held: None }
    }

    /// Adds the value at `time`. Only changes are stored; because readers interpolate, the time before a change is
    /// stored with it.
    pub(super) fn push<B: Backend<Rep = R>>(
        &mut self,
        backend: &mut B,
        time: f64,
        value: &Value<'_>,
    ) -> Result<()> {
        let hash = Some(value.hash());
        if self.hash == hash {
            self.held = Some(time);
            return Ok(());
        }
        if let (Some(held), Some((_, last))) = (self.held.take(), self.samples.last()) {
            let last = last.clone();
            self.samples.push((held, last));
        }
        self.samples.push((time, backend.store(value)?));
        self.hash = hash;
        Ok(())
    }

    /// The one value, if it never changes.
    pub(super) fn single(&self) -> Option<&R> {
        match &self.samples[..] {
            [(_, value)] => Some(value),
            _ => None,
        }
    }

    /// Times and values; times increase.
    pub(super) fn samples(&self) -> &[(f64, R)] {
        &self.samples
    }
}

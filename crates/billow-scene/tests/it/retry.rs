//! The frame loop with a solver that fails where it is told to.

use billow_io::cache::{ManifestHeader, Reader, Writer};
use billow_io::{Frame, Object, Shape};
use billow_num::Vec3;
use billow_scene::driver::{
    Event, OnCrossing, Plan, RunError, RunReport, Silent, Simulation, StepError, StepErrorKind, StepReport,
    Watch, drive,
};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// A point that moves at 1 m/s; steps longer than `longest` fail while they touch `bad`.
#[derive(Clone)]
struct Point {
    x: f64,
    marked: f64,
    longest: f64,
    bad: std::ops::Range<f64>,
    poison_at: f64,
}

impl Simulation for Point {
    fn step(&mut self, t: f64, dt: f64) -> Result<StepReport, StepError> {
        self.x += dt;
        if dt > self.longest && t < self.bad.end && t + dt > self.bad.start {
            let error = StepError::new(StepErrorKind::Unresolved, "impact zones", "3 contacts stay open");
            return Err(error.body("sheet").element(41, Vec3::new(self.x, 0.0, 1.0)));
        }
        if t + dt > self.poison_at {
            self.x = f64::NAN;
        }
        Ok(StepReport::default())
    }
    fn mark(&mut self) {
        self.marked = self.x;
    }
    fn rollback(&mut self) {
        self.x = self.marked;
    }
    fn snapshot(&self, index: u32, time: f64) -> Frame {
        let sheet =
            Object::new("sheet", Shape::Points { positions: vec![Vec3::new(self.x, 0.0, 0.0)].into() });
        Frame { index, time, objects: vec![sheet], ..Frame::default() }
    }
    fn save(&self) -> Vec<u8> {
        self.x.to_le_bytes().to_vec()
    }
    fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.x = f64::from_le_bytes(bytes.try_into().map_err(|_| "not a state")?);
        Ok(())
    }
    fn state_format(&self) -> u32 {
        1
    }
}

const FINE: Point = Point { x: 0.0, marked: 0.0, longest: 1.0, bad: 9.0..9.0, poison_at: f64::INFINITY };

fn go(point: Point, dir: &Path, watch: Watch<'_>) -> Result<RunReport, RunError> {
    let plan = Plan {
        fps: 4.0,
        substeps: 2,
        max_halvings: 5,
        first: 0,
        last: 8,
        every: 1,
        time_limit: None,
        on_crossing: OnCrossing::Report,
        may_cross: Vec::new(),
        unaudited: Vec::new(),
        scene: 1,
    };
    let mut writer =
        Writer::create(dir, &ManifestHeader { fps: 4.0, last_frame: 8, ..Default::default() }).unwrap();
    drive(&mut point.clone(), &plan, 0, &mut writer, watch)
}

#[test]
fn trouble_is_passed_with_smaller_steps_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    let cancel = AtomicBool::new(false);
    let heard = Mutex::new(Vec::new());
    let progress = |event: &Event<'_>| {
        if let Event::Retry { frame, dt, reason, .. } = event {
            heard.lock().unwrap().push((*frame, *dt, (*reason).to_owned()));
        }
    };
    let point = Point { longest: 0.04, bad: 0.8..0.9, ..FINE };
    let report = go(point, dir.path(), Watch { progress: &progress, cancel: &cancel }).unwrap();
    let heard = heard.into_inner().unwrap();
    assert_eq!(report.retries as usize, heard.len());
    assert!(heard.iter().all(|(frame, ..)| *frame == 4), "{heard:?}");
    assert!(heard[0].2.contains("3 contacts stay open in stage `impact zones`, body `sheet`, element 41"));
    let reader = Reader::open(dir.path()).unwrap();
    assert_eq!(reader.read(8).unwrap().objects[0].shape.positions()[0].x, 2.0);
    let lines = reader.report().unwrap();
    assert_eq!(lines.len(), 9);
    assert_eq!(lines[4]["retries"].as_u64(), Some(report.retries));
    assert!(lines[4]["sub_steps"].as_u64() > lines[3]["sub_steps"].as_u64());
}

#[test]
fn at_the_limit_the_run_ends_with_body_element_place_and_time() {
    let dir = tempfile::tempdir().unwrap();
    let cancel = AtomicBool::new(false);
    let point = Point { longest: 0.0, bad: 0.8..0.9, ..FINE };
    let error = go(point, dir.path(), Watch { progress: &Silent, cancel: &cancel }).unwrap_err();
    let RunError::Step { frame, time, dt, halvings, ref body, element, place, .. } = error else {
        panic!("{error}")
    };
    assert_eq!((frame, halvings, dt), (4, 5, 0.125 / 32.0));
    assert!((0.79..0.81).contains(&time));
    assert_eq!((body.as_deref(), element, place.is_some()), (Some("sheet"), Some(41), true));
    assert!(error.to_string().contains("halved 5 times"), "{error}");
    assert_eq!(Reader::open(dir.path()).unwrap().frames(), [0, 1, 2, 3]);
}

#[test]
fn numbers_that_are_not_finite_never_reach_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let cancel = AtomicBool::new(false);
    let error =
        go(Point { poison_at: 1.1, ..FINE }, dir.path(), Watch { progress: &Silent, cancel: &cancel });
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("frame 5") && error.contains("vertex 0 is not finite") && error.contains("`sheet`"),
        "{error}"
    );
    assert_eq!(Reader::open(dir.path()).unwrap().frames(), [0, 1, 2, 3, 4]);
}

#[test]
fn a_formula_that_breaks_between_frames_ends_the_run_with_its_body_and_stage() {
    // Finite at every frame, infinite in the middle of the second.
    let text = "[simulation]\nfps = 4\nsubsteps = 2\nframes = 3\n[mesh.m]\nshape = \"box\"\n[body.bolt]\nmesh = \"m\"\n\
                motion = \"scripted\"\nposition = [\"1/(t - 0.375)\", 0, 0]\n";
    let dir = tempfile::tempdir().unwrap();
    let error = crate::support::run_in(&crate::support::scene(text), dir.path(), 1).unwrap_err();
    let message = error.to_string();
    for part in
        ["frame 2", "t = 0.25 s", "at t = 0.375 s is not finite", "stage `prescribed motion`", "body `bolt`"]
    {
        assert!(message.contains(part), "{part} is missing from: {message}");
    }
    assert_eq!(Reader::open(dir.path()).unwrap().frames(), [0, 1]);
}

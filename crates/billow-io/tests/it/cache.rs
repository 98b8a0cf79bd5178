//! The run directory as drivers and viewers use it.

use crate::samples::Sample;
use billow_io::cache::{ManifestHeader, Reader, SceneText, Status, Writer, frame_to_bytes};
use billow_io::{Error, Frame, Object, Shape};
use billow_num::Vec3;
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn header() -> ManifestHeader {
    ManifestHeader {
        title: "sample".into(),
        last_frame: 10,
        scene: vec![
            SceneText { name: "sample.toml".into(), text: "title = \"sample\"\n".into() },
            SceneText { name: "sub/cloth.toml".into(), text: "h = 1\n".into() },
        ],
        driver: serde_json::json!({"threads": 2}),
        ..ManifestHeader::default()
    }
}

/// Frames hold NaNs, so equality is that of their bytes.
fn assert_same(a: &Frame, b: &Frame) {
    assert_eq!(frame_to_bytes(a).unwrap(), frame_to_bytes(b).unwrap());
}

fn run(dir: &Path, frames: std::ops::Range<u32>) -> Writer {
    let sample = Sample::new(20);
    let mut writer = Writer::create(dir, &header()).unwrap();
    for index in frames {
        writer.write_frame(&sample.frame(index)).unwrap();
        writer.write_checkpoint(index, format!("state {index}").repeat(100).as_bytes()).unwrap();
        writer.append_report(&serde_json::json!({"frame": index, "energy": 0.5})).unwrap();
    }
    writer
}

#[test]
fn what_is_written_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), 0..6).finish(Status::Finished, None).unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    assert_eq!(reader.frames(), [0, 1, 2, 3, 4, 5]);
    assert_eq!((reader.status(), reader.manifest().title.as_str()), (Status::Finished, "sample"));
    assert_eq!(reader.scene().unwrap(), header().scene);
    assert_eq!(reader.report().unwrap()[3]["frame"], 3);
    assert_eq!(reader.checkpoints().unwrap(), [4, 5]);
    assert_eq!(reader.latest_checkpoint().unwrap(), Some((5, "state 5".repeat(100).into_bytes())));
    let sample = Sample::new(20);
    for index in [3, 0, 5, 1, 2, 4] {
        assert_same(&reader.read(index).unwrap(), &sample.frame(index));
    }
    assert!(matches!(reader.read(9), Err(Error::NoSuchFrame { index: 9, present: Some((0, 5)), .. })));
}

#[test]
fn odd_numbers_keep_their_bits() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(dir.path(), &header()).unwrap();
    let odd =
        [f64::NAN, -f64::NAN, f64::INFINITY, -0.0, 5e-324, f64::MAX, f64::from_bits(0xfff0_0000_0000_0001)];
    let positions = odd.iter().map(|x| Vec3::new(*x, -*x, 0.0)).collect::<Vec<_>>();
    let frame = Frame {
        index: u32::MAX,
        time: f64::NEG_INFINITY,
        objects: vec![Object::new("", Shape::Points { positions: Arc::new(positions.clone()) })],
        ..Frame::default()
    };
    writer.write_frame(&frame).unwrap();
    let back = Reader::open(dir.path()).unwrap().read(u32::MAX).unwrap();
    assert_eq!(back.time.to_bits(), frame.time.to_bits());
    for (a, b) in back.objects[0].shape.positions().iter().zip(&positions) {
        assert_eq!(a.to_array().map(f64::to_bits), b.to_array().map(f64::to_bits));
    }
}

#[test]
fn constant_arrays_are_stored_and_loaded_once() {
    let dir = tempfile::tempdir().unwrap();
    drop(run(dir.path(), 0..6));
    // First frame: sheet positions, topology, velocities and strain, body positions and topology, rope positions.
    assert_eq!(fs::read_dir(dir.path().join("shared")).unwrap().count(), 7);
    let reader = Reader::open(dir.path()).unwrap();
    let (a, b) = (reader.read(1).unwrap(), reader.read(4).unwrap());
    let (Shape::Triangles { positions: p, triangles: t }, Shape::Triangles { positions: q, triangles: u }) =
        (&a.objects[1].shape, &b.objects[1].shape)
    else {
        panic!("the body is a mesh")
    };
    assert!(Arc::ptr_eq(p, q) && Arc::ptr_eq(t, u));
}

#[test]
fn resuming_drops_what_came_after() {
    let dir = tempfile::tempdir().unwrap();
    drop(run(dir.path(), 0..6));
    fs::write(dir.path().join("frames/.000006.frame.tmp"), b"half").unwrap();
    let report = dir.path().join("report.jsonl");
    fs::write(&report, [&fs::read(&report).unwrap()[..], b"{\"frame\": 1, \"ener"].concat()).unwrap();
    assert_eq!(Reader::open(dir.path()).unwrap().status(), Status::Interrupted);
    let mut writer = Writer::resume(dir.path(), 4).unwrap();
    assert_eq!(Reader::open(dir.path()).unwrap().status(), Status::Running);
    let reader = Reader::open(dir.path()).unwrap();
    assert_eq!((reader.frames(), reader.checkpoints().unwrap()), (&[0, 1, 2, 3, 4][..], vec![4]));
    assert_eq!(reader.report().unwrap().len(), 5);
    assert!(!dir.path().join("frames/.000006.frame.tmp").exists());
    assert!(matches!(writer.write_frame(&Sample::new(20).frame(4)), Err(Error::Invalid { .. })));
    writer.write_frame(&Sample::new(20).frame(5)).unwrap();
    writer.finish(Status::Failed, Some("out of patience")).unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    assert_eq!(reader.manifest().message.as_deref(), Some("out of patience"));
    assert_same(&reader.read(5).unwrap(), &Sample::new(20).frame(5));
    assert!(matches!(Writer::resume(dir.path(), 7), Err(Error::NoSuchFrame { index: 7, .. })));
}

#[test]
fn only_one_writer_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let first = run(dir.path(), 0..1);
    let error = Writer::resume(dir.path(), 0).unwrap_err();
    assert!(matches!(error, Error::Locked { owner: Some(pid), .. } if pid == std::process::id()), "{error}");
    drop(first);
    Writer::resume(dir.path(), 0).unwrap();
}

#[test]
fn foreign_directories_and_newer_runs_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("thesis.tex"), "precious").unwrap();
    assert!(matches!(Writer::create(dir.path(), &header()), Err(Error::NotARun { .. })));
    let error = Writer::replace(dir.path(), &header()).unwrap_err().to_string();
    assert!(error.contains("thesis.tex"), "{error}");
    assert!(matches!(Reader::open(dir.path()), Err(Error::NotARun { .. })));

    let dir = tempfile::tempdir().unwrap();
    drop(run(dir.path(), 0..3));
    assert!(matches!(Writer::create(dir.path(), &header()), Err(Error::RunExists { .. })));
    fs::write(dir.path().join("notes.txt"), "precious").unwrap();
    drop(Writer::replace(dir.path(), &header()).unwrap());
    assert!(Reader::open(dir.path()).unwrap().frames().is_empty());
    assert!(dir.path().join("notes.txt").exists());

    let manifest = dir.path().join("billow.json");
    let newer = fs::read_to_string(&manifest)
        .unwrap()
        .replace("\"billow_run_format\": 1", "\"billow_run_format\": 2");
    fs::write(&manifest, newer).unwrap();
    for error in [Reader::open(dir.path()).unwrap_err(), Writer::replace(dir.path(), &header()).unwrap_err()]
    {
        assert!(matches!(error, Error::NewerFormat { found: 2, supported: 1, .. }), "{error}");
    }
}

#[test]
fn damage_is_reported_with_the_file_name() {
    let dir = tempfile::tempdir().unwrap();
    drop(run(dir.path(), 0..6));
    let frame = dir.path().join("frames/000002.frame");
    let bytes = fs::read(&frame).unwrap();
    for at in (0..bytes.len()).step_by(97) {
        let mut bad = bytes.clone();
        bad[at] ^= 4;
        fs::write(&frame, bad).unwrap();
        let error = Reader::open(dir.path()).unwrap().read(2).unwrap_err().to_string();
        assert!(error.contains("000002.frame"), "{error}");
    }
    fs::write(&frame, &bytes[..bytes.len() / 2]).unwrap();
    let error = Reader::open(dir.path()).unwrap().read(2).unwrap_err().to_string();
    assert!(error.contains("bytes and has"), "{error}");
    // A damaged checkpoint is passed over for the one before it.
    fs::write(dir.path().join("checkpoint/000005.state"), b"rubbish").unwrap();
    assert_eq!(Reader::open(dir.path()).unwrap().latest_checkpoint().unwrap().unwrap().0, 4);
    for entry in fs::read_dir(dir.path().join("shared")).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        bytes[40] ^= 1;
        fs::write(&path, bytes).unwrap();
    }
    let error = Reader::open(dir.path()).unwrap().read(3).unwrap_err().to_string();
    assert!(error.contains(".array is damaged"), "{error}");
}

#[test]
fn inconsistent_frames_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(dir.path(), &header()).unwrap();
    let mut frame = Sample::new(4).frame(0);
    frame.objects[1].name = "sheet".into();
    assert!(writer.write_frame(&frame).unwrap_err().to_string().contains("two objects"));
    let triangles = Arc::new(vec![[0, 1, 9]]);
    frame.objects =
        vec![Object::new("a", Shape::Triangles { positions: Arc::new(vec![Vec3::ZERO]), triangles })];
    let message = writer.write_frame(&frame).unwrap_err().to_string();
    assert!(message.contains("[0, 1, 9] but there are 1 vertices"), "{message}");
    assert!(Writer::create(dir.path().join("b"), &ManifestHeader { fps: f64::NAN, ..header() }).is_err());
}

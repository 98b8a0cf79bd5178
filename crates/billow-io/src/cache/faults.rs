//! Tests that stop the writer at every piece of every file.

use super::{ManifestHeader, Reader, Status, Writer};
use crate::atomic::fault::{self, Fault};
use crate::frame::{Frame, Object, Shape};
use crate::{Error, Result};
use billow_num::Vec3;
use std::path::Path;
use std::sync::Arc;

fn frame(index: u32) -> Frame {
    let positions =
        |t: u32, n: u32| (0..n).map(|k| Vec3::new(f64::from(k), f64::from(k * t).sin(), 0.5)).collect();
    let shape = |t, n| Shape::Points { positions: Arc::new(positions(t, n)) };
    // A moving object, a constant one, and one that becomes constant and so moves to the shared arrays.
    let objects = vec![
        Object::new("a", shape(index, 50)),
        Object::new("b", shape(7, 40)),
        Object::new("c", shape(index.min(2), 30)),
    ];
    Frame { index, time: f64::from(index), objects, ..Frame::default() }
}

fn write_three(writer: &mut Writer, first: u32) -> Result<()> {
    for index in first..first + 3 {
        writer.write_frame(&frame(index))?;
        writer.write_checkpoint(index, &[index as u8; 300])?;
    }
    writer.set_driver(serde_json::json!(first))
}

fn started(dir: &Path) -> Writer {
    let mut writer = Writer::create(dir, &ManifestHeader { last_frame: 9, ..Default::default() }).unwrap();
    write_three(&mut writer, 0).unwrap();
    writer
}

fn assert_whole(dir: &Path, least: usize) -> Vec<u32> {
    let reader = Reader::open(dir).unwrap();
    for (k, index) in reader.frames().iter().enumerate() {
        assert_eq!(*index as usize, k);
        assert_eq!(reader.read(*index).unwrap(), frame(*index));
    }
    assert!(reader.frames().len() >= least);
    let (last, state) = reader.latest_checkpoint().unwrap().unwrap();
    assert!(last as usize + 2 >= reader.frames().len() && state == [last as u8; 300]);
    reader.frames().to_vec()
}

#[test]
fn a_full_disk_loses_nothing_and_the_same_writer_goes_on() {
    let mut full = 0;
    for budget in (0..200).step_by(3) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = started(dir.path());
        fault::plan(Some((budget, Fault::DiskFull)));
        let result = write_three(&mut writer, 3);
        fault::plan(None);
        assert_whole(dir.path(), 3);
        let Err(error) = result else { continue };
        assert!(matches!(error, Error::DiskFull { .. }) && error.to_string().contains("resume"), "{error}");
        full += 1;
        let next = writer.last_frame().unwrap() + 1;
        write_three(&mut writer, next).unwrap();
        assert_eq!(assert_whole(dir.path(), 6).last(), Some(&(next + 2)));
    }
    assert!((20..66).contains(&full), "{full}");
}

#[test]
fn a_crash_at_any_moment_leaves_a_run_that_opens_and_resumes() {
    let mut crashed = 0;
    for budget in (0..200).step_by(3) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = started(dir.path());
        fault::plan(Some((budget, Fault::Crash)));
        crashed += u32::from(write_three(&mut writer, 3).is_err());
        fault::plan(None);
        drop(writer);
        assert_eq!(Reader::open(dir.path()).unwrap().status(), Status::Interrupted);
        assert_whole(dir.path(), 3);
        let (last, _) = Reader::open(dir.path()).unwrap().latest_checkpoint().unwrap().unwrap();
        let mut writer = Writer::resume(dir.path(), last).unwrap();
        write_three(&mut writer, last + 1).unwrap();
        assert_eq!(assert_whole(dir.path(), 6).last(), Some(&(last + 3)));
        for sub in ["", "frames", "shared", "checkpoint"] {
            let mut names = std::fs::read_dir(dir.path().join(sub)).unwrap().map(|e| e.unwrap().file_name());
            assert!(!names.any(|n| crate::atomic::is_temp(&n)));
        }
    }
    assert!((20..66).contains(&crashed), "{crashed}");
}

#[test]
fn a_crash_while_creating_does_not_block_the_next_attempt() {
    for budget in 0..12 {
        let dir = tempfile::tempdir().unwrap();
        let header = ManifestHeader { title: "long title ".repeat(10), ..Default::default() };
        fault::plan(Some((budget, Fault::Crash)));
        let first = Writer::create(dir.path(), &header);
        fault::plan(None);
        if first.is_err() {
            drop(first);
            drop(Writer::replace(dir.path(), &header).unwrap());
        }
        assert!(Reader::open(dir.path()).unwrap().frames().is_empty());
    }
}

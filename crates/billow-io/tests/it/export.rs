//! Exports read back: by this crate's own readers, by usd-core and by Blender.

use crate::samples::Sample;
use billow_io::cache::{ManifestHeader, Status, UpAxis, Writer};
use billow_io::export::ply::Precision;
use billow_io::export::{
    FrameSource, SequenceFormat, SequenceOptions, UsdOptions, write_sequence, write_usd,
};
use billow_io::formats::read_mesh;
use billow_io::{Domain, Frame, Object, Result, Shape, Values};
use billow_num::Vec3;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Frames in memory.
struct Frames {
    numbers: Vec<u32>,
    frames: Vec<Frame>,
}

impl FrameSource for Frames {
    fn frames(&self) -> &[u32] {
        &self.numbers
    }
    fn frame(&self, index: u32) -> Result<Frame> {
        Ok(self.frames[self.numbers.iter().position(|n| *n == index).unwrap()].clone())
    }
    fn fps(&self) -> f64 {
        24.0
    }
    fn up_axis(&self) -> UpAxis {
        UpAxis::Z
    }
    fn title(&self) -> &str {
        "a \"quoted\" title\\"
    }
}

/// Frames with everything that may change: positions, poses, topology, number of points, presence of objects.
fn frames() -> Frames {
    let sample = Sample::new(8);
    let mut frames: Vec<Frame> = (0..7).map(|index| sample.frame(index)).collect();
    for frame in &mut frames {
        let index = frame.index;
        // Rests at first and at the end: readers must not interpolate across the pause.
        let rest = sample.frame(index.clamp(2, 4)).objects[0].shape.positions().to_vec();
        let triangles = std::sync::Arc::new(crate::samples::sheet_triangles(8));
        let shape = Shape::Triangles { positions: rest.into(), triangles };
        frame.objects.push(Object::new("pauses", shape));
        if (2..5).contains(&index) {
            let n = 3 + index;
            let positions = crate::samples::sheet_positions(n, 0.1).into();
            let triangles = crate::samples::sheet_triangles(n).into();
            frame.objects.push(Object::new("splash", Shape::Triangles { positions, triangles }));
        }
    }
    Frames { numbers: (0..7).collect(), frames }
}

fn world(object: &Object) -> Vec<Vec3> {
    object.shape.positions().iter().map(|x| object.pose.point(*x)).collect()
}

#[test]
fn obj_and_ply_sequences_come_back_bit_for_bit() {
    let (dir, source) = (tempfile::tempdir().unwrap(), frames());
    for format in [SequenceFormat::Obj, SequenceFormat::Ply(Precision::Double)] {
        let options = SequenceOptions { format, merged: false, objects: Vec::new() };
        let mut seen = Vec::new();
        let summary = write_sequence(&source, dir.path(), &options, |index| seen.push(index)).unwrap();
        assert_eq!(summary.skipped, [("fog".to_owned(), "mesh files cannot hold grids")]);
        assert_eq!((seen, summary.files.len()), (source.numbers.clone(), 7 * 6 + 3));
        let ending = if format == SequenceFormat::Obj { "obj" } else { "ply" };
        for frame in &source.frames {
            for (name, file) in [("sheet", "sheet"), ("Körper/1", "K_rper_1"), ("pauses", "pauses")] {
                let read = read_mesh(dir.path().join(format!("{file}.{:06}.{ending}", frame.index))).unwrap();
                let object = frame.object(name).unwrap();
                let Shape::Triangles { triangles, .. } = &object.shape else { panic!("a mesh") };
                assert_eq!((&read.mesh.positions, &read.mesh.triangles), (&world(object), &**triangles));
            }
        }
    }
}

#[test]
fn merged_files_hold_all_surfaces() {
    let (dir, source) = (tempfile::tempdir().unwrap(), frames());
    let formats = [SequenceFormat::Obj, SequenceFormat::Ply(Precision::Single), SequenceFormat::Stl];
    for (format, ending) in formats.into_iter().zip(["obj", "ply", "stl"]) {
        let options = SequenceOptions { format, merged: true, objects: Vec::new() };
        let summary = write_sequence(&source, dir.path(), &options, |_| ()).unwrap();
        assert_eq!(summary.files.len(), 7);
        let read = read_mesh(dir.path().join(format!("frame.000003.{ending}"))).unwrap();
        let triangles = |o: &Object| match &o.shape {
            Shape::Triangles { triangles, .. } => triangles.len(),
            Shape::Tets { .. } => 4,
            _ => 0,
        };
        let expected: usize = source.frames[3].objects.iter().map(triangles).sum();
        assert_eq!(read.mesh.triangles.len(), expected, "{ending}");
        let options = SequenceOptions { objects: vec!["sheet".into()], ..options };
        write_sequence(&source, dir.path(), &options, |_| ()).unwrap();
        let read = read_mesh(dir.path().join(format!("frame.000003.{ending}"))).unwrap();
        assert_eq!(read.mesh.triangles.len(), 98);
        let area: f64 = read
            .mesh
            .triangles
            .iter()
            .map(|t| t.map(|v| read.mesh.positions[v as usize]))
            .map(|[a, b, c]| (b - a).cross(c - a).length() / 2.0)
            .sum();
        assert!((2.25..2.6).contains(&area), "{ending}: {area}");
    }
}

#[test]
fn ply_carries_attributes() {
    let frame = Sample::new(3).frame(2);
    let bytes = billow_io::export::ply::write(&[&frame.objects[0]], Precision::Single);
    let end = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    let header = std::str::from_utf8(&bytes[..end]).unwrap();
    for line in [
        "property float velocity_x",
        "property float velocity_z",
        "property float strain",
        "comment object 0 sheet",
        "comment attribute 0 id -7",
    ] {
        assert!(header.lines().any(|l| l == line), "{line} is missing in\n{header}");
    }
    let float = |at: usize| f32::from_le_bytes(bytes[end + at..end + at + 4].try_into().unwrap());
    let Values::Vector(velocity) = &frame.objects[0].attribute("velocity").unwrap().values else { panic!() };
    let Values::Scalar(strain) = &frame.objects[0].attribute("strain").unwrap().values else { panic!() };
    assert_eq!([12, 16, 20].map(|k| float(5 * 24 + k)), velocity[5]);
    assert_eq!(float(9 * 24 + 2 * 17 + 13), strain[2]);
}

/// What a reader of the exported scene must find, in world coordinates.
fn truth(source: &Frames) -> Value {
    let frames = source.frames.iter().map(|frame| {
        let drawn = frame.objects.iter().filter(|o| !matches!(o.shape, Shape::Grid(_)));
        let objects: serde_json::Map<String, Value> = drawn.map(|o| (o.name.clone(), expected(o))).collect();
        json!({"index": frame.index, "objects": objects})
    });
    json!({"fps": source.fps(), "up_axis": "Z", "frames": frames.collect::<Vec<_>>()})
}

fn expected(object: &Object) -> Value {
    let positions: Vec<[f64; 3]> = world(object).iter().map(|p| p.to_array()).collect();
    let prim: String = object.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut value = json!({"positions": positions, "prim": prim});
    value["kind"] = match &object.shape {
        Shape::Triangles { triangles, .. } => {
            value["indices"] = json!(triangles.as_flattened());
            "triangles".into()
        }
        Shape::Tets { .. } => "tets".into(),
        Shape::Lines { .. } => "lines".into(),
        _ => "points".into(),
    };
    for attribute in &object.attributes {
        let interpolation = match attribute.domain {
            Domain::Vertex => "vertex",
            Domain::Element => "uniform",
            Domain::Object => "constant",
        };
        match &attribute.values {
            Values::Vector(values) => {
                value["velocities"] = json!(values.iter().map(|v| v.map(f64::from)).collect::<Vec<_>>())
            }
            Values::Scalar(values) => {
                let values: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
                value["primvars"][&attribute.name] = json!([interpolation, values]);
            }
            Values::Integer(values) => value["primvars"][&attribute.name] = json!([interpolation, **values]),
        }
    }
    value
}

/// Runs a script of this folder; returns false, with the reason printed, if what it needs is not installed.
fn python(variable: &str, script: &str, arguments: &[&Path]) -> bool {
    let python = std::env::var(variable).unwrap_or_else(|_| "python3".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script);
    let output = match Command::new(&python).arg(&script).args(arguments).output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: {python}: {error}");
            return false;
        }
    };
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(77) {
        println!("skipped: {}", text.trim());
        return false;
    }
    assert!(output.status.success() && text.contains("verified"), "{text}");
    println!("{text}");
    true
}

fn exported(dir: &Path, ending: &str) -> [PathBuf; 2] {
    let (source, path, truth_path) = (frames(), dir.join(format!("run.{ending}")), dir.join("truth.json"));
    let summary = write_usd(&source, &path, &UsdOptions::default(), |_| ()).unwrap();
    assert_eq!((summary.frames, summary.skipped.len()), (7, 1));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), summary.bytes);
    std::fs::write(&truth_path, truth(&source).to_string()).unwrap();
    assert_eq!(std::fs::read_dir(dir).unwrap().count(), 2, "temporary files are left");
    [path, truth_path]
}

#[test]
fn usd_core_reads_what_was_written() {
    for ending in ["usda", "usdc", "usd"] {
        let dir = tempfile::tempdir().unwrap();
        let [path, truth] = exported(dir.path(), ending);
        python("BILLOW_PYTHON", "verify_usd.py", &[&path, &truth]);
    }
}

#[test]
fn blender_reads_what_was_written() {
    for ending in ["usda", "usdc", "usd"] {
        let dir = tempfile::tempdir().unwrap();
        let [path, truth] = exported(dir.path(), ending);
        python("BILLOW_BPY_PYTHON", "verify_bpy.py", &[&path, &truth]);
    }
}

#[test]
fn a_reader_made_from_the_documentation_alone_understands_a_run() {
    let (dir, source) = (tempfile::tempdir().unwrap(), frames());
    let (run, truth_path) = (dir.path().join("run"), dir.path().join("truth.json"));
    let mut writer = Writer::create(&run, &ManifestHeader { last_frame: 6, ..Default::default() }).unwrap();
    source.frames.iter().for_each(|frame| assert!(writer.write_frame(frame).unwrap() > 0));
    writer.finish(Status::Finished, None).unwrap();
    std::fs::write(&truth_path, truth(&source).to_string()).unwrap();
    python("BILLOW_PYTHON", "read_run.py", &[&run, &truth_path]);
}

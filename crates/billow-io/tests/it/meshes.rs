//! The mesh readers against a collection of good and broken files.

use billow_io::formats::{ImportedMesh, read_mesh};
use billow_num::Vec3;
use std::fs;
use std::path::{Path, PathBuf};

/// The sample files of the repository.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/meshes").join(name)
}

/// Area, and volume enclosed if the mesh is closed.
fn measures(imported: &ImportedMesh) -> (f64, f64) {
    let corner = |v: u32| imported.mesh.positions[v as usize];
    let triangles = imported.mesh.triangles.iter().map(|t| t.map(corner));
    let area = triangles.clone().map(|[a, b, c]| (b - a).cross(c - a).length() / 2.0).sum();
    (area, triangles.map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum())
}

#[test]
fn good_files_have_the_expected_sizes_measures_and_parts() {
    let table = fs::read_to_string(folder("good/expected.json")).unwrap();
    let table: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&table).unwrap();
    assert_eq!(table.len() + 1, fs::read_dir(folder("good")).unwrap().count());
    for (name, expected) in table {
        let read = read_mesh(folder("good").join(&name)).unwrap();
        assert_eq!(read.mesh.positions.len(), expected["vertices"], "{name}");
        assert_eq!(read.mesh.triangles.len(), expected["triangles"], "{name}");
        let (area, volume) = measures(&read);
        assert!((area - expected["area"].as_f64().unwrap()).abs() < 1e-3, "{name}: area {area}");
        assert!((volume - expected["volume"].as_f64().unwrap()).abs() < 1e-3, "{name}: volume {volume}");
        let parts: Vec<_> = read.parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(serde_json::json!(parts), expected["parts"], "{name}");
        let warnings = expected.get("warnings").map_or(0, |n| n.as_u64().unwrap());
        assert_eq!(read.warnings.len() as u64, warnings, "{name}: {:?}", read.warnings);
    }
}

#[test]
fn broken_files_end_in_the_expected_message() {
    let mut cases = 0;
    let mut wrong = String::new();
    for entry in fs::read_dir(folder("broken")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "expected") {
            continue;
        }
        cases += 1;
        let message = read_mesh(&path).unwrap_err().to_string();
        let message =
            message.strip_prefix(&*path.to_string_lossy()).expect("the message starts with the path");
        let name = path.file_name().unwrap().to_string_lossy();
        let table = path.with_file_name(format!("{name}.expected"));
        let expected = fs::read_to_string(&table).unwrap_or_default();
        if message != expected.trim_end() {
            wrong += &format!("{name}\n  expected {}\n  found    {message}\n", expected.trim_end());
        }
        if std::env::var_os("BILLOW_BLESS").is_some() {
            fs::write(table, format!("{message}\n")).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(cases >= 50, "{cases}");
}

#[test]
fn parts_become_meshes_of_their_own() {
    let read = read_mesh(folder("good/cube_quads.obj")).unwrap();
    let parts = read.split();
    let sizes: Vec<_> =
        parts.iter().map(|(name, m)| (name.as_str(), m.positions.len(), m.triangles.len())).collect();
    assert_eq!(sizes, [("cube/bottom", 4, 2), ("cube/sides and top", 8, 10)]);
    assert!(parts[0].1.positions.iter().all(|p| p.z == -1.0));
}

#[test]
fn numbers_are_read_to_the_last_bit() {
    let text = "v 0.1 -1.7976931348623157e308 5e-324\nv 3.141592653589793 1e-3 .5\nv 1. 2 3\nf 1 2 3\n";
    let read = billow_io::formats::obj::parse(Path::new("n.obj"), text.as_bytes()).unwrap();
    assert_eq!(read.mesh.positions[0], Vec3::new(0.1, f64::MIN, 5e-324));
    assert_eq!(read.mesh.positions[1], Vec3::new(std::f64::consts::PI, 1e-3, 0.5));
}

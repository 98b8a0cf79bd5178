//! `billow sdf` and `billow surface`: meshes to level sets and back, and what they refuse.

use crate::support::{Outcome, Place};
use serde_json::Value;

/// A unit cube from (x, 0, 0); a face may be left out.
fn cube(x: f64, open: bool) -> String {
    let mut text = String::new();
    for c in 0..8 {
        text += &format!("v {} {} {}\n", x + f64::from(c & 1), c >> 1 & 1, c >> 2);
    }
    for f in ["1 3 4 2", "1 2 6 5", "2 4 8 6", "4 3 7 8", "3 1 5 7", "5 6 8 7"] {
        if !(open && f == "5 6 8 7") {
            text += &format!("f {f}\n");
        }
    }
    text
}

fn place() -> Place {
    let place = Place::new();
    place.write("a.obj", &cube(0.0, false));
    place.write("b.obj", &cube(0.5, false));
    place
}

/// Runs `billow sdf a.obj -o OUT --resolution 40 …` and returns its report.
fn sdf(place: &Place, out: &str, more: &[&str]) -> Value {
    let mut args = vec!["sdf", "a.obj", "-o", out, "--resolution", "40", "--json"];
    args.extend(more);
    place.billow(&args).ok().json()
}

fn volume(report: &Value) -> f64 {
    report["surface"]["volume"].as_f64().unwrap()
}

/// Insists on the exit code for bad input and exactly this message.
fn refused(outcome: &Outcome, message: &str) {
    assert_eq!((outcome.code, outcome.stderr.as_str()), (2, format!("error: {message}\n").as_str()));
}

#[test]
fn a_mesh_becomes_a_level_set_with_a_report_and_a_mesh_again() {
    let place = place();
    let report = sdf(&place, "a.vdb", &[]);
    assert_eq!(
        (report["voxel_size"].as_f64(), report["sign"].as_str(), report["leak_edges"].as_u64()),
        (Some(0.025), Some("winding"), Some(0))
    );
    assert_eq!(report["mesh"]["volume"].as_f64(), Some(1.0));
    assert!(
        (volume(&report) - 1.0).abs() < 0.01 && report["active_voxels"].as_u64() > Some(30_000),
        "{report}"
    );
    assert!(report["bytes"].as_u64() > Some(100_000), "{report}");
    for (out, more) in [("a.ply", &[][..]), ("a2.obj", &["--manifold"]), ("a.stl", &["--smooth", "0.05"])] {
        let mut args = vec!["surface", "a.vdb", "-o", out, "--json"];
        args.extend(more);
        let surface = place.billow(&args).ok().json();
        let (got, rounded) = (surface["volume"].as_f64().unwrap(), more.contains(&"--smooth"));
        assert!((got - 1.0).abs() < if rounded { 0.05 } else { 0.01 }, "{out}: {surface}");
        assert!(!rounded || got < volume(&report) - 0.01, "{out}: {surface}");
        let mesh = place.billow(&["info", out, "--json"]).ok().json();
        // Surface nets promise no manifold where faces run along the lattice.
        assert!(mesh["closed"] == true || more.is_empty(), "{out}: {mesh}");
        assert_eq!(mesh["triangles"], surface["triangles"], "{out}: {mesh}");
    }
}

#[test]
fn voxel_size_and_resolution_say_the_same_thing() {
    let place = place();
    let by_resolution = sdf(&place, "r.vdb", &[]);
    let mut by_size =
        place.billow(&["sdf", "a.obj", "-o", "s.vdb", "--voxel-size", "0.025", "--json"]).ok().json();
    by_size["seconds"] = by_resolution["seconds"].clone();
    assert_eq!(by_size, by_resolution);
    let people = place.billow(&["sdf", "a.obj", "-o", "s.vdb", "--voxel-size", "0.025"]).ok().stdout;
    for part in ["48 × 48 × 48 voxels of 0.025 m", "(mesh 1)", "(mesh 6)", "wrote s.vdb"] {
        assert!(people.contains(part), "{part} is missing from\n{people}");
    }
}

#[test]
fn booleans_offsets_and_smoothing_change_the_volume_as_they_should() {
    let place = place();
    // Half of each cube lies in the other.
    for (option, want) in [("--union", 1.5), ("--intersect", 0.5), ("--subtract", 0.5)] {
        let got = volume(&sdf(&place, "c.vdb", &[option, "b.obj"]));
        assert!((got - want).abs() < 0.01, "{option}: {got}");
    }
    // A cube grown by r: 1 + 6r + 3πr² + 4πr³/3; shrunk, a smaller cube.
    let r = 0.1;
    let pi = std::f64::consts::PI;
    let grown = 1.0 + 6.0 * r + 3.0 * pi * r * r + 4.0 / 3.0 * pi * r * r * r;
    let got = volume(&sdf(&place, "o.vdb", &["--offset", "0.1"]));
    assert!((got / grown - 1.0).abs() < 0.02, "{got} {grown}");
    let got = volume(&sdf(&place, "o.vdb", &["--offset", "-0.1"]));
    assert!((got / 0.512 - 1.0).abs() < 0.02, "{got}");
    let [slight, strong] = ["0.05", "0.15"].map(|size| volume(&sdf(&place, "s.vdb", &["--smooth", size])));
    assert!(strong < slight && slight < 0.995 && strong > 0.8, "{slight} {strong}");
}

#[test]
fn json_and_vdb_hold_the_same_level_set() {
    let place = place();
    sdf(&place, "a.vdb", &[]);
    sdf(&place, "a.json", &[]);
    let json: Value = serde_json::from_str(&std::fs::read_to_string(place.path("a.json")).unwrap()).unwrap();
    assert_eq!(
        (json["spacing"].as_f64(), json["half_width"].as_f64(), json["block_edge"].as_u64()),
        (Some(0.025), Some(3.0), Some(4))
    );
    assert!(json["blocks"][0]["values"].as_array().is_some_and(|v| v.len() == 64));
    for name in ["a.vdb", "a.json"] {
        place.billow(&["surface", name, "-o", &format!("{name}.ply")]).ok();
    }
    let read = |name| std::fs::read(place.path(name)).unwrap();
    assert!(read("a.vdb.ply") == read("a.json.ply"));
}

#[test]
fn fog_volumes_are_written_and_not_taken_for_level_sets() {
    let place = place();
    sdf(&place, "fog.vdb", &["--fog"]);
    let info = place.billow(&["surface", "fog.vdb", "-o", "x.ply"]);
    refused(&info, "fog.vdb holds no level set\n  help: it holds `fog` (fog volume)");
    let named = place.billow(&["surface", "fog.vdb", "--grid", "fog", "-o", "x.ply"]);
    assert!(named.code == 2 && named.stderr.contains("`fog` is no level set but fog volume"), "{named:?}");
    refused(
        &place.billow(&["sdf", "a.obj", "-o", "fog.json", "--fog"]),
        "fog.json cannot hold a fog volume\n  help: end the name in .vdb, or leave out --fog",
    );
}

#[test]
fn leaky_meshes_work_and_say_how_leaky_they_are() {
    let place = place();
    place.write("open.obj", &cube(0.0, true));
    let args = ["sdf", "open.obj", "-o", "open.vdb", "--resolution", "40"];
    let people = place.billow(&args).ok().stdout;
    assert!(people.contains("the mesh leaks: 4 open edges") && people.contains("(mesh open)"), "{people}");
    let report = place.billow(&[&args[..], &["--json"]].concat()).ok().json();
    assert_eq!((report["sign"].as_str(), report["mesh"]["open_edges"].as_u64()), (Some("votes"), Some(4)));
    // The missing face is a fifth of what is there.
    let leak = report["leak_area"].as_f64().unwrap();
    assert!((0.8..1.4).contains(&leak) && (volume(&report) - 1.0).abs() < 0.05, "{report}");
}

#[test]
fn bad_meshes_are_refused_with_the_reason() {
    let place = place();
    place.write("empty.obj", "");
    place.write("nan.obj", &cube(0.0, false).replacen("v 1 1 1", "v nan 1 1", 1));
    place.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    for (mesh, message) in [
        ("empty.obj", "empty.obj: expected a mesh with faces, found 0 vertices and no face"),
        ("nan.obj", "nan.obj, line 8: expected a finite number, found \"nan\""),
        ("gone.obj", "cannot read gone.obj: No such file or directory (os error 2)"),
        (
            "flat.obj",
            "flat.obj: no inside can be told from the outside: the mesh has 3 open edges (of about 1), and no sample meets \
             triangles from behind on three of six axis rays: close the mesh, or turn its triangles if they face inwards",
        ),
    ] {
        refused(&place.billow(&["sdf", mesh, "-o", "x.vdb"]), message);
    }
    assert!(!place.path("x.vdb").exists());
}

#[test]
fn impossible_numbers_are_refused_before_any_work() {
    let place = place();
    for (more, message) in [
        (
            &["--voxel-size", "0"][..],
            "a.obj: sparse grid: `spacing` is 0, but must be a finite number above 0",
        ),
        (&["--voxel-size", "-1"], "a.obj: sparse grid: `spacing` is -1, but must be a finite number above 0"),
        (
            &["--resolution", "0"],
            "--resolution is 0\n  help: give the voxels along the mesh's longest side, 256 say",
        ),
        (
            &["--half-width", "1"],
            "a band of 1 voxels is too narrow\n  help: give --half-width at least 2; level-set tools expect 3",
        ),
        (&["--smooth", "-0.1"], "--smooth is -0.1\n  help: give a size in metres, at least 0"),
        (&["--smooth", "nan"], "--smooth is NaN\n  help: give a size in metres, at least 0"),
        (&["--offset", "nan"], "--offset is NaN\n  help: give a distance in metres, negative to shrink"),
        (
            &["--resolution", "40", "--offset", "-0.6"],
            "a.obj: nothing is left inside on voxels of 0.025 m\n  help: use a smaller offset, less smoothing or \
             other booleans",
        ),
        (
            &["--voxel-size", "5"],
            "a.obj: nothing is left inside on voxels of 5 m\n  help: use smaller voxels",
        ),
        (
            &["--resolution", "200000"],
            "a.obj: a grid of 200007 × 200007 × 200007 samples would take 16337031.3 MB, but only 4000.0 MB are allowed: \
             use larger voxels, a smaller domain, a sparse grid or a higher limit",
        ),
    ] {
        refused(&place.billow(&[&["sdf", "a.obj", "-o", "x.vdb"], more].concat()), message);
    }
    assert!(!place.path("x.vdb").exists());
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_any_work() {
    let place = place();
    sdf(&place, "a.vdb", &[]);
    for (args, message) in [
        (
            ["sdf", "a.obj", "-o", "x.abc"],
            "x.abc has no ending that says what to write\n  help: end the name in .vdb, .json, .ply, .obj or .stl",
        ),
        (
            ["surface", "a.vdb", "-o", "x.vdb"],
            "x.vdb has no ending that says what to write\n  help: end the name in .ply, .obj or .stl",
        ),
        (
            ["sdf", "a.obj", "-o", "nowhere/x.vdb"],
            "cannot write nowhere/x.vdb: there is no folder nowhere\n  help: make the folder, or choose another place",
        ),
        (
            ["surface", "a.obj", "-o", "x.ply"],
            "a.obj is damaged: at byte 8: not an OpenVDB file: the first eight bytes are not `VDB`'s",
        ),
    ] {
        refused(&place.billow(&args), message);
    }
    refused(
        &place.billow(&["surface", "a.vdb", "-o", "x.ply", "--grid", "other"]),
        "a.vdb has no grid `other`\n  help: it holds `a` (level set)",
    );
    place.write("bad.json", "{\"spacing\": 1}");
    let outcome = place.billow(&["surface", "bad.json", "-o", "x.ply"]);
    assert!(
        outcome.code == 2 && outcome.stderr.contains("give a file that `billow sdf` wrote"),
        "{outcome:?}"
    );
}

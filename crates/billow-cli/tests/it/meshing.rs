//! `billow mesh`: files that other programs read, and a report that can be relied on.

use crate::support::Place;
use std::process::Command;

/// A torus as an OBJ file.
fn ring(place: &Place) {
    let mesh = billow::geom::shapes::torus(1.0, 0.4, 48, 24).unwrap();
    let mut text = String::new();
    mesh.positions.iter().for_each(|p| text += &format!("v {} {} {}\n", p.x, p.y, p.z));
    mesh.triangles.iter().for_each(|t| text += &format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));
    place.write("ring.obj", &text);
}

const COARSE: [&str; 6] = ["--size", "0.25", "--coarser", "1", "--resolution", "60"];

fn mesh(place: &Place, arguments: &[&str]) -> serde_json::Value {
    let all: Vec<&str> =
        ["mesh"].iter().chain(arguments).chain(&COARSE).chain(&["--json"]).copied().collect();
    place.billow(&all).ok().json()
}

#[test]
fn the_report_has_every_measure_and_the_pictures_are_made() {
    let place = Place::new();
    ring(&place);
    let report =
        mesh(&place, &["ring.obj", "-o", "ring.vtu", "--histogram", "shapes.png", "--cutaway", "cut.png"]);
    assert_eq!((report["genus"].as_u64(), report["surfaces"].as_u64()), (Some(1), Some(1)), "{report}");
    for key in ["inverted", "bad_tets", "bad_edges", "pinched_edges", "pinched_nodes", "lost_nodes"] {
        assert_eq!(report[key].as_u64(), Some(0), "{key}");
    }
    let number = |key: &str| report[key].as_f64().unwrap_or_else(|| panic!("{key} in {report}"));
    assert!(number("max_aspect") < 5.0 && number("mean_aspect") < number("max_aspect"));
    assert!(number("min_dihedral") > 15.0 && number("max_dihedral") < 150.0);
    assert!(number("hausdorff_relative") < 0.02 && number("volume_error").abs() < 0.03);
    assert!(number("edge_ratio") > 1.0 && number("hausdorff_from_surface") > 0.0);
    for name in ["ring.vtu", "shapes.png", "cut.png"] {
        assert!(std::fs::metadata(place.path(name)).unwrap().len() > 500, "{name}");
    }
    // A level set gives nearly the same mesh as the surface it came from.
    place.billow(&["sdf", "ring.obj", "-o", "ring.vdb", "--resolution", "60", "--half-width", "4"]).ok();
    let from_volume = mesh(&place, &["ring.vdb", "-o", "volume.mesh"]);
    let ratio = from_volume["volume"].as_f64().unwrap() / number("volume");
    assert!((ratio - 1.0).abs() < 1e-3, "{ratio}");
}

#[test]
fn meshio_reads_every_format() {
    let python = |code: &str| Command::new("python3").args(["-c", code]).output();
    if !python("import meshio").is_ok_and(|o| o.status.success()) {
        println!("skipped: python3 with meshio (PyPI) is not installed");
        return;
    }
    let place = Place::new();
    ring(&place);
    for ending in ["vtu", "msh", "mesh"] {
        let name = format!("ring.{ending}");
        let report = mesh(&place, &["ring.obj", "-o", &name]);
        let code = format!(
            "import meshio, numpy as np\nm = meshio.read(r'{}')\nT = m.cells_dict['tetra']\nP = m.points[T]\n\
             v = np.einsum('ij,ij->i', P[:,1]-P[:,0], np.cross(P[:,2]-P[:,0], P[:,3]-P[:,0])) / 6\n\
             assert (v > 0).all()\nprint(len(T), len(m.points), repr(float(v.sum())))",
            place.path(&name).display()
        );
        let answer = python(&code).unwrap();
        let text = String::from_utf8_lossy(&answer.stdout);
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(answer.status.success() && words.len() >= 3, "{}", String::from_utf8_lossy(&answer.stderr));
        let last = &words[words.len() - 3..];
        assert_eq!(last[0].parse().ok(), report["tets"].as_u64(), "{name}");
        assert_eq!(last[1].parse().ok(), report["nodes"].as_u64(), "{name}");
        let volume: f64 = last[2].parse().unwrap();
        assert!((volume / report["volume"].as_f64().unwrap() - 1.0).abs() < 1e-12, "{name}");
    }
}

#[test]
fn a_surface_is_trimmed_by_a_second_one() {
    let place = Place::new();
    ring(&place);
    let knife = billow::geom::shapes::icosphere(0.9, 24).unwrap().translated(billow::num::Vec3::X);
    let mut text = String::new();
    knife.positions.iter().for_each(|p| text += &format!("v {} {} {}\n", p.x, p.y, p.z));
    knife.triangles.iter().for_each(|t| text += &format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));
    place.write("knife.obj", &text);
    // Without a knife the whole boundary is written: twice the triangles and more, and no border.
    let whole = mesh(&place, &["ring.obj", "-o", "whole.obj"]);
    let part = mesh(&place, &["ring.obj", "-o", "part.obj", "--trim", "knife.obj"]);
    assert_eq!((part["borders"].as_u64(), part["manifold"].as_bool()), (Some(2), Some(true)), "{part}");
    assert!(part["border_gap"].as_f64().unwrap() < 0.01 && part["surface_gap"].as_f64().unwrap() < 0.01);
    assert!(part["triangles"].as_u64().unwrap() < whole["boundary_triangles"].as_u64().unwrap() / 2);
    let read = billow::io::read_mesh(place.path("part.obj")).unwrap().mesh;
    assert_eq!(Some(read.triangles.len() as u64), part["triangles"].as_u64());
    let near = |p: &billow::num::Vec3| p.distance(billow::num::Vec3::X) < 0.92;
    assert!(read.positions.iter().all(near));
    let refused = place.billow(&["mesh", "ring.obj", "-o", "part.vtu", "--trim", "knife.obj"]);
    assert!(refused.code == 2 && refused.stderr.contains(".obj"), "{refused:?}");
}

#[test]
fn each_method_can_be_chosen_and_bad_requests_are_refused_with_help() {
    let place = Place::new();
    ring(&place);
    for method in ["springs", "elements"] {
        let report = mesh(&place, &["ring.obj", "-o", "ring.obj.mesh", "--method", method]);
        assert_eq!(report["inverted"].as_u64(), Some(0), "{method}");
    }
    let refused = place.billow(&["mesh", "ring.obj", "-o", "ring.xyz"]);
    assert!(refused.code == 2 && refused.stderr.contains(".vtu"), "{refused:?}");
    let refused = place.billow(&["mesh", "ring.obj", "-o", "ring.vtu", "--size", "-1"]);
    assert!(refused.code == 2 && !refused.stderr.contains("panicked"), "{refused:?}");
    let refused =
        place.billow(&["mesh", "ring.obj", "-o", "ring.vtu", "--size", "0.05", "--max-tets", "100"]);
    assert!(refused.code == 2 && refused.stderr.contains("limit"), "{refused:?}");
}

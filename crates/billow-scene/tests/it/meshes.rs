//! Meshes made anew by the mesher, and the check of their elements.

use crate::support::run_in;
use billow_io::Shape;
use billow_scene::Loader;
use billow_scene::check::check_run;
use billow_scene::driver::Silent;

const FILLED: &str = r#"
    [simulation]
    frames = 0
    [mesh.egg]
    shape = "lathe"
    profile = [[0, -0.5], [0.3, -0.35], [0.4, 0], [0.25, 0.4], [0, 0.5]]
    mesher = { size = 0.15, finer = 0, coarser = 1, resolution = 60 }
    [body.egg]
    mesh = "egg"
    [check.good]
    kind = "elements"
    body = "egg"
    at_least = 500
    max_aspect = 4.5
    min_angle = 22
    max_angle = 135
    [check.too-few]
    kind = "elements"
    body = "egg"
    at_least = 10000000
    [check.too-good]
    kind = "elements"
    body = "egg"
    max_aspect = 1.3
"#;

fn problems(text: &str) -> String {
    Loader::text("scene.toml", text).load().map(|_| String::new()).unwrap_or_else(|p| p.to_string())
}

#[test]
fn a_shape_is_filled_with_tetrahedra_and_its_check_can_fail() {
    let scene = Loader::text("scene.toml", FILLED).load().unwrap();
    let Shape::Tets { tets, .. } = &scene.bodies()[0].shape else { panic!("no tetrahedra") };
    assert!(tets.len() > 500);
    // Mass follows from the tetrahedra.
    assert!(scene.bodies()[0].mass.is_some());
    let dir = tempfile::tempdir().unwrap();
    run_in(&scene, &dir.path().join("run"), 1).unwrap();
    let verdict = check_run(&dir.path().join("run"), 1, &Silent).unwrap();
    let passed: Vec<Option<bool>> = verdict.checks.iter().map(|c| c.passed).collect();
    assert_eq!(passed, [Some(true), Some(false), Some(false)], "{verdict:#?}");
}

#[test]
fn surfaces_are_made_anew_and_trimmed() {
    let surface = FILLED.replace("finer = 0", "finer = 0, make = \"surface\"");
    let scene = Loader::text("scene.toml", surface.clone()).load().unwrap();
    let Shape::Triangles { triangles: whole, .. } = &scene.bodies()[0].shape else { panic!("no triangles") };
    let knife =
        "\n[mesh.knife]\nshape = \"icosphere\"\nradius = 0.4\ntransform = { translate = [0, 0, 0.3] }\n";
    let trimmed = surface.replace("finer = 0", "trim = \"knife\", finer = 0") + knife;
    let scene = Loader::text("scene.toml", trimmed).load().unwrap();
    assert!(scene.warnings().is_empty(), "{:?}", scene.warnings());
    let Shape::Triangles { triangles, .. } = &scene.bodies()[0].shape else { panic!("no triangles") };
    assert!(!triangles.is_empty() && triangles.len() < whole.len());
}

#[test]
fn what_cannot_be_meshed_is_refused_with_a_reason() {
    let trim = FILLED.replace("finer = 0", "trim = \"egg\", finer = 0");
    assert!(problems(&trim).contains("only a surface can be trimmed"), "{}", problems(&trim));
    let nothing = FILLED.replace("finer = 0", "trim = \"knive\", make = \"surface\", finer = 0");
    assert!(problems(&nothing).contains("no mesh called"), "{}", problems(&nothing));
    let open = FILLED.replace("shape = \"lathe\"", "shape = \"plane\"").replace("profile", "#");
    assert!(problems(&open).contains("only closed shapes"), "{}", problems(&open));
    let huge = FILLED.replace("size = 0.15", "size = 0.0001");
    assert!(
        problems(&huge).contains("too many") || problems(&huge).contains("more than"),
        "{}",
        problems(&huge)
    );
}

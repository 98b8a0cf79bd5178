//! Every broken scene gets exactly the messages written beside it.

use billow_scene::{Loader, Scene};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/scenes/broken").canonicalize().unwrap()
}

/// The messages of a scene, paths shortened to what stands in the folder.
fn messages(path: &Path) -> String {
    let problems = match Scene::load(path) {
        Ok(scene) => panic!("{} loads: {scene:?}", path.display()),
        Err(problems) => problems,
    };
    for problem in &problems.0 {
        assert!(problem.source.get(problem.span.clone()).is_some(), "{problem}");
    }
    problems.to_string().replace(&format!("{}/", folder().display()), "") + "\n"
}

#[test]
fn broken_scenes_get_their_messages() {
    let mut scenes: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).collect();
    scenes.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    scenes.sort();
    assert!(scenes.len() >= 25, "only {} broken scenes", scenes.len());
    let mut wrong = String::new();
    for path in scenes {
        let (found, expected_path) = (messages(&path), path.with_extension("expected"));
        if std::env::var_os("BILLOW_UPDATE_EXPECTED").is_some() {
            std::fs::write(&expected_path, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if found != expected {
            wrong += &format!("== {}\n-- expected\n{expected}-- found\n{found}", path.display());
        }
    }
    assert!(
        wrong.is_empty(),
        "{wrong}\n(BILLOW_UPDATE_EXPECTED=1 writes the files anew: read them before you trust them)"
    );
}

#[test]
fn a_scene_that_is_not_there_is_a_problem_too() {
    let text = Scene::load(Path::new("no/such/scene.toml")).unwrap_err().to_string();
    assert_eq!(text, "no/such/scene.toml:1:1: error: cannot read the scene: there is no such file");
    let text = Scene::load(&folder()).unwrap_err().to_string();
    assert!(text.ends_with("cannot read the scene: it is not a file"), "{text}");
    let text = Loader::gallery("tumbel").load().unwrap_err().to_string();
    assert!(text.contains("did you mean `tumble`?"), "{text}");
}

#[test]
fn overrides_are_checked_like_the_file_and_point_at_the_command_line() {
    let load = |set: &[&str]| {
        let overrides = set.iter().map(ToString::to_string);
        Loader::text("ball.toml", "[mesh.ball]\nshape = \"icosphere\"\n[body.ball]\nmesh = \"ball\"\n")
            .set(overrides)
            .load()
    };
    let scene =
        load(&["simulation.frames=7", "mesh.ball.shape=box", "body.ball.position=[0, 0, 3]"]).unwrap();
    assert_eq!(scene.frames(), 7);
    assert_eq!(scene.bodies()[0].shape.vertex_count(), 8);
    for (set, expected) in [
        (
            "simulation.fraems=7",
            "--set:1:12: error: [simulation] has no key `fraems` (unknown key)\n  help: did you mean `frames`?",
        ),
        (
            "simulation.frames=-7",
            "--set:1:19: error: `frames` is -7, but must be from 0 to 1000000 (out of range)",
        ),
        ("mesh.ball.shape=boks", "--set:1:17: error: `shape` is the string \"boks\", but must be one of "),
        ("simulation.up=x", "--set:1:15: error: `up` is the string \"x\", but must be one of \"y\", \"z\""),
        ("frames", "--set:1:1: error: an override needs the form `key=value`"),
        ("a..b=c", "--set:1:1: error: this is not a dotted key"),
        ("simulation.frames=", "--set:1:19: error: not TOML: "),
        ("include=['x.toml']", "--set:1:1: error: `include` cannot be set on the command line"),
    ] {
        let found = load(&[set]).expect_err(set).to_string();
        assert!(found.contains(expected), "{set}\n{found}");
    }
}

#[test]
fn later_includes_and_the_file_itself_win_and_paths_start_from_their_file() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("sub/tri.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write(
        "sub/a.toml",
        "include = [\"../base.toml\"]\n[mesh.m]\nfile = \"tri.obj\"\n[simulation]\nfps = 30\nframes = 2\n",
    );
    write("b.toml", "[simulation]\nfps = 60\n");
    write("base.toml", "[simulation]\nframes = 1\nsubsteps = 9\n[body.m]\nmesh = \"m\"\n");
    write("main.toml", "include = [\"sub/a.toml\", \"b.toml\"]\n[simulation]\nmax_halvings = 3\n");
    let scene = Scene::load(&dir.path().join("main.toml")).unwrap();
    let timing = scene.timing();
    assert_eq!((timing.frames, timing.fps, timing.substeps, timing.max_halvings), (2, 60.0, 9, 3));
    assert_eq!(scene.bodies()[0].shape.element_count(), 1);
}

#[test]
fn looks_of_grids_and_particles_stand_apart_from_bodies() {
    let scene = |extra: &str| {
        let text = format!("[mesh.ball]\nshape = \"icosphere\"\n[body.ball]\nmesh = \"ball\"\n{extra}");
        billow_scene::Loader::text("look.toml", text).load()
    };
    let found = scene("look = { density = 3 }\n").unwrap_err().to_string();
    assert!(
        found.contains("`density` says nothing about the body `ball`") && found.contains("[look.NAME]"),
        "{found}"
    );
    let found = scene("[look.ball]\nhidden = true\n").unwrap_err().to_string();
    assert!(found.contains("`ball` is a body") && found.contains("[body.ball.look]"), "{found}");
    let text = "[look.smoke]\ndensity = 3\nanisotropy = -0.5\ngrid = \"fog\"\n[look.spray]\nradius = 0.01\n[look.water]\nnoise = 1e-4\n";
    let look = scene(text).unwrap().look().objects.clone();
    let smoke = &look["smoke"];
    assert_eq!((smoke.density, smoke.anisotropy, smoke.finish), (Some(3.0), Some(-0.5), None));
    assert_eq!((look["spray"].radius, look["water"].noise), (Some(0.01), Some(1e-4)));
}

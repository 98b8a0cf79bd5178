//! Cloth at the command line: what cannot be done is said with the place and the time, what was done is judged.

use crate::support::Place;

const PRESS: &str = r#"
[simulation]
frames = 24
substeps = 2
max_halvings = 3
[mesh.sheet]
shape = "cloth"
nodes = [5, 5]
[mesh.plate]
shape = "plane"
size = [2, 2]
[body.anvil]
mesh = "plate"
collision = "mesh"
[body.press]
mesh = "plate"
collision = "mesh"
motion = "scripted"
position = [0, 0, "0.2 - 0.5*t"]
[cloth.sheet]
mesh = "sheet"
position = [0, 0, 0.1]
"#;

#[test]
fn plates_that_leave_no_room_end_the_run_with_a_report() {
    let place = Place::new();
    place.write("press.toml", PRESS);
    let outcome = place.billow(&["run", "press.toml", "-o", "press"]);
    assert_ne!(outcome.code, 0, "{outcome:?}");
    let said = &outcome.stderr;
    assert!(said.contains("driven through") && said.contains("sheet"), "{said}");
    // Where and when.
    assert!(
        said.contains(" m") && said.contains('[') && said.contains("0.3") && said.contains(" s"),
        "{said}"
    );
    // What was computed before stays and is sound but for what is missing.
    let check = place.billow(&["check", "press"]);
    assert!(check.stdout.contains("0 crossing pairs") && check.stdout.contains("missing"), "{check:?}");
}

#[test]
fn check_tells_the_strain_of_every_cloth() {
    let place = Place::new();
    let text = PRESS.replace("0.2 - 0.5*t", "0.4").replace("frames = 24", "frames = 4");
    place.write("fall.toml", &text);
    assert_eq!(place.billow(&["run", "fall.toml", "-o", "fall"]).code, 0);
    let check = place.billow(&["check", "fall"]);
    assert_eq!(check.code, 0, "{check:?}");
    assert!(check.stdout.contains("5 of 5 frames audited: 0 crossing pairs"), "{check:?}");
    assert!(check.stdout.contains("cloth `sheet`: largest strain") && check.stdout.contains("its limit of"));
    assert!(check.stdout.contains("ok   strain of sheet"), "{check:?}");
}

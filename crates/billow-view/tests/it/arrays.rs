//! Many bodies of one mesh: one row in the list, one mesh on the line, and poses alone from frame to frame.

use crate::chromium::Chromium;
use billow_io::cache::{ManifestHeader, Status, Writer};
use billow_io::{Attribute, Domain, Frame, Object, Shape, Values};
use billow_num::{Pose, Vec3};
use billow_view::{Options, Server};
use serde_json::json;
use std::sync::Arc;

const BODIES: u32 = 40;
const FRAMES: u32 = 5;

/// Tetrahedra in a row that rise at different speeds above a floor which the scene does not show.
fn serve() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let look = json!({ "look": { "objects": { "floor": { "hidden": true } } } });
    let header = ManifestHeader { driver: look, last_frame: FRAMES - 1, ..ManifestHeader::default() };
    let mut writer = Writer::create(&run, &header).unwrap();
    let corners = Arc::new(vec![Vec3::ZERO, Vec3::X * 0.5, Vec3::Y * 0.5, Vec3::Z * 0.5]);
    let faces = Arc::new(vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]);
    let square =
        Arc::new([(-9., -9.), (9., -9.), (9., 9.), (-9., 9.)].map(|(x, y)| Vec3::new(x, y, 0.0)).to_vec());
    for index in 0..FRAMES {
        let time = f64::from(index) / 24.0;
        let body = |k: u32| {
            let speed = 0.1 * f64::from(k);
            let velocity = Values::Vector(Arc::new(vec![[0.0, 0.0, speed as f32]]));
            let place = Vec3::new(f64::from(k % 8), f64::from(k / 8), 0.5 + speed * time);
            Object {
                name: format!("block-{k:02}"),
                pose: Pose { position: place, ..Pose::IDENTITY },
                shape: Shape::Triangles { positions: Arc::clone(&corners), triangles: Arc::clone(&faces) },
                attributes: vec![Attribute {
                    name: "velocity".into(),
                    domain: Domain::Object,
                    values: velocity,
                }],
            }
        };
        let ground = Shape::Triangles {
            positions: Arc::clone(&square),
            triangles: Arc::new(vec![[0, 1, 2], [0, 2, 3]]),
        };
        let floor = Object { name: "floor".into(), pose: Pose::IDENTITY, shape: ground, attributes: vec![] };
        let objects = std::iter::once(floor).chain((0..BODIES).map(body)).collect();
        writer.write_frame(&Frame { index, time, objects, ..Frame::default() }).unwrap();
    }
    writer.finish(Status::Finished, None).unwrap();
    let server = Server::open(&run, &Options::default()).unwrap();
    (folder, server)
}

const ROWS: &str = "[...document.querySelectorAll('#objects li')].map((row) => row.textContent)";

#[test]
fn an_array_is_one_row_that_hides_and_unfolds() {
    let (_folder, server) = serve();
    let Some(mut page) = Chromium::launch(&server.url(), 900, 560) else { return };
    page.wait_for_rest();
    assert_eq!(page.eval(ROWS), json!(["floor2 triangles", "block40 bodies"]));
    let all = page.stage();
    page.click("[aria-label='Show block-*']");
    page.wait_for_rest();
    assert!(all.distance(&page.stage()) > 1000, "all of them are gone");
    page.wait("location.hash.includes('hide=block-*')");

    // One of them alone, shown among its own.
    page.click("[aria-label='block, 40 bodies']");
    assert_eq!(page.eval(&format!("{ROWS}.length")), 2 + BODIES);
    page.click("[aria-label='Show block-07']");
    page.wait_for_rest();
    assert_eq!(page.eval(&format!("{ROWS}[1]")), "block1 of 40 bodies");
    assert_eq!(page.eval("billow.view.hidden.size"), 1 + BODIES - 1);
    page.eval("billow.objects.solo('block-*')");
    assert_eq!(page.eval("[...billow.view.hidden]"), json!(["floor"]));
    page.wait_for_rest();
    assert!(page.stage().distance(&all) < 50, "as at first");
    page.assert_quiet();
}

#[test]
fn links_say_what_is_hidden_besides_what_the_scene_hides() {
    let (_folder, server) = serve();
    let Some(mut page) = Chromium::launch(&format!("{}#frame=2", server.url()), 900, 560) else { return };
    page.wait_for_rest();
    let hidden = "[...billow.view.hidden]";
    assert_eq!(page.eval(hidden), json!(["floor"]));
    for (link, expected) in [
        ("#frame=3", json!(["floor"])),
        ("#hide=", json!([])),
        ("#hide=block-*", json!(["block-*"])),
        ("#", json!(["floor"])),
    ] {
        page.eval(&format!("location.hash = '{link}'"));
        page.wait(&format!("JSON.stringify({hidden}) === '{expected}'"));
    }
    page.click("#show-all");
    page.wait("location.hash.endsWith('hide=')");
    page.assert_quiet();
}

#[test]
fn bodies_of_one_mesh_cost_their_poses() {
    let (_folder, server) = serve();
    let Some(mut page) = Chromium::launch(&server.url(), 900, 560) else { return };
    page.wait_for_rest();
    page.key("End");
    page.wait(&format!("billow.player.shown === {}", FRAMES - 1));
    page.wait_for_rest();
    let sizes = |page: &mut Chromium, what: &str| {
        let found = page.eval(&format!("performance.getEntriesByType('resource').filter((r) => r.name.includes('/{what}/')).map((r) => r.encodedBodySize)"));
        found.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect::<Vec<_>>()
    };
    // Vertices and indices of the block and of the floor, each once.
    assert_eq!(sizes(&mut page, "part").len(), 4);
    let frames = sizes(&mut page, "frame");
    assert_eq!(frames, vec![40 + 176 * u64::from(1 + BODIES); FRAMES as usize]);
    // Rigid bodies do not stretch: the first heat map shows what they do.
    page.eval("billow.setShading('heat')");
    page.wait("billow.legend.field === 'velocity' && billow.view.heatRange[1] > 3.8");
    assert_eq!(page.eval("document.getElementById('field').selectedOptions[0].textContent"), "Speed");
    page.assert_quiet();
}

//! Things stand where they should: silhouettes on the screen against rays through the same camera.

use crate::chromium::{Chromium, Picture};
use crate::scene;
use billow_io::cache::{ManifestHeader, Reader, Status, Writer};
use billow_io::{Frame, Grid, Object, Shape};
use billow_num::{Pose, Quat, Vec3};
use billow_render::{Look, RunStudio, Settings, Watch};
use billow_view::{Options, Server};
use serde_json::json;
use std::sync::Arc;

const EYE: Vec3 = Vec3::new(4.0, -3.0, 2.5);
const TARGET: Vec3 = Vec3::new(0.2, 0.1, 0.6);
/// Vertical angle of the page's view [°].
const FOV: f64 = 30.0;

/// Centre of the ball in each frame; the last one lies far from the origin of its own coordinates.
const CENTRES: [Vec3; 2] = [Vec3::new(0.0, 0.0, 0.5), Vec3::new(0.5, -0.3, 0.9)];
const RADIUS: f64 = 0.4;

fn run(shape: impl Fn(usize) -> Object) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let header = ManifestHeader { last_frame: 1, ..ManifestHeader::default() };
    let mut writer = Writer::create(&dir, &header).unwrap();
    for k in 0..2 {
        let frame = Frame { index: k as u32, time: k as f64, objects: vec![shape(k)], ..Frame::default() };
        writer.write_frame(&frame).unwrap();
    }
    writer.finish(Status::Finished, None).unwrap();
    let server = Server::open(&dir, &Options::default()).unwrap();
    (folder, server)
}

fn ball(shape: Shape, pose: Pose) -> Object {
    Object { name: "ball".into(), pose, shape, attributes: Vec::new() }
}

/// Compares the ball's pixels in both frames with the rays that hit it; at most `most` pixels may be wrong, and none
/// farther than `reach` pixels from the true outline.
fn check(server: &Server, most: usize, reach: f64) {
    let link = format!("#camera={},{},{},{},{},{}", EYE.x, EYE.y, EYE.z, TARGET.x, TARGET.y, TARGET.z);
    let Some(mut page) = Chromium::launch(&format!("{}{link}", server.url()), 900, 600) else { return };
    page.wait_for_rest();
    // Without ground and shadow, only the ball's own pixels change when it is hidden.
    page.key("g");
    page.key("o");
    for (k, centre) in CENTRES.iter().enumerate() {
        page.eval(&format!("billow.player.seek({k})"));
        page.wait(&format!("billow.player.shown === {k}"));
        page.wait_for_rest();
        let with = page.picture();
        page.eval("billow.setVisible('ball', false)");
        page.wait_for_rest();
        let without = page.picture();
        page.eval("billow.setVisible('ball', true)");
        let stage = page.eval("(() => { const b = document.getElementById('picture').getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()");
        let stage = [0, 1, 2, 3].map(|k| stage[k].as_f64().unwrap());
        compare(&with, &without, stage, *centre, most, reach);
    }
    page.assert_quiet();
}

fn compare(
    with: &Picture,
    without: &Picture,
    [x0, y0, w, h]: [f64; 4],
    centre: Vec3,
    most: usize,
    reach: f64,
) {
    let seen = with.differences(without, 3);
    let back = (EYE - TARGET).normalize();
    let side = Vec3::Z.cross(back).normalize();
    let above = back.cross(side);
    let tan = (FOV / 2.0).to_radians().tan();
    // Distance of a pixel from the outline, in pixels: that of its ray from the ball over the ray's spread.
    let outline = |px: usize, py: usize| {
        let (u, v) = (2.0 * (px as f64 + 0.5 - x0) / w - 1.0, 1.0 - 2.0 * (py as f64 + 0.5 - y0) / h);
        let ray = (side * u * tan * w / h + above * v * tan - back).normalize();
        let to = centre - EYE;
        let passes = (to - ray * ray.dot(to)).length();
        (passes - RADIUS) / (to.length() * 2.0 * tan / h)
    };
    let (mut wrong, mut inside) = (0, 0);
    for py in (y0 as usize)..((y0 + h) as usize) {
        for px in (x0 as usize)..((x0 + w) as usize) {
            let distance = outline(px, py);
            inside += usize::from(distance < 0.0);
            if seen[px + with.width * py] != (distance < 0.0) {
                wrong += 1;
                assert!(
                    distance.abs() < reach,
                    "pixel {px}, {py} is wrong, {distance:.1} pixels from the outline"
                );
            }
        }
    }
    assert!(inside > 5000, "the ball covers {inside} pixels");
    assert!(wrong <= most, "{wrong} of {inside} pixels are wrong");
}

#[test]
fn a_posed_mesh_stands_where_its_pose_puts_it_and_is_fetched_once() {
    // The mesh lies away from its body's origin, so that rotation and translation both matter.
    let (positions, triangles) = scene::sphere(Vec3::new(0.3, 0.0, 0.0), RADIUS, 128, 64);
    let (_folder, server) = run(|k| {
        let rotation = Quat::from_rotation_z(1.0 + k as f64) * Quat::from_rotation_x(0.7);
        let position = CENTRES[k] - rotation * Vec3::new(0.3, 0.0, 0.0);
        let shape = Shape::Triangles { positions: Arc::clone(&positions), triangles: Arc::clone(&triangles) };
        ball(shape, Pose { position, rotation })
    });
    check(&server, 700, 1.5);
}

#[test]
fn a_deforming_mesh_stands_where_its_vertices_are() {
    let (_folder, server) = run(|k| {
        let (positions, triangles) = scene::sphere(CENTRES[k], RADIUS, 128, 64);
        ball(Shape::Triangles { positions, triangles }, Pose::IDENTITY)
    });
    check(&server, 700, 1.5);
}

#[test]
fn a_level_set_stands_where_its_values_change_sign() {
    let (_folder, server) = run(|k| {
        let (n, origin, spacing) = (49u32, Vec3::new(-0.6, -0.9, -0.1), 0.036);
        let at =
            |i: u32, j: u32, k: u32| origin + spacing * Vec3::new(f64::from(i), f64::from(j), f64::from(k));
        let nodes = (0..n * n * n).map(|m| at(m % n, m / n % n, m / n / n));
        let values = nodes.map(|x| (x.distance(CENTRES[k]) - RADIUS) as f32).collect();
        ball(Shape::Grid(Grid { origin, spacing, dims: [n; 3], values: Arc::new(values) }), Pose::IDENTITY)
    });
    check(&server, 1200, 2.5);
}

#[test]
fn frames_are_the_same_in_the_browser_as_in_the_cache() {
    // The page unpacks a vertex by itself; its numbers must be those that were written.
    let x = [Vec3::new(0.1, -2.0, 3.0), Vec3::new(1.7, 0.25, 3.5), Vec3::new(-0.4, 1.0, 4.0)];
    let shape = Shape::Triangles { positions: Arc::new(x.to_vec()), triangles: Arc::new(vec![[0, 1, 2]]) };
    let (_folder, server) = run(|_| ball(shape.clone(), Pose::IDENTITY));
    let Some(mut page) = Chromium::launch(&server.url(), 400, 300) else { return };
    page.wait_for_rest();
    let found = page.eval(
        "(() => { const o = billow.renderer.frame.objects[0]; const d = o.vertexArray.data; const w = new Uint32Array(d.buffer, d.byteOffset, d.byteLength / 4); \
         return [0, 1, 2].map((k) => { const [a, b] = [w[3 * k], w[3 * k + 1]]; \
         return [a & 0x1fffff, (a >>> 21) | ((b & 0x3ff) << 11), (b >>> 10) & 0x1fffff].map((c, j) => o.origin[j] + o.step[j] * c); }); })()",
    );
    for (k, x) in x.iter().enumerate() {
        let back = [0, 1, 2].map(|j| found[k][j].as_f64().unwrap());
        assert!(Vec3::from_array(back).distance(*x) < 2e-6, "{x} became {}", json!(back));
    }
    page.assert_quiet();
}

#[test]
fn the_page_and_the_renderer_see_the_same_silhouette() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let mut look = Look::default();
    look.camera.position = Some([4.6, -5.2, 2.8]);
    look.camera.target = Some([0.0, -0.2, 0.8]);
    look.camera.fov = 34.0;
    look.camera.shutter = 0.0;
    look.ground.visible = false;
    let header = ManifestHeader { driver: json!({ "look": look }), ..ManifestHeader::default() };
    let mut frame = scene::frame(0, &scene::Fixed::new(40));
    // Particles, lines and grids have sizes that each side chooses for itself.
    frame.objects.retain(|o| matches!(o.shape, Shape::Triangles { .. } | Shape::Tets { .. }));
    let mut writer = Writer::create(&dir, &header).unwrap();
    writer.write_frame(&frame).unwrap();
    writer.finish(Status::Finished, None).unwrap();
    let server = Server::open(&dir, &Options::default()).unwrap();
    let Some(mut page) = Chromium::launch(&server.url(), 900, 600) else { return };
    page.wait_for_rest();
    page.key("g");
    page.key("o");
    page.wait_for_rest();
    let with = page.stage();
    page.eval("billow.renderer.frame.catalogue.objects.forEach((o) => billow.setVisible(o.name, false))");
    page.wait_for_rest();
    let seen = with.differences(&page.stage(), 3);
    page.assert_quiet();

    let settings =
        Settings { bounces: 1, denoise: false, ..Settings::exact(with.width as u32, with.height as u32, 16) };
    let aspect = with.width as f64 / with.height as f64;
    let mut studio = RunStudio::new(Reader::open(&dir).unwrap(), None, &[0], aspect).unwrap();
    let truth = studio.shoot(0, &settings, &Watch::default()).unwrap().coverage;

    let covered = truth.iter().filter(|c| **c > 0.5).count();
    assert!(covered > 20_000, "the renderer sees {covered} pixels");
    let mut wrong = 0;
    for (k, (seen, truth_here)) in seen.iter().zip(&truth).enumerate() {
        if *seen != (*truth_here > 0.5) {
            wrong += 1;
            // Only at an outline may the two differ: both inside and outside lie within two pixels.
            let (x, y) = ((k % with.width) as i64, (k / with.width) as i64);
            let near = (-2..=2).flat_map(|dy| (-2..=2).map(move |dx| (x + dx, y + dy)));
            let inside = |(x, y): (i64, i64)| {
                let within = (0..with.width as i64).contains(&x) && (0..with.height as i64).contains(&y);
                within.then(|| truth[(x + with.width as i64 * y) as usize] > 0.5)
            };
            let found: Vec<bool> = near.filter_map(inside).collect();
            assert!(
                found.contains(&true) && found.contains(&false),
                "pixel {x}, {y} is wrong, away from any outline"
            );
        }
    }
    assert!(wrong * 25 < covered, "{wrong} of {covered} pixels differ");
}

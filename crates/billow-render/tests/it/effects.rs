//! Every choice of a look changes the picture the way it says.

use crate::props::{frame, grid, mean, mesh, object, of, plain, shoot, sphere, with};
use billow_geom::shapes;
use billow_io::cache::UpAxis;
use billow_io::{Frame, Object, Shape};
use billow_num::{Quat, Vec3};
use billow_render::{
    Colour, Finish, Ground, Light, LightKind, Look, Pattern, Picture, Settings, Studio, Surface, Watch,
};
use std::f64::consts::PI;
use std::sync::Arc;

const RED: Colour = Colour([0.8, 0.0, 0.0]);
const BLUE: Colour = Colour([0.0, 0.0, 0.8]);

fn glowing(colour: Colour) -> Surface {
    Surface { emission: Some(colour), ..of(Finish::Matte, Colour::BLACK) }
}

/// A square sheet of side 2 that faces +y or, turned, anything else.
fn sheet(name: &str, rotation: Quat) -> Object {
    let mut sheet = mesh(name, shapes::plane(2.0, 2.0, 1, 1).unwrap());
    sheet.pose.rotation = rotation;
    sheet
}

fn picture(look: &Look, frame: &Frame, width: u32, height: u32, samples: u32) -> Picture {
    shoot(look, frame, &Settings::exact(width, height, samples)).unwrap()
}

/// Mean colour of the picture.
fn colour(picture: &Picture) -> [f32; 3] {
    let n = picture.radiance.len() as f32;
    std::array::from_fn(|c| picture.radiance.iter().map(|p| p[c]).sum::<f32>() / n)
}

/// Root mean square difference of two pictures' light.
fn apart(a: &Picture, b: &Picture) -> f64 {
    let squares = a.radiance.iter().zip(&b.radiance).map(|(p, q)| f64::from(p[1] - q[1]).powi(2));
    (squares.sum::<f64>() / a.radiance.len() as f64).sqrt()
}

#[test]
fn cloth_has_two_sides_of_their_own_colour() {
    let cloth = frame(vec![sheet("cloth", Quat::from_rotation_x(-PI / 2.0))]);
    let surface = Surface { back: Some(BLUE), translucency: Some(0.0), ..of(Finish::Fabric, RED) };
    let seen = |side: f64| {
        let look = with(&plain([0.0, side, 0.0], [0.0; 3], 10.0, 1.0), "cloth", surface.clone());
        colour(&picture(&look, &cloth, 8, 8, 64))
    };
    let (front, back) = (seen(4.0), seen(-4.0));
    assert!(front[0] > 10.0 * front[2] && front[0] > 0.4, "front {front:?}");
    assert!(back[2] > 10.0 * back[0] && back[2] > 0.4, "back {back:?}");
}

#[test]
fn translucent_cloth_glows_when_lit_from_behind() {
    let cloth = frame(vec![sheet("cloth", Quat::from_rotation_x(-PI / 2.0))]);
    let mut look = plain([0.0, -4.0, 0.0], [0.0; 3], 10.0, 0.0);
    let lamp = Light { kind: LightKind::Sun, position: [0.0, 5.0, 0.0], power: 3.0, ..Light::default() };
    look.lights = [("sun".to_string(), lamp)].into();
    let glow = |translucency| {
        let surface = Surface { translucency: Some(translucency), ..of(Finish::Fabric, Colour::grey(0.8)) };
        mean(&picture(&with(&look, "cloth", surface), &cloth, 8, 8, 64))
    };
    let (none, some, more) = (glow(0.0), glow(0.25), glow(0.5));
    assert!(none < 1e-6 && some > 0.05 && (more / some - 2.0).abs() < 0.02, "{none} {some} {more}");
}

/// On a facet of a coarse ball light varies if normals are smooth and is one value if they are flat.
#[test]
fn normals_are_smooth_unless_facets_are_asked_for() {
    let ball = frame(vec![mesh("ball", shapes::icosphere(1.0, 2).unwrap())]);
    let mut look = plain([0.0, -8.0, 0.0], [0.0; 3], 12.0, 0.0);
    let lamp = Light {
        kind: LightKind::Sun,
        position: [-3.0, -4.0, 3.0],
        power: 3.0,
        size: 0.1,
        ..Light::default()
    };
    look.lights = [("sun".to_string(), lamp)].into();
    let steps = |flat| {
        let surface = Surface { flat, ..of(Finish::Matte, Colour::WHITE) };
        let seen = picture(&with(&look, "ball", surface), &ball, 96, 96, 32);
        // The largest step of light between neighbours well inside the lit part.
        let at = |x: usize, y: usize| seen.radiance[x + 96 * y][1];
        let inside = (34..50).flat_map(|y| (34..50).map(move |x| (x, y)));
        inside.map(|(x, y)| (at(x + 1, y) - at(x, y)).abs()).fold(0.0, f32::max)
    };
    let (smooth, flat) = (steps(false), steps(true));
    assert!(flat > 3.0 * smooth, "steps of {smooth} and {flat}");
}

#[test]
fn the_ground_is_drawn_where_it_should_be_and_takes_checks() {
    let mut look = plain([0.0, -6.0, 2.0], [0.0, 0.0, 0.5], 40.0, 1.0);
    let ball = frame(vec![sphere("ball", 0.5, Vec3::new(0.0, 0.0, 0.5))]);
    let without = picture(&look, &ball, 64, 48, 16);
    look.ground = Ground { height: Some(0.0), colour: Colour::grey(0.2), ..Ground::default() };
    let with_ground = picture(&look, &ball, 64, 48, 16);
    let corner = |p: &Picture| p.radiance[64 * 47][1];
    assert!((corner(&without) - 1.0).abs() < 1e-3, "no ground, no change: {}", corner(&without));
    assert!(corner(&with_ground) < 0.35, "{}", corner(&with_ground));
    look.ground.checks = Some(Colour::grey(0.8));
    look.ground.check_size = Some(0.5);
    assert!(apart(&picture(&look, &ball, 64, 48, 16), &with_ground) > 0.1);
    look.ground.height = Some(-1.0);
    look.ground.checks = None;
    assert!(apart(&picture(&look, &ball, 64, 48, 16), &with_ground) > 0.02, "a lower ground");
}

/// A large level body at rest becomes the endless ground, but stays itself when no ground is wanted.
#[test]
fn a_floor_does_not_vanish_with_the_ground() {
    let mut floor = mesh("floor", shapes::plane(8.0, 8.0, 1, 1).unwrap());
    floor.pose.position = Vec3::new(0.0, 0.0, -0.5);
    let both = frame(vec![sphere("ball", 0.5, Vec3::ZERO), floor]);
    let mut look =
        with(&plain([0.0, -5.0, 3.0], [0.0; 3], 20.0, 1.0), "floor", of(Finish::Matte, Colour::grey(0.1)));
    for visible in [false, true] {
        look.ground.visible = visible;
        let seen = picture(&look, &both, 32, 32, 16);
        assert!(seen.radiance[32 * 31][1] < 0.2, "ground {visible}: {:?}", seen.radiance[32 * 31]);
        assert!(seen.coverage[32 * 31] > 0.99);
    }
}

#[test]
fn the_sky_runs_from_horizon_to_zenith_and_lights_by_its_factor() {
    let ball = frame(vec![sphere("ball", 0.5, Vec3::ZERO)]);
    let mut look = plain([0.0, -6.0, 0.0], [0.0, 0.0, 3.0], 60.0, 1.0);
    (look.sky.zenith, look.sky.horizon) = (BLUE, RED);
    let seen = picture(&look, &ball, 16, 64, 4);
    let (top, bottom) = (seen.radiance[8], seen.radiance[8 + 16 * 63]);
    assert!(top[2] > 0.5 && top[2] > 3.0 * bottom[2] && bottom[0] > top[0], "{top:?} {bottom:?}");
    let look =
        with(&plain([0.0, -3.0, 0.0], [0.0; 3], 5.0, 1.0), "ball", of(Finish::Matte, Colour::grey(0.5)));
    let lit = |light: f64| {
        let mut look = look.clone();
        look.sky.light = light;
        mean(&picture(&look, &ball, 8, 8, 128))
    };
    assert!((lit(2.0) / lit(1.0) - 2.0).abs() < 0.01 && lit(0.0) < 1e-6);
}

/// An edge at height a above the floor, a lamp of radius r at height b: the penumbra is 2 r a / (b - a) wide.
#[test]
fn shadows_are_as_soft_as_the_lamp_is_large() {
    let mut floor = mesh("floor", shapes::plane(8.0, 8.0, 1, 1).unwrap());
    floor.pose.position = Vec3::new(0.0, 0.0, 0.0);
    let mut edge = mesh("edge", shapes::plane(8.0, 8.0, 1, 1).unwrap());
    edge.pose.position = Vec3::new(4.0, 0.0, 1.0);
    let both = frame(vec![floor, edge]);
    let mut look = plain([-0.6, 0.0, 0.9], [-0.6, 0.0, 0.0], 90.0, 0.0);
    look.camera.up = Some([1.0, 0.0, 0.0]);
    let look = with(
        &with(&look, "floor", of(Finish::Matte, Colour::WHITE)),
        "edge",
        of(Finish::Matte, Colour::BLACK),
    );
    let width = |radius: f64| {
        let mut look = look.clone();
        let lamp = Light { position: [0.0, 0.0, 4.0], size: radius, power: 100.0, ..Light::default() };
        look.lights = [("lamp".to_string(), lamp)].into();
        let seen = picture(&look, &both, 9, 180, 256);
        // 100 pixels show a metre; the shadow begins where light falls below nine tenths and ends below a tenth.
        let row: Vec<f32> = (0..75).map(|y| seen.radiance[4 + 9 * y][1]).collect();
        let full = row.iter().fold(0.0f32, |a, b| a.max(*b));
        row.iter().filter(|v| **v > 0.1 * full && **v < 0.9 * full).count() as f64 * 0.01
    };
    // Between a tenth and nine tenths of a disc's area lie 0.687 of its diameter.
    for radius in [0.2, 0.6] {
        let expected = 0.687 * 2.0 * radius / 3.0;
        let found = width(radius);
        assert!((found - expected).abs() < 0.035, "radius {radius}: {found} instead of {expected}");
    }
}

/// Glass at an angle shifts what is behind it by s sin θ (1 - cos θ / (n cos θ')).
#[test]
fn glass_and_water_refract_by_snells_law() {
    let mut wall = mesh("wall", shapes::plane(20.0, 20.0, 1, 1).unwrap());
    wall.pose.rotation = Quat::from_rotation_x(PI / 2.0);
    wall.pose.position = Vec3::new(10.0, 4.0, 0.0);
    let angle = PI / 4.0;
    let mut slab = mesh("slab", shapes::cuboid(Vec3::new(6.0, 1.0, 6.0), [1, 1, 1]).unwrap());
    slab.pose.rotation = Quat::from_rotation_z(angle);
    // Seen from far away, so that all rays are parallel.
    let look = with(&plain([0.0, -100.0, 0.0], [0.0; 3], 0.1, 0.0), "wall", glowing(Colour::WHITE));
    let metres = 2.0 * 104.0 * (0.05f64.to_radians()).tan();
    let border = |objects: Vec<Object>, finish: Finish| {
        let surface = Surface { depth: Some(1e6), ..of(finish, Colour::WHITE) };
        let seen = picture(&with(&look, "slab", surface), &frame(objects), 200, 20, 64);
        let bright = |x: usize| (0..20).map(|y| seen.radiance[x + 200 * y][1]).sum::<f32>() / 20.0;
        let full = bright(199);
        (0..200).map(|x| 1.0 - f64::from(bright(x) / full).min(1.0)).sum::<f64>() * 10.0 * metres / 200.0
    };
    let straight = border(vec![wall.clone()], Finish::Glass);
    for (finish, n) in [(Finish::Glass, 1.5f64), (Finish::Water, 1.333)] {
        let inner = (angle.sin() / n).asin();
        let expected = angle.sin() * (1.0 - angle.cos() / (n * inner.cos()));
        let found = (border(vec![wall.clone(), slab.clone()], finish) - straight).abs();
        assert!((found - expected).abs() < 0.03, "{finish:?}: shifted by {found} instead of {expected}");
    }
}

/// A lamp's mirror image is sharp on a smooth ball, wide on a rough one, and absent on a matte one.
#[test]
fn roughness_spreads_highlights() {
    let ball = frame(vec![mesh("ball", shapes::uv_sphere(1.0, 256, 128).unwrap())]);
    let mut look = plain([0.0, -6.0, 0.0], [0.0; 3], 20.0, 0.0);
    let lamp = Light {
        kind: LightKind::Sun,
        position: [-3.0, -4.0, 3.0],
        power: 3.0,
        size: 2.0,
        ..Light::default()
    };
    look.lights = [("sun".to_string(), lamp)].into();
    let peak = |surface: Surface| {
        let seen = picture(&with(&look, "ball", surface), &ball, 64, 64, 64);
        seen.radiance.iter().map(|p| p[1]).fold(0.0, f32::max)
    };
    let rough = |r| Surface { roughness: Some(r), ..of(Finish::Glossy, Colour::grey(0.2)) };
    let (smooth, middle, matte) =
        (peak(rough(0.1)), peak(rough(0.4)), peak(of(Finish::Matte, Colour::grey(0.2))));
    assert!(smooth > 3.0 * middle && middle > 1.3 * matte, "{smooth} {middle} {matte}");
}

#[test]
fn patterns_show_both_colours_and_stay_with_the_material() {
    let flat = frame(vec![sheet("cloth", Quat::IDENTITY)]);
    let mut look = plain([0.0, 0.0, 5.0], [0.0; 3], 20.0, 1.0);
    look.camera.up = Some([0.0, 1.0, 0.0]);
    let seen = |pattern, frame: &Frame| {
        let surface = Surface {
            pattern: Some(pattern),
            second: Some(BLUE),
            scale: Some(0.4),
            ..of(Finish::Matte, RED)
        };
        picture(&with(&look, "cloth", surface), frame, 64, 64, 8)
    };
    let is_red = |p: &Picture, x: usize, y: usize| p.radiance[x + 64 * y][0] > p.radiance[x + 64 * y][2];
    for pattern in [Pattern::Checks, Pattern::Stripes, Pattern::Weave] {
        let p = seen(pattern, &flat);
        let red = (0..64 * 64).filter(|k| is_red(&p, k % 64, k / 64)).count();
        assert!((1600..2500).contains(&red), "{pattern:?}: {red} of 4096 pixels are red");
    }
    let plain = seen(Pattern::Plain, &flat);
    assert!((0..4096).all(|k| is_red(&plain, k % 64, k / 64)));
    // Stripes run one way, checks both.
    let column = |p: &Picture| (0..64).filter(|y| is_red(p, 20, *y)).count();
    let (stripes, checks) = (column(&seen(Pattern::Stripes, &flat)), column(&seen(Pattern::Checks, &flat)));
    assert!([0, 64].contains(&stripes) && (20..44).contains(&checks), "{stripes} {checks}");
    // A sheet that has moved since the first frame takes its pattern along.
    let mut moved = flat.clone();
    let Shape::Triangles { positions, .. } = &mut moved.objects[0].shape else { unreachable!() };
    Arc::make_mut(positions).iter_mut().for_each(|p| p.x += 0.2);
    let surface = Surface {
        pattern: Some(Pattern::Stripes),
        second: Some(BLUE),
        scale: Some(0.4),
        ..of(Finish::Matte, RED)
    };
    let mut survey = Studio::survey(&with(&look, "cloth", surface), UpAxis::Z, 24.0, &flat, 1.0).unwrap();
    survey.add(&moved);
    let mut studio = survey.finish().unwrap();
    let [first, later] = [&flat, &moved]
        .map(|f| studio.shoot(f, None, &Settings::exact(64, 64, 8), &Watch::default()).unwrap());
    let opposite = (10..54).filter(|x| is_red(&first, *x, 32) != is_red(&later, *x, 32)).count();
    assert!(opposite > 36, "half a repeat turns {opposite} of 44 pixels over");
}

/// A mirror ball of a level set with sub-pixel noise reflects a lamp as a rough one does.
#[test]
fn noise_turns_a_mirror_of_a_level_set_into_a_glossy_surface() {
    let ball = frame(vec![object("ball", Shape::Grid(grid(33, |p| p.length() - 0.7)))]);
    let mut look = plain([0.0, -6.0, 0.0], [0.0; 3], 16.0, 0.0);
    look.lights =
        [("lamp".to_string(), Light { position: [-4.0, -5.0, 4.0], size: 0.5, ..Light::default() })].into();
    let bright = |noise: f64| {
        let surface =
            Surface { noise: Some(noise), roughness: Some(0.0), ..of(Finish::Metal, Colour::WHITE) };
        let seen = picture(&with(&look, "ball", surface), &ball, 64, 64, 64);
        seen.radiance.iter().filter(|p| p[1] > 0.01).count()
    };
    let (mirror, glossy) = (bright(0.0), bright(0.01));
    assert!(mirror > 2 && glossy > 3 * mirror, "{mirror} and {glossy} bright pixels");
}

#[test]
fn fog_shows_its_density_colour_and_direction() {
    let smoke = || frame(vec![object("smoke", Shape::Grid(grid(17, |p| (1.0 - p.length()).max(0.0))))]);
    let mut look = plain([0.0, -6.0, 0.0], [0.0; 3], 24.0, 0.0);
    let lamp = Light { kind: LightKind::Sun, position: [0.0, 6.0, 0.0], power: 3.0, ..Light::default() };
    look.lights = [("behind".to_string(), lamp)].into();
    let seen = |density: f64, anisotropy: f64, colour: Colour| {
        let surface = Surface {
            density: Some(density),
            anisotropy: Some(anisotropy),
            colour: Some(colour),
            ..Surface::default()
        };
        picture(&with(&look, "smoke", surface), &smoke(), 32, 32, 32)
    };
    let white = Colour::WHITE;
    assert!(
        mean(&seen(4.0, 0.0, white)) > 3.0 * mean(&seen(0.4, 0.0, white)),
        "denser fog catches more light"
    );
    assert!(
        mean(&seen(1.0, 0.7, white)) > 2.0 * mean(&seen(1.0, -0.7, white)),
        "forward scattering, seen against the sun"
    );
    let red = colour(&seen(4.0, 0.0, Colour([1.0, 0.3, 0.1])));
    assert!(red[0] > 1.5 * red[1] && red[1] > red[2], "{red:?}");
}

/// The camera that nobody placed shows all of the subject, as large as the margin allows, lit from three sides.
#[test]
fn the_automatic_camera_and_lights_show_everything_well() {
    for (up, turn) in [(UpAxis::Z, Quat::IDENTITY), (UpAxis::Y, Quat::from_rotation_x(-PI / 2.0))] {
        let far = Vec3::new(300.0, -50.0, 7.0);
        let balls = [Vec3::ZERO, Vec3::new(3.0, 0.5, 0.0), Vec3::new(1.0, 1.0, 2.0)];
        let all = frame(
            balls
                .iter()
                .enumerate()
                .map(|(k, p)| sphere(&format!("ball {k}"), 0.5, far + turn * *p))
                .collect(),
        );
        let look = Look { ground: Ground { visible: false, ..Ground::default() }, ..Look::default() };
        let mut survey = Studio::survey(&look, up, 24.0, &all, 1.5).unwrap();
        survey.add(&all);
        let settings = Settings { width: 120, height: 80, samples: 32, ..Settings::default() };
        let seen = survey.finish().unwrap().shoot(&all, None, &settings, &Watch::default()).unwrap();
        let covered = |x: usize, y: usize| seen.coverage[x + 120 * y] > 0.5;
        let (mut lo, mut hi) = ([999usize; 2], [0usize; 2]);
        for (x, y) in (0..80).flat_map(|y| (0..120).map(move |x| (x, y))).filter(|(x, y)| covered(*x, *y)) {
            lo = [lo[0].min(x), lo[1].min(y)];
            hi = [hi[0].max(x), hi[1].max(y)];
        }
        // Six parts in a hundred of the picture stay free along the tighter side, and nothing is cut off.
        let margins = [lo[0], 119 - hi[0], lo[1], 79 - hi[1]];
        assert!(margins.iter().all(|m| *m >= 3), "{margins:?}");
        assert!(margins[0].min(margins[1]) <= 9 || margins[2].min(margins[3]) <= 7, "{margins:?}");
        // Bright and dark parts, neither burnt out nor lost.
        let mut lit: Vec<f32> =
            (0..120 * 80).filter(|k| seen.coverage[*k] > 0.99).map(|k| seen.radiance[k][0]).collect();
        lit.sort_by(f32::total_cmp);
        let (dark, bright) = (lit[lit.len() / 20], lit[lit.len() * 19 / 20]);
        assert!(bright > 2.0 * dark && bright < 1.5 && dark > 0.05, "{dark} to {bright}");
    }
}

#[test]
fn exposure_doubles_and_smoothing_lowers_noise_without_moving_the_mean() {
    let ball = frame(vec![sphere("ball", 0.5, Vec3::ZERO)]);
    let mut look = Look::default();
    let shot = |look: &Look, samples, denoise| {
        let settings = Settings {
            width: 48,
            height: 32,
            samples,
            noise: 0.0,
            denoise,
            clamp: 1e9,
            ..Settings::default()
        };
        shoot(look, &ball, &settings).unwrap()
    };
    let (truth, noisy, smoothed) = (shot(&look, 512, false), shot(&look, 4, false), shot(&look, 4, true));
    assert!(
        apart(&smoothed, &truth) < 0.6 * apart(&noisy, &truth),
        "{} {}",
        apart(&smoothed, &truth),
        apart(&noisy, &truth)
    );
    assert!((mean(&smoothed) / mean(&truth) - 1.0).abs() < 0.01, "{} {}", mean(&smoothed), mean(&truth));
    look.camera.exposure = 1.0;
    assert!((mean(&shot(&look, 4, false)) / mean(&noisy) - 2.0).abs() < 1e-3);
}

/// Few bounces show what stands behind glass, and not black.
#[test]
fn previews_look_through_glass() {
    let mut wall = mesh("wall", shapes::plane(20.0, 20.0, 1, 1).unwrap());
    wall.pose.rotation = Quat::from_rotation_x(PI / 2.0);
    wall.pose.position = Vec3::new(0.0, 4.0, 0.0);
    let slab = mesh("slab", shapes::cuboid(Vec3::new(2.0, 0.2, 2.0), [1, 1, 1]).unwrap());
    let look =
        with(&plain([0.0, -5.0, 0.0], [0.0; 3], 10.0, 1.0), "wall", of(Finish::Matte, Colour::grey(0.5)));
    let look = with(&look, "slab", of(Finish::Glass, Colour::WHITE));
    let seen = |objects: Vec<Object>| {
        let settings = Settings { width: 16, height: 16, samples: 64, ..Settings::preview() };
        mean(&shoot(&look, &frame(objects), &settings).unwrap())
    };
    let (bare, through) = (seen(vec![wall.clone()]), seen(vec![wall, slab]));
    assert!(through > 0.85 * bare && through < 1.1 * bare, "{through} instead of {bare}");
}

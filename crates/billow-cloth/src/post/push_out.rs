//! Push-out from thick objects ([Bri03] 3.1).
//!
//! During simulation nodes are only pushed towards the surface of thick objects, and triangles may cut into them. Putting
//! all offenders on the surface would iron out wrinkles; instead depths are mapped monotonically to a narrow band
//! outside: what was deeper stays lower, and what was outside the band stays where it is.

use super::Surroundings;
use billow_levelset::Still;
use billow_num::{Vec3, par};

/// The distance to which a node at signed distance `phi` [m] is lifted: increasing, above zero, and `phi` itself from
/// the outer border of the band on, where the slope is one too.
pub fn lifted(phi: f64, band: f64) -> f64 {
    if phi >= band { phi } else { band / (1.0 + (band - phi) / band) }
}

/// Nodes `x` moved along the normals of the objects that hold them, out of them; counts those moved.
pub fn push_out(x: &[Vec3], around: &Surroundings<'_>, band: f64, moved: &mut u64) -> Vec<Vec3> {
    let solids: Vec<Still<'_>> = around.solids.iter().map(|solid| solid.at_time(around.time)).collect();
    let out = par::map(x.len(), |i| {
        let mut p = x[i];
        for solid in &solids {
            let sample = solid(p);
            if sample.phi < band {
                p += sample.normal * (lifted(sample.phi, band) - sample.phi);
            }
        }
        p
    });
    *moved += x.iter().zip(&out).filter(|(a, b)| a != b).count() as u64;
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_levelset::Ball;

    #[test]
    fn the_map_is_smooth_and_keeps_the_order_of_depths() {
        let band = 0.01;
        let mut last = 0.0;
        for k in -2000..200 {
            let phi = f64::from(k) * 1e-4;
            let up = lifted(phi, band);
            assert!(up > last && up > 0.0 && up >= phi, "{phi}: {up}");
            last = up;
        }
        assert_eq!(lifted(0.02, band), 0.02);
        let h = 1e-8;
        assert!(((lifted(band, band) - lifted(band - h, band)) / h - 1.0).abs() < 1e-5);
    }

    #[test]
    fn nodes_leave_a_ball_along_its_normals() {
        let ball = Ball::new(Vec3::ZERO, 1.0).unwrap();
        let around = Surroundings { obstacles: &[], solids: &[&ball], time: 0.0 };
        let x = [Vec3::new(0.9, 0.0, 0.0), Vec3::new(0.0, 0.95, 0.0), Vec3::new(0.0, 0.0, 1.5)];
        let mut moved = 0;
        let out = push_out(&x, &around, 0.02, &mut moved);
        assert_eq!((moved, out[2]), (2, x[2]));
        assert!(out[0].y == 0.0 && out[0].x > 1.0 && out[1].y > out[0].x && out[1].y < 1.02);
    }
}

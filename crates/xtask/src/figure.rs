//! `figure incline`: both curves of [Gue06] fig. 2.8, computed and by theory, as `docs/pictures/incline-curves.svg`.

use billow::num::Vec3;
use billow::rigid::experiments::{incline, incline_theory};
use billow::rigid::{Config, Workspace, step};
use std::fmt::Write;
use std::path::Path;

/// Step of the experiment [s].
const STEP: f64 = 1.0 / 96.0;
/// Size of a panel and its margin [px].
const PANEL: [f64; 2] = [420.0, 300.0];
const MARGIN: f64 = 60.0;

/// One block: friction, speed at the start [m/s], seconds shown, largest way shown [m].
struct Curve {
    title: &'static str,
    friction: f64,
    speed: f64,
    seconds: f64,
    metres: f64,
}

const CURVES: [Curve; 2] = [
    Curve {
        title: "accelerating, μ = 0.25, from rest",
        friction: 0.25,
        speed: 0.0,
        seconds: 2.0,
        metres: 2.5,
    },
    Curve {
        title: "decelerating, μ = 0.5, from 1.25 m/s",
        friction: 0.5,
        speed: 1.25,
        seconds: 2.0,
        metres: 0.8,
    },
];

/// Draws the figure.
pub(crate) fn incline_curves(root: &Path) -> Result<(), String> {
    let width = 2.0 * (PANEL[0] + MARGIN) + 20.0;
    let height = PANEL[1] + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for (k, curve) in CURVES.iter().enumerate() {
        let ways = computed(curve)?;
        let squares: f64 = ways.iter().map(|(t, s)| (s - theory(curve, *t)).powi(2)).sum();
        let rms = (squares / ways.len() as f64).sqrt();
        println!("{}: {:.2e} m RMS from theory at steps of 1/96 s", curve.title, rms);
        panel(&mut svg, MARGIN + k as f64 * (PANEL[0] + MARGIN), curve, &ways, rms);
    }
    svg += "</svg>\n";
    let file = root.join("docs/pictures/incline-curves.svg");
    std::fs::write(&file, svg).map_err(|e| format!("cannot write {}: {e}", file.display()))
}

fn theory(curve: &Curve, t: f64) -> f64 {
    incline_theory(curve.friction, curve.speed, t)
}

/// Time [s] and way along the slope [m] after every step.
fn computed(curve: &Curve) -> Result<Vec<(f64, f64)>, String> {
    let model = incline(curve.friction, curve.speed).map_err(|e| e.to_string())?;
    let (mut state, mut work) = (model.start(), Workspace::default());
    let start: Vec3 = state.bodies[1].pose.position;
    let mut ways = vec![(0.0, 0.0)];
    for k in 1..=(curve.seconds / STEP).round() as u32 {
        step(&model, &mut state, &mut work, &Config::default(), STEP).map_err(|e| e.to_string())?;
        ways.push((f64::from(k) * STEP, state.bodies[1].pose.position.distance(start)));
    }
    Ok(ways)
}

/// Axes, theory as a line, every eighth step as a circle.
fn panel(svg: &mut String, left: f64, curve: &Curve, ways: &[(f64, f64)], rms: f64) {
    let x = |t: f64| left + PANEL[0] * t / curve.seconds;
    let y = |s: f64| MARGIN + PANEL[1] * (1.0 - s / curve.metres);
    let (bottom, right) = (y(0.0), x(curve.seconds));
    let _ = writeln!(svg, "<path d=\"M{left} {MARGIN}V{bottom}H{right}\" fill=\"none\" stroke=\"#333\"/>");
    for k in 0..=4 {
        let (t, s) = (curve.seconds * f64::from(k) / 4.0, curve.metres * f64::from(k) / 4.0);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{t}</text>",
            x(t),
            bottom + 18.0
        );
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{s:.2}</text>",
            left - 6.0,
            y(s) + 4.0
        );
    }
    let points: String =
        (0..=200).map(|k| curve.seconds * f64::from(k) / 200.0).fold(String::new(), |mut line, t| {
            let _ = write!(line, "{:.2},{:.2} ", x(t), y(theory(curve, t)));
            line
        });
    let _ =
        writeln!(svg, "<polyline points=\"{points}\" fill=\"none\" stroke=\"#c0392b\" stroke-width=\"2\"/>");
    for (t, s) in ways.iter().step_by(8) {
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"4\" fill=\"none\" stroke=\"#1f4e9c\" stroke-width=\"1.5\"/>",
            x(*t),
            y(*s)
        );
    }
    let middle = 0.5 * (left + right);
    let title = format!("{} — {:.1e} m RMS", curve.title, rms);
    let _ =
        writeln!(svg, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{title}</text>", MARGIN - 24.0);
    let _ =
        writeln!(svg, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">time [s]</text>", bottom + 40.0);
    let _ = writeln!(svg, "<text x=\"{left}\" y=\"{}\">way along the slope [m]</text>", MARGIN - 6.0);
}

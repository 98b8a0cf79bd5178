//! Impact zones form where impulses are not enough, and dissolve.

use crate::support::{garment, model, sheet};
use billow_cloth::{Config, Integrator, Material, Workspace, step};
use billow_geom::audit;
use billow_num::Vec3;
use billow_num::rng::Stream;

#[test]
fn zones_form_in_a_storm_and_dissolve_after_it() {
    // Three sheets whose nodes are thrown about and together, in the order of the documents, with a single round of
    // impulses before zones take over.
    let material = Material { thickness: 2e-3, ..Material::default() };
    let cloths = (0..3).map(|k| {
        let mut cloth = garment(sheet(0.4, 12), material);
        let lift = Vec3::Z * (0.006 * f64::from(k));
        cloth.start = Some(cloth.mesh.positions.iter().map(|x| *x + lift).collect());
        cloth
    });
    let model = model(cloths.collect(), vec![], Vec3::ZERO);
    let mut state = model.initial_state();
    let mut config = Config { integrator: Integrator::Implicit, ..Config::default() };
    config.contact.collision_rounds = 1;
    let mut work = Workspace::default();
    let (mut nodes, mut largest) = (Vec::new(), Vec::new());
    for k in 0..40u64 {
        if k < 6 {
            let storm = |i: usize| Stream::new(7, k).at(i as u64).in_ball() * 40.0;
            (0..state.v.len()).for_each(|i| state.v[i] += storm(i) - state.x[i] * 20.0);
        }
        let report = step(&model, &mut state, &mut work, &config, 1.0 / 192.0).unwrap();
        assert!(audit::audit(&state.x, model.triangles()).findings.is_empty(), "step {k}");
        nodes.push(report.contact.zones.iter().sum::<usize>());
        largest.push(report.contact.zones.iter().max().copied().unwrap_or(0));
    }
    println!("nodes in impact zones, step by step: {nodes:?}, largest zone {largest:?}");
    assert!(nodes[..8].iter().any(|n| *n > 30), "zones form: {nodes:?}");
    assert!(nodes[30..].iter().all(|n| *n == 0), "zones dissolve: {nodes:?}");
    // Nothing is frozen into a clump: neighbours move relative to each other.
    let springs = model.springs();
    let rate = |[a, b]: &[u32; 2]| state.v[*a as usize].distance(state.v[*b as usize]);
    let moving = springs.ends().iter().filter(|ends| rate(ends) > 1e-3).count();
    assert!(moving > springs.len() * 9 / 10, "{moving} of {}", springs.len());
}

//! VDB files: what is written is read back bit by bit, OpenVDB's own files are understood, damage is refused.
//!
//! `tests/data/ball_*.vdb` were written by OpenVDB 10: a level-set ball of radius 0.5 m about (1.05, 1, 0.9) with
//! voxels of 0.1 m, compressed with Blosc, with zip, and in half precision.

use billow_io::formats::vdb::{self, AnyVdbGrid, Compression, VdbClass, VdbGrid, VdbLeaf, VdbTile};
use billow_io::{Grid, formats::vdb::LEAF_VOXELS};
use billow_levelset::{BlockSize, Collider, Frame, Layout, SparseGrid, Torus};
use billow_num::Vec3;
use std::path::Path;

fn torus(layout: Layout) -> SparseGrid {
    let torus = Torus::new(Vec3::new(0.1, 0.2, -0.3), Vec3::new(0.1, 0.2, 1.0), 0.5, 0.25).unwrap();
    let frame = Frame { origin: Vec3::new(0.05, -0.02, 0.01), spacing: 0.02, half_width: 3.0 };
    SparseGrid::of_collider(frame, layout, &torus, 0.0).unwrap()
}

fn parse(bytes: &[u8]) -> billow_io::Result<Vec<AnyVdbGrid>> {
    vdb::parse(Path::new("test.vdb"), bytes)
}

#[test]
fn level_sets_come_back_bit_by_bit() {
    for block in [BlockSize::Four, BlockSize::Eight] {
        let grid = torus(Layout { block, ..Layout::default() });
        for compression in [Compression::None, Compression::Zip] {
            let file = VdbGrid::from_level_set("surface", &grid);
            assert_eq!(
                file.active_voxels() as usize,
                grid.values().iter().filter(|v| v.abs() < 0.06).count()
            );
            let bytes = vdb::to_bytes(&[AnyVdbGrid::Float(file.clone())], compression);
            let grids = parse(&bytes).unwrap();
            let [AnyVdbGrid::Float(read)] = &grids[..] else { panic!("one float grid expected") };
            assert_eq!((&read.name, &read.class, read.voxel_size), (&file.name, &VdbClass::LevelSet, 0.02));
            // The file's order is that of the tree's nodes.
            let mut leaves = read.leaves.clone();
            leaves.sort_by_key(|l| l.origin);
            assert!(leaves == file.leaves);
            let back = read.to_level_set().unwrap();
            assert_eq!(back.frame(), grid.frame());
            for k in -40..40 {
                for j in -40..50 {
                    for i in -45..45 {
                        assert_eq!(back.at([i, j, k]).to_bits(), grid.at([i, j, k]).to_bits(), "{i} {j} {k}");
                    }
                }
            }
        }
    }
}

#[test]
fn fog_vectors_and_tiles_come_back() {
    let dims = [20u32, 17, 13];
    let values: Vec<f32> =
        (0..20 * 17 * 13).map(|i| if i % 3 == 0 { 0.0 } else { i as f32 * 0.01 }).collect();
    let fog = Grid { origin: Vec3::new(1.0, 2.0, 3.0), spacing: 0.1, dims, values: values.clone().into() };
    let fog = VdbGrid::from_grid("density", &fog);
    let vectors = VdbGrid {
        name: "v".into(),
        class: VdbClass::Other("staggered".into()),
        voxel_size: 0.1,
        origin: Vec3::ZERO,
        background: [0.0; 3],
        leaves: vec![VdbLeaf {
            origin: [-8, 16, 4096],
            active: [5; 8],
            values: vec![[1.0, -2.0, 0.5]; LEAF_VOXELS],
        }],
        tiles: vec![
            VdbTile { origin: [0, 0, 0], edge: 8, value: [1.0; 3], active: true },
            VdbTile { origin: [128, 0, -256], edge: 128, value: [2.0; 3], active: false },
            VdbTile { origin: [4096, 0, 0], edge: 4096, value: [3.0; 3], active: true },
        ],
    };
    let grids = [AnyVdbGrid::Float(fog.clone()), AnyVdbGrid::Vector(vectors.clone())];
    for compression in [Compression::None, Compression::Zip] {
        let read = parse(&vdb::to_bytes(&grids, compression)).unwrap();
        let [AnyVdbGrid::Float(f), AnyVdbGrid::Vector(v)] = &read[..] else { panic!("{}", read.len()) };
        assert_eq!(f, &fog);
        for (i, want) in values.iter().enumerate() {
            assert_eq!(f.value([i % 20, i / 20 % 17, i / 340].map(|c| c as i32)), *want);
        }
        assert_eq!(v.leaves, vectors.leaves);
        let sorted = |tiles: &[VdbTile<[f32; 3]>]| {
            let mut tiles: Vec<_> =
                tiles.iter().map(|t| (t.edge, t.origin, t.value[0] as i32, t.active)).collect();
            tiles.sort_unstable();
            tiles
        };
        assert_eq!(sorted(&v.tiles), sorted(&vectors.tiles));
    }
}

#[test]
fn fog_of_a_level_set_fills_the_inside_and_comes_back() {
    let grid = torus(Layout::default());
    let fog = VdbGrid::fog_of_level_set("density", &grid);
    let bytes = vdb::to_bytes(&[AnyVdbGrid::Float(fog.clone())], vdb::Compression::Zip);
    let grids = parse(&bytes).unwrap();
    let [AnyVdbGrid::Float(back)] = &grids[..] else { panic!("one float grid expected") };
    assert_eq!((&back.class, back.background), (&VdbClass::FogVolume, 0.0));
    assert_eq!(back.active_voxels(), fog.active_voxels());
    let far = grid.frame().background();
    let mut counts = [0; 3];
    let (lo, hi) = grid.sample_bounds().unwrap();
    for z in (lo[2]..=hi[2]).step_by(3) {
        for y in (lo[1]..=hi[1]).step_by(3) {
            for x in (lo[0]..=hi[0]).step_by(3) {
                let want = (-grid.at([x, y, z]) / far).clamp(0.0, 1.0);
                assert_eq!(back.value([x, y, z]), want, "{x} {y} {z}");
                counts[if want == 0.0 {
                    0
                } else if want < 1.0 {
                    1
                } else {
                    2
                }] += 1;
            }
        }
    }
    assert!(counts.iter().all(|&n| n > 100), "{counts:?}");
}

#[test]
fn files_of_openvdb_itself_are_read() {
    for (file, tolerance) in [("ball_blosc", 1e-6), ("ball_zip", 1e-6), ("ball_half", 2e-4)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/{file}.vdb"));
        let grids = vdb::read(&path).unwrap();
        let [AnyVdbGrid::Float(grid)] = &grids[..] else { panic!("{file}: {} grids", grids.len()) };
        assert_eq!((grid.name.as_str(), &grid.class), ("ball", &VdbClass::LevelSet));
        let level_set = grid.to_level_set().unwrap();
        let mut near = 0;
        for k in 0..20 {
            for j in 0..20 {
                for i in 0..20 {
                    let x = grid.position([i, j, k]);
                    let want = (x.distance(Vec3::new(1.05, 1.0, 0.9)) - 0.5).clamp(-0.3, 0.3);
                    let got = f64::from(level_set.at([i, j, k]));
                    assert!((got - want).abs() < tolerance, "{file} at {x}: {got} {want}");
                    near += usize::from(want.abs() < 0.29);
                }
            }
        }
        assert!(near > 1000);
        assert!(level_set.phi(Vec3::new(1.05, 1.0, 0.9), 0.0) < 0.0);
    }
}

#[test]
fn damaged_files_are_refused_and_never_panic() {
    let whole = vdb::to_bytes(
        &[AnyVdbGrid::Float(VdbGrid::from_level_set("s", &torus(Layout::default())))],
        Compression::Zip,
    );
    for n in (0..whole.len()).step_by(997) {
        assert!(parse(&whole[..n]).is_err(), "cut at {n}");
    }
    let mut changed = 0;
    for n in (0..whole.len()).step_by(613) {
        let mut bytes = whole.clone();
        bytes[n] ^= 0x5A;
        changed += usize::from(parse(&bytes).is_err());
    }
    assert!(changed > 0);
    let message = parse(b"this is no volume at all").unwrap_err().to_string();
    assert!(message.contains("not an OpenVDB file"), "{message}");
}

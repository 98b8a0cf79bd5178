//! Tetrahedral meshes out: VTK's `.vtu`, Gmsh's `.msh` (2.2, binary), Medit's `.mesh`, and the boundary as `.obj`.
//!
//! Coordinates keep all their bits in the binary formats and seventeen digits in the texts. The boundary triangles go
//! along where a format has room for them.

use std::fmt::Write;

use billow_geom::TetMesh;

/// File formats for tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TetFormat {
    /// VTK unstructured grid, for ParaView and meshio.
    Vtu,
    /// Gmsh 2.2, binary.
    Msh,
    /// Medit, text.
    Medit,
    /// Wavefront, text: the boundary alone.
    Obj,
}

impl TetFormat {
    /// The format a file name's ending stands for.
    pub fn of_ending(ending: &str) -> Option<Self> {
        match ending.to_ascii_lowercase().as_str() {
            "vtu" => Some(Self::Vtu),
            "msh" => Some(Self::Msh),
            "mesh" => Some(Self::Medit),
            "obj" => Some(Self::Obj),
            _ => None,
        }
    }
}

/// The bytes of a file with `mesh` and its outward `boundary` triangles.
pub fn write(mesh: &TetMesh, boundary: &[[u32; 3]], format: TetFormat) -> Vec<u8> {
    match format {
        TetFormat::Vtu => vtu(mesh),
        TetFormat::Msh => msh(mesh, boundary),
        TetFormat::Medit => medit(mesh, boundary).into_bytes(),
        TetFormat::Obj => obj(mesh, boundary).into_bytes(),
    }
}

/// VTK's cell type of a tetrahedron.
const VTK_TETRA: u8 = 10;

fn vtu(mesh: &TetMesh) -> Vec<u8> {
    let mut out = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\">\n<UnstructuredGrid>\n",
    );
    let (nodes, tets) = (mesh.positions.len(), mesh.tets.len());
    let _ = writeln!(out, "<Piece NumberOfPoints=\"{nodes}\" NumberOfCells=\"{tets}\">\n<Points>");
    let points: Vec<u8> =
        mesh.positions.iter().flat_map(|p| p.to_array()).flat_map(f64::to_le_bytes).collect();
    array(&mut out, "Float64", "Points", 3, &points);
    out += "</Points>\n<Cells>\n";
    let corners: Vec<u8> = mesh.tets.iter().flatten().flat_map(|n| i64::from(*n).to_le_bytes()).collect();
    array(&mut out, "Int64", "connectivity", 1, &corners);
    let offsets: Vec<u8> = (1..=tets as i64).flat_map(|t| (4 * t).to_le_bytes()).collect();
    array(&mut out, "Int64", "offsets", 1, &offsets);
    array(&mut out, "UInt8", "types", 1, &vec![VTK_TETRA; tets]);
    out += "</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
    out.into_bytes()
}

/// One data array, its length and bytes in base 64.
fn array(out: &mut String, kind: &str, name: &str, components: usize, bytes: &[u8]) {
    let _ = writeln!(
        out,
        "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"binary\">"
    );
    let mut data = (bytes.len() as u64).to_le_bytes().to_vec();
    data.extend_from_slice(bytes);
    base64(out, &data);
    *out += "\n</DataArray>\n";
}

fn base64(out: &mut String, bytes: &[u8]) {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out.reserve(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |k: usize| u32::from(*group.get(k).unwrap_or(&0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for k in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * k) & 63) as usize] as char;
            out.push(if k > group.len() { '=' } else { letter });
        }
    }
}

fn msh(mesh: &TetMesh, boundary: &[[u32; 3]]) -> Vec<u8> {
    const TRIANGLE: i32 = 2;
    const TETRAHEDRON: i32 = 4;
    let mut out = b"$MeshFormat\n2.2 1 8\n".to_vec();
    out.extend(1i32.to_le_bytes());
    out.extend(format!("\n$EndMeshFormat\n$Nodes\n{}\n", mesh.positions.len()).bytes());
    for (n, p) in mesh.positions.iter().enumerate() {
        out.extend((n as i32 + 1).to_le_bytes());
        p.to_array().iter().for_each(|c| out.extend(c.to_le_bytes()));
    }
    let count = boundary.len() + mesh.tets.len();
    out.extend(format!("\n$EndNodes\n$Elements\n{count}\n").bytes());
    let mut number = 0i32;
    let mut block = |kind: i32, corners: &mut dyn Iterator<Item = Vec<u32>>, length: usize| {
        if length == 0 {
            return;
        }
        // One header for all elements of a kind: type, how many, two tags each (physical group, entity).
        [kind, length as i32, 2].iter().for_each(|v| out.extend(v.to_le_bytes()));
        for element in corners {
            number += 1;
            [number, 1, 1].iter().for_each(|v| out.extend(v.to_le_bytes()));
            element.iter().for_each(|n| out.extend((*n as i32 + 1).to_le_bytes()));
        }
    };
    block(TRIANGLE, &mut boundary.iter().map(|t| t.to_vec()), boundary.len());
    block(TETRAHEDRON, &mut mesh.tets.iter().map(|t| t.to_vec()), mesh.tets.len());
    out.extend(b"\n$EndElements\n");
    out
}

fn medit(mesh: &TetMesh, boundary: &[[u32; 3]]) -> String {
    let mut out = String::from("MeshVersionFormatted 2\nDimension 3\n");
    let _ = writeln!(out, "Vertices\n{}", mesh.positions.len());
    for p in &mesh.positions {
        let _ = writeln!(out, "{} {} {} 0", p.x, p.y, p.z);
    }
    let _ = writeln!(out, "Triangles\n{}", boundary.len());
    for [a, b, c] in boundary {
        let _ = writeln!(out, "{} {} {} 0", a + 1, b + 1, c + 1);
    }
    let _ = writeln!(out, "Tetrahedra\n{}", mesh.tets.len());
    for [a, b, c, d] in &mesh.tets {
        let _ = writeln!(out, "{} {} {} {} 0", a + 1, b + 1, c + 1, d + 1);
    }
    out += "End\n";
    out
}

/// The boundary with its own vertices.
fn obj(mesh: &TetMesh, boundary: &[[u32; 3]]) -> String {
    let mut number = vec![0u32; mesh.positions.len()];
    boundary.iter().flatten().for_each(|n| number[*n as usize] = 1);
    let mut out = String::from("# Boundary of a tetrahedral mesh, metres\n");
    let mut count = 0;
    for (n, p) in mesh.positions.iter().enumerate() {
        if number[n] == 1 {
            count += 1;
            number[n] = count;
            let _ = writeln!(out, "v {} {} {}", p.x, p.y, p.z);
        }
    }
    for face in boundary {
        let [a, b, c] = face.map(|n| number[n as usize]);
        let _ = writeln!(out, "f {a} {b} {c}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::Vec3;

    fn sample() -> (TetMesh, Vec<[u32; 3]>) {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(0.1, 0.2, 1.0 / 3.0)];
        let mesh = TetMesh { positions, tets: vec![[4, 1, 2, 3], [0, 1, 2, 4]] };
        (mesh, vec![[1, 2, 3], [0, 2, 1]])
    }

    #[test]
    fn base64_follows_its_published_examples() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            let mut out = String::new();
            base64(&mut out, plain.as_bytes());
            assert_eq!(out, coded);
        }
    }

    #[test]
    fn binary_gmsh_files_have_the_length_their_counts_say() {
        let (mesh, boundary) = sample();
        let bytes = write(&mesh, &boundary, TetFormat::Msh);
        let text = String::from_utf8_lossy(&bytes);
        let start = bytes.windows(10).position(|w| w == b"$Elements\n").unwrap() + 10 + 2;
        let end = bytes.windows(13).rposition(|w| w == b"$EndElements\n").unwrap() - 1;
        assert_eq!(end - start, 12 + 2 * (3 + 3) * 4 + 12 + 2 * (3 + 4) * 4, "{text}");
    }

    #[test]
    fn the_boundary_is_renumbered_and_read_back() {
        let (mesh, boundary) = sample();
        let bytes = write(&mesh, &boundary, TetFormat::Obj);
        let read = crate::formats::parse_mesh(std::path::Path::new("skin.obj"), &bytes).unwrap().mesh;
        assert_eq!((read.positions.len(), read.triangles.len()), (4, 2));
        let text = String::from_utf8(write(&mesh, &boundary, TetFormat::Medit)).unwrap();
        assert!(
            text.contains("0.1 0.2 0.3333333333333333 0\n") && text.contains("Tetrahedra\n2\n5 2 3 4 0\n")
        );
    }
}

//! The command line: what may be typed, and the help that teaches it.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// Physics-based animation: cloth, shells, soft solids, rigid bodies, smoke and water that meet without leaks
/// or intersections.
#[derive(Parser, Debug)]
#[command(name = "billow", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "\
Examples:
  billow gallery                      list the built-in scenes
  billow run tumble                   simulate one of them
  billow view out/tumble              look at it in the browser
  billow check out/tumble             audit every frame exactly
  billow render out/tumble            make pictures of it
  billow export out/tumble -f usd     open the result in Blender or Houdini

Exit codes: 0 done, 1 input/output error, 2 bad input, 3 a guarantee failed, 130 interrupted.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print only errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Run(RunArgs),
    Resume(ResumeArgs),
    Check(CheckArgs),
    Export(ExportArgs),
    Render(RenderArgs),
    Info(InfoArgs),
    Sdf(SdfArgs),
    Subdivide(SubdivideArgs),
    Surface(SurfaceArgs),
    Mesh(MeshArgs),
    View(ViewArgs),
    Gallery(GalleryArgs),
    Schema(SchemaArgs),
    Bench(BenchArgs),
    Completions(CompletionsArgs),
}

/// Simulate a gallery scene or a scene file
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  billow run tumble                             a gallery scene into out/tumble
  billow run shot.toml -o /data/shot            a scene file into a folder of your choice
  billow run tumble --view                      watch it in the browser while it computes
  billow run tumble --frames 0..48              stop after frame 48
  billow run tumble --set simulation.substeps=16 --set body.handle.angular_velocity='[0, 9, 0.1]'
  billow run tumble --json | tail -n 1 | jq .seconds_per_frame

A run can be interrupted with Ctrl-C, or killed, and continued with `billow resume`.")]
pub(crate) struct RunArgs {
    /// A gallery scene's name, or the path of a scene file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) scene: String,
    /// Folder for the run; the default is out/NAME, or out/NAME-2 and so on if that exists
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a run that already stands in the folder given with --output
    #[arg(long, requires = "output")]
    pub(crate) overwrite: bool,
    /// Frames to keep, both ends included: A..B, ..B or B
    #[arg(long, value_name = "A..B")]
    pub(crate) frames: Option<FrameRange>,
    /// Change a value of the scene file, by its dotted path; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Show the run in the browser while it computes, and until Ctrl-C afterwards; without a screen, make a picture
    #[arg(long)]
    pub(crate) view: bool,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Continue an interrupted or killed run, bit for bit as if it had never stopped
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  billow resume out/tumble                 continue where it stopped
  billow resume out/tumble --frames ..240  continue a finished run to frame 240")]
pub(crate) struct ResumeArgs {
    /// Folder of the run
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// New last frame: ..B or B
    #[arg(long, value_name = "..B")]
    pub(crate) frames: Option<FrameRange>,
    /// Continue although another version of billow began the run; the rest may differ in the last bits
    #[arg(long)]
    pub(crate) accept_other_version: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Audit every frame of a run: exact crossing pairs, non-finite values, inverted elements, damaged files
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  billow check out/tumble             exit code 0 if the run keeps every guarantee, 3 if not
  billow check out/tumble --json      the findings as one JSON object")]
pub(crate) struct CheckArgs {
    /// Folder of the run
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Make the cloth of a run finer and smoother without new crossings, frame by frame, as a new run
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  billow subdivide out/drape                     two levels, sixteen triangles for each, into out/drape-fine
  billow subdivide out/drape --levels 1 -o fine  one level, into a folder of your choice
  billow subdivide out/drape --levels 0          only push cloth out of bodies
  billow render out/drape-fine                   pictures of the result")]
pub(crate) struct SubdivideArgs {
    /// Folder of the run
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// How often each triangle is cut into four
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) levels: u32,
    /// Keep edges of the first frame sharp that turn by more than so many degrees: pleats, seams
    #[arg(long, value_name = "DEGREES")]
    pub(crate) crease: Option<f64>,
    /// Folder for the new run; the default is DIR-fine
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a run that already stands in the folder given with --output
    #[arg(long, requires = "output")]
    pub(crate) overwrite: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Write the frames of a run in a format other programs read
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  billow export out/tumble --format usd              one animated USD file for Blender, Houdini, Maya
  billow export out/tumble -f ply -o frames/         a PLY file per object and frame
  billow export out/tumble -f obj --frames 10..20    eleven OBJ files per object")]
pub(crate) struct ExportArgs {
    /// Folder of the run
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// File format
    #[arg(short, long, value_enum)]
    pub(crate) format: Format,
    /// File (usd) or folder (ply, obj) to write; the default stands beside the run
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Frames to export, both ends included: A..B, ..B or B
    #[arg(long, value_name = "A..B")]
    pub(crate) frames: Option<FrameRange>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Formats of `billow export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Polygon files, binary, one per object and frame
    Ply,
    /// Wavefront text files, one per object and frame
    Obj,
    /// One animated USD file with meshes, points, curves and rigid transforms
    Usd,
}

/// Make pictures or a movie of a run
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  billow render out/tumble                          a PNG per frame into out/tumble-pictures
  billow render out/tumble --frame 48 -o shot.png   one picture
  billow render out/tumble --sheet 3x3              a contact sheet, out/tumble-sheet.png
  billow render out/tumble --movie tumble.gif       an animation; .png and .gif always, .mp4 with ffmpeg
  billow render out/tumble --preview --movie quick.gif --size 480x270
  billow render out/shot --scene shot.toml          after changing its camera or colours, without simulating again

Camera, lights and materials come from the scene file; whatever it leaves open is chosen to show everything well.
The same command makes the same picture, bit for bit, with any number of threads.")]
pub(crate) struct RenderArgs {
    /// Folder of the run
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Folder for the pictures, or a file (.png, .exr) for a single one; the default stands beside the run
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Frames to show, both ends included: A..B, ..B or B
    #[arg(long, value_name = "A..B", conflicts_with = "frame")]
    pub(crate) frames: Option<FrameRange>,
    /// One frame to show
    #[arg(long, value_name = "N")]
    pub(crate) frame: Option<u32>,
    /// Show only every Nth of the frames
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) every: u32,
    /// Take camera, lights and surfaces from this scene instead of the one that was run
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) scene: Option<String>,
    /// Width and height of a picture in pixels
    #[arg(long, value_name = "WxH", default_value = "960x540")]
    pub(crate) size: Pair,
    /// Quick pictures: few samples, two bounces, smoothed
    #[arg(long)]
    pub(crate) preview: bool,
    /// Most samples per pixel [default: 128, with --preview 2]
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u32>,
    /// Noise at which a pixel needs no more samples; 0 gives every pixel all of them [default: 0.01]
    #[arg(long, value_name = "X")]
    pub(crate) noise: Option<f32>,
    /// Keep what noise is left instead of smoothing it
    #[arg(long)]
    pub(crate) no_denoise: bool,
    /// Trace light focused by glass and water; needs many samples
    #[arg(long)]
    pub(crate) caustics: bool,
    /// Write OpenEXR files with linear light instead of PNG
    #[arg(long)]
    pub(crate) exr: bool,
    /// Put COLUMNS by ROWS frames, evenly spread, on one sheet with their numbers
    #[arg(long, value_name = "CxR", conflicts_with_all = ["movie", "exr"])]
    pub(crate) sheet: Option<Pair>,
    /// Write an animation: .gif, .png, or with ffmpeg .mp4, .webm, .mov
    #[arg(long, value_name = "FILE", conflicts_with_all = ["exr", "output"])]
    pub(crate) movie: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Two positive numbers as typed: `960x540`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair(pub(crate) u32, pub(crate) u32);

impl std::str::FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| part.parse::<u32>().ok().filter(|n| (1..=32_768).contains(n));
        text.split_once(['x', 'X', '×'])
            .and_then(|(a, b)| Some(Self(number(a)?, number(b)?)))
            .ok_or_else(|| format!("`{text}` is not of the form 960x540 with numbers between 1 and 32768"))
    }
}

/// Tell what a run, a scene file or a mesh file holds
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  billow info out/tumble            frames, objects, sizes, time per stage
  billow info shot.toml             what the scene would simulate
  billow info bunny.ply --json      counts, bounds, volume and every defect of a mesh")]
pub(crate) struct InfoArgs {
    /// Folder of a run, a scene file (.toml), or a mesh file (.obj, .ply, .stl)
    #[arg(value_name = "DIR|FILE")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Show a run in the browser, finished or still computing
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  billow view out/tumble                       open the viewer; Ctrl-C ends it
  billow view out/tumble --no-open             only print the address, for example over SSH:
  ssh -L 8000:127.0.0.1:8000 HOST billow view out/tumble --bind 127.0.0.1:8000
  billow run tumble --view                     watch a simulation as it runs

The page is served on this machine alone unless --bind says otherwise, and only to who knows its address: that holds a
random token, new each time.")]
pub(crate) struct ViewArgs {
    /// Folder of the run
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Print the page's address as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where the viewer's page is served.
#[derive(Args, Debug)]
pub(crate) struct PageArgs {
    /// Address to serve the viewer on, with an optional port [default: a free port of 127.0.0.1]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    pub(crate) bind: Option<Bind>,
    /// Host name under which the viewer may be reached, besides localhost and numeric addresses; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// Print the viewer's address without opening a browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// An address to listen on: `ADDRESS` or `ADDRESS:PORT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bind(pub(crate) SocketAddr);

impl std::str::FromStr for Bind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numeric = text.replacen("localhost", "127.0.0.1", 1);
        let address = numeric
            .parse::<SocketAddr>()
            .or_else(|_| numeric.trim_matches(['[', ']']).parse::<IpAddr>().map(|ip| SocketAddr::new(ip, 0)));
        address.map(Self).map_err(|_| {
            format!(
                "`{text}` is no address to listen on; write for example 127.0.0.1:8000, 0.0.0.0 or [::1]:8000"
            )
        })
    }
}

/// Turn a mesh into a signed distance field, with booleans, offset and smoothing
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  billow sdf bunny.ply -o bunny.vdb --resolution 500       for Blender, Houdini or `billow surface`
  billow sdf bunny.ply -o bunny.vdb --voxel-size 0.001     voxels of 1 mm
  billow sdf cup.obj -o solid.ply --union handle.obj --subtract hole.obj --smooth 0.002
  billow sdf cloud.stl -o cloud.vdb --fog                  a density for volume renderers
  billow sdf scan.ply -o scan.vdb --json                   memory, volume, area and leaks as JSON

Open meshes are closed as well as their rays can tell, and the report says how leaky they were.")]
pub(crate) struct SdfArgs {
    /// Mesh file (.obj, .ply, .stl)
    #[arg(value_name = "MESH")]
    pub(crate) mesh: PathBuf,
    /// File to write: .vdb (OpenVDB), .json (blocks of values), or a mesh (.ply, .obj, .stl)
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Voxels along the longest side of the mesh [default: 256]
    #[arg(long, value_name = "N", conflicts_with = "voxel_size")]
    pub(crate) resolution: Option<u32>,
    /// Edge of a voxel [m]
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub(crate) voxel_size: Option<f64>,
    /// Half width of the band around the surface, in voxels
    #[arg(long, value_name = "W", default_value_t = 3.0)]
    pub(crate) half_width: f64,
    #[command(flatten)]
    pub(crate) operation: SdfOperation,
    /// Move the surface outward by a distance, inward if negative [m]
    #[arg(
        long,
        value_name = "D",
        default_value_t = 0.0,
        hide_default_value = true,
        allow_negative_numbers = true
    )]
    pub(crate) offset: f64,
    /// Round off features of this size by mean-curvature motion [m]
    #[arg(
        long,
        value_name = "SIZE",
        default_value_t = 0.0,
        hide_default_value = true,
        allow_negative_numbers = true
    )]
    pub(crate) smooth: f64,
    /// Write a fog volume, density 0 at the surface to 1 at the half width inside, instead of a level set (.vdb only)
    #[arg(long)]
    pub(crate) fog: bool,
    /// How far, in voxels, a ray may miss a triangle of a leaky mesh and still hit it
    #[arg(long, value_name = "T", default_value_t = 0.01)]
    pub(crate) thickness: f64,
    /// Memory the result may take [GB]
    #[arg(long, value_name = "GB", default_value_t = 4.0)]
    pub(crate) max_memory: f64,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Booleans with other meshes, in the order union, intersection, difference.
#[derive(Args, Debug)]
pub(crate) struct SdfOperation {
    /// Add another mesh; may be repeated
    #[arg(long, value_name = "MESH")]
    pub(crate) union: Vec<PathBuf>,
    /// Keep only what lies in another mesh; may be repeated
    #[arg(long, value_name = "MESH")]
    pub(crate) intersect: Vec<PathBuf>,
    /// Cut another mesh away; may be repeated
    #[arg(long, value_name = "MESH")]
    pub(crate) subtract: Vec<PathBuf>,
}

/// Fill a surface or a level set with well-shaped tetrahedra
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  billow mesh bunny.obj -o bunny.vtu                     for ParaView or meshio
  billow mesh bunny.obj -o bunny.msh --size 0.002        edges of 2 mm at the surface, for Gmsh
  billow mesh scan.vdb -o scan.mesh --smooth 0.001       a level set, roughness smoothed away
  billow mesh bunny.obj -o skin.obj                      only the boundary, as a good triangle mesh
  billow mesh bunny.obj -o mask.obj --trim box.obj       that part of it which lies inside a box
  billow mesh bunny.obj -o bunny.vtu --cutaway cut.png --histogram shapes.png --json

Every result is checked: a manifold boundary, no inverted tetrahedron, none with four nodes on the boundary, no inner edge
between boundary nodes.")]
pub(crate) struct MeshArgs {
    /// Mesh file (.obj, .ply, .stl) or level set (.vdb)
    #[arg(value_name = "MESH|VDB")]
    pub(crate) input: PathBuf,
    /// File to write: .vtu (VTK), .msh (Gmsh), .mesh (Medit), or .obj for the boundary alone
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Longest edge at the surface [m] [default: 1/80 of the diagonal]
    #[arg(long, value_name = "H")]
    pub(crate) size: Option<f64>,
    /// How often edges may be halved below --size where the surface is curved or thin
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=8))]
    pub(crate) finer: u32,
    /// How often edges may double above --size inside
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=8))]
    pub(crate) coarser: u32,
    /// Refine where edge times sum of absolute principal curvatures exceeds this; inf turns it off
    #[arg(long, value_name = "X", default_value_t = 3.0)]
    pub(crate) curvature: f64,
    /// Refine where interpolated distances are wrong by this part of an edge; inf turns it off
    #[arg(long, value_name = "X", default_value_t = 0.25)]
    pub(crate) interpolation: f64,
    /// How the boundary is brought to the surface
    #[arg(long, value_enum, default_value_t = Method::Optimise)]
    pub(crate) method: Method,
    /// Leave boundary nodes with three triangles alone
    #[arg(long)]
    pub(crate) keep_degree_three: bool,
    /// Keep sharp edges and corners, as far as the shapes of tetrahedra allow; they are rounded otherwise
    #[arg(long, conflicts_with = "smooth")]
    pub(crate) sharp: bool,
    /// Samples of the distance along the longest side of a mesh
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub(crate) resolution: u32,
    /// Name of the level set in a .vdb file; the default is the first
    #[arg(long, value_name = "NAME")]
    pub(crate) grid: Option<String>,
    /// Round off features of this size by mean-curvature motion before meshing [m]
    #[arg(long, value_name = "SIZE", default_value_t = 0.0, hide_default_value = true)]
    pub(crate) smooth: f64,
    /// Write the boundary (.obj) only where it lies inside this second mesh or level set, its border on the curve where both
    /// surfaces meet
    #[arg(long, value_name = "MESH|VDB")]
    pub(crate) trim: Option<PathBuf>,
    /// Tetrahedra allowed in the lattice before it is cut out
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    pub(crate) max_tets: usize,
    /// Write a picture with the distributions of dihedral angles and aspect ratios
    #[arg(long, value_name = "PNG")]
    pub(crate) histogram: Option<PathBuf>,
    /// Write a picture of the mesh with its front cut away
    #[arg(long, value_name = "PNG")]
    pub(crate) cutaway: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Ways of compression of `billow mesh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// Direct optimisation of shapes, the best and the fastest
    Optimise,
    /// Edge and altitude springs
    Springs,
    /// Finite elements with limited strain
    Elements,
}

/// Extract the surface of a level set as a mesh
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  billow surface bunny.vdb -o bunny.ply                smooth surface nets
  billow surface bunny.vdb -o bunny.obj --manifold     a manifold whatever the values
  billow surface pyro.vdb --grid surface -o fire.stl --smooth 0.01")]
pub(crate) struct SurfaceArgs {
    /// Level set: .vdb (OpenVDB) or .json (from `billow sdf`)
    #[arg(value_name = "VOLUME")]
    pub(crate) volume: PathBuf,
    /// Mesh file to write (.ply, .obj, .stl)
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Name of the grid; the first level set if none is given
    #[arg(long, value_name = "NAME")]
    pub(crate) grid: Option<String>,
    /// Marching tetrahedra, guaranteed manifold, instead of surface nets
    #[arg(long)]
    pub(crate) manifold: bool,
    /// Round off features of this size by mean-curvature motion first [m]
    #[arg(
        long,
        value_name = "SIZE",
        default_value_t = 0.0,
        hide_default_value = true,
        allow_negative_numbers = true
    )]
    pub(crate) smooth: f64,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// List, show or copy the built-in scenes
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  billow gallery                          list the scenes
  billow gallery show tumble              print a scene file, a good place to start from
  billow gallery copy tumble my-shot      copy it (and what it includes) to a folder to edit
  billow gallery render                   simulate them all and make a page of pictures")]
pub(crate) struct GalleryArgs {
    #[command(subcommand)]
    pub(crate) action: Option<GalleryAction>,
    /// Print the list as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum GalleryAction {
    /// List the scenes
    List,
    /// Print a scene file
    Show {
        /// Name of the scene
        name: String,
    },
    /// Simulate scenes, make their pictures, and write the page of all scenes that have one
    Render {
        /// Names of scenes; all of them if none is given
        names: Vec<String>,
        /// Page to write; the pictures go to the folder `pictures` beside it
        #[arg(long, value_name = "FILE", default_value = "docs/gallery.md")]
        page: PathBuf,
        /// Quick pictures instead of good ones
        #[arg(long)]
        preview: bool,
        /// Folder for the runs, kept; the default is temporary
        #[arg(long, value_name = "DIR")]
        runs: Option<PathBuf>,
    },
    /// Copy a scene to a folder
    Copy {
        /// Name of the scene
        name: String,
        /// Folder to write to; the default is the current one
        folder: Option<PathBuf>,
    },
}

/// Print the JSON Schema of scene files, for editors that complete and check as you type
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  billow schema > billow.schema.json      then name it in your editor's TOML settings")]
pub(crate) struct SchemaArgs {}

/// Time gallery scenes on this machine
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  billow bench                       every gallery scene, shortened
  billow bench tumble --frames ..120 --threads 1
  billow bench --json | jq '.scenes[].seconds_per_frame'")]
pub(crate) struct BenchArgs {
    /// Names of gallery scenes; all of them if none is given
    #[arg(value_name = "NAME")]
    pub(crate) scenes: Vec<String>,
    /// Frames to simulate: ..B or B
    #[arg(long, value_name = "..B", default_value = "..24")]
    pub(crate) frames: FrameRange,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Print a completion script for your shell
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  billow completions bash > ~/.local/share/bash-completion/completions/billow
  billow completions fish > ~/.config/fish/completions/billow.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell to write for
    pub(crate) shell: clap_complete::Shell,
}

/// Options that most commands take.
#[derive(Args, Debug)]
pub(crate) struct Common {
    /// Threads to use; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// End the output with one line holding one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// An inclusive range of frame numbers as typed: `A..B`, `..B`, `A..` or `B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameRange {
    pub(crate) first: u32,
    pub(crate) last: Option<u32>,
}

impl std::str::FromStr for FrameRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| {
            part.parse::<u32>()
                .map_err(|_| format!("`{part}` is not a frame number; write A..B, ..B, A.. or B"))
        };
        let range = match text.split_once("..") {
            None => Self { first: 0, last: Some(number(text)?) },
            Some((first, last)) => Self {
                first: if first.is_empty() { 0 } else { number(first)? },
                last: if last.is_empty() { None } else { Some(number(last)?) },
            },
        };
        match range.last {
            Some(last) if last < range.first => {
                Err(format!("the last frame {last} lies before the first, {}", range.first))
            }
            _ => Ok(range),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_teaches_by_example() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example"), "`billow {} --help` has no example", command.get_name());
        }
    }

    #[test]
    fn frame_ranges_are_read_in_every_form() {
        let parse = |text: &str| text.parse::<FrameRange>();
        assert_eq!(parse("3..7"), Ok(FrameRange { first: 3, last: Some(7) }));
        assert_eq!(parse("..7"), Ok(FrameRange { first: 0, last: Some(7) }));
        assert_eq!(parse("7"), Ok(FrameRange { first: 0, last: Some(7) }));
        assert_eq!(parse("3.."), Ok(FrameRange { first: 3, last: None }));
        assert!(
            parse("7..3").is_err() && parse("a..b").is_err() && parse("").is_err() && parse("-1").is_err()
        );
    }
}

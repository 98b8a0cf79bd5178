//! A finished picture: linear light and what the denoiser knows about each pixel.

/// Linear light per pixel, rows from the top, with guides.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Width [pixels].
    pub width: u32,
    /// Height [pixels].
    pub height: u32,
    /// Linear radiance in the primaries of sRGB.
    pub radiance: Vec<[f32; 3]>,
    /// Mean colour of the first surface.
    pub albedo: Vec<[f32; 3]>,
    /// Mean normal of the first surface; shorter than one where surfaces mix.
    pub normal: Vec<[f32; 3]>,
    /// Mean distance of the first surface [m]; 0 counts for sky.
    pub depth: Vec<f32>,
    /// Share of the pixel that shows anything but sky [-].
    pub coverage: Vec<f32>,
    /// Variance of the pixel's mean brightness.
    pub variance: Vec<f32>,
    /// Variances of the mean normal, colour, distance and coverage, where edges and motion mix surfaces.
    pub guide_noise: Vec<[f32; 4]>,
    /// Samples taken in all.
    pub samples: u64,
}

impl Picture {
    /// A picture without light.
    pub fn black(width: u32, height: u32) -> Self {
        let n = width as usize * height as usize;
        Self {
            width,
            height,
            radiance: vec![[0.0; 3]; n],
            albedo: vec![[0.0; 3]; n],
            normal: vec![[0.0; 3]; n],
            depth: vec![0.0; n],
            coverage: vec![0.0; n],
            variance: vec![0.0; n],
            guide_noise: vec![[0.0; 4]; n],
            samples: 0,
        }
    }
}

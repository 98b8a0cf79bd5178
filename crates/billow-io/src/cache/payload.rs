//! A frame as bytes and back.
//!
//! Arrays are either packed in place or named by their content hash; where named arrays live is the business of
//! [`Place`] and [`Fetch`]. Decoding trusts nothing: every length is checked against the bytes that are left.

use super::array::{self, Element};
use super::envelope::{self, Content};
use crate::error::{Error, Result};
use crate::frame::{Attribute, Domain, Frame, Grid, Object, Shape, Values};
use billow_num::{Pose, Quat, Vec3};
use std::path::Path;
use std::sync::Arc;

/// Decides where an array is stored.
pub(crate) trait Place {
    /// Appends the array itself or a reference to `out`. `slot` says which array of which object it is.
    fn array<T: Element>(&mut self, out: &mut Vec<u8>, slot: &str, items: &Arc<Vec<T>>) -> Result<()>;
}

/// Finds arrays that were stored by reference.
pub(crate) trait Fetch {
    /// The array with this content.
    fn array<T: Element>(&mut self, hash: u128) -> Result<Arc<Vec<T>>>;
}

/// Marks an array packed in place.
pub(crate) const INLINE: u8 = 0;
/// Marks a reference to a shared array.
pub(crate) const SHARED: u8 = 1;

/// The frame as one self-contained block of bytes, checksum included.
///
/// # Errors
/// If the frame is inconsistent (see [`Frame::validate`]).
pub fn frame_to_bytes(frame: &Frame) -> Result<Vec<u8>> {
    struct InPlace;
    impl Place for InPlace {
        fn array<T: Element>(&mut self, out: &mut Vec<u8>, _slot: &str, items: &Arc<Vec<T>>) -> Result<()> {
            put_inline::<T>(out, &array::to_raw(items));
            Ok(())
        }
    }
    encode(Path::new("frame"), frame, &mut InPlace)
}

/// Reads what [`frame_to_bytes`] wrote; errors name the data as `source`.
///
/// # Errors
/// If the bytes are damaged or refer to arrays of a run's directory.
pub fn frame_from_bytes(source: &Path, bytes: &[u8]) -> Result<Frame> {
    struct Nothing<'a>(&'a Path);
    impl Fetch for Nothing<'_> {
        fn array<T: Element>(&mut self, hash: u128) -> Result<Arc<Vec<T>>> {
            Err(Error::corrupt(self.0, format!("it refers to the array {hash:032x} of a run's directory")))
        }
    }
    decode(source, bytes, &mut Nothing(source))
}

/// Appends an array in place.
pub(crate) fn put_inline<T: Element>(out: &mut Vec<u8>, raw: &[u8]) {
    out.push(INLINE);
    array::put::<T>(out, raw);
}

/// Appends a reference.
pub(crate) fn put_reference(out: &mut Vec<u8>, hash: u128) {
    out.push(SHARED);
    out.extend(hash.to_le_bytes());
}

/// The complete bytes of a frame file.
pub(crate) fn encode(path: &Path, frame: &Frame, place: &mut impl Place) -> Result<Vec<u8>> {
    frame.validate().map_err(|what| Error::invalid(path, what))?;
    let mut out = envelope::begin(Content::Frame);
    out.extend(frame.index.to_le_bytes());
    out.extend(frame.time.to_le_bytes());
    put_len(&mut out, frame.stats.len());
    for (name, value) in &frame.stats {
        put_str(&mut out, name);
        out.extend(value.to_le_bytes());
    }
    put_len(&mut out, frame.objects.len());
    for object in &frame.objects {
        put_object(&mut out, object, place)?;
    }
    Ok(envelope::seal(out))
}

/// Reads the bytes of a frame file.
pub(crate) fn decode(path: &Path, bytes: &[u8], fetch: &mut impl Fetch) -> Result<Frame> {
    let payload = envelope::open(path, Content::Frame, bytes)?;
    let mut decoder = Decoder { path, from: Cursor { left: payload }, fetch };
    let frame = decoder.frame()?;
    let left = decoder.from.left.len();
    if left > 0 {
        return Err(Error::corrupt(path, format!("{left} bytes follow the last object")));
    }
    frame.validate().map_err(|what| Error::corrupt(path, what))?;
    Ok(frame)
}

fn put_len(out: &mut Vec<u8>, n: usize) {
    out.extend((n as u32).to_le_bytes());
}

fn put_str(out: &mut Vec<u8>, text: &str) {
    put_len(out, text.len());
    out.extend(text.as_bytes());
}

fn put_object(out: &mut Vec<u8>, object: &Object, place: &mut impl Place) -> Result<()> {
    put_str(out, &object.name);
    let (p, q) = (object.pose.position, object.pose.rotation);
    [p.x, p.y, p.z, q.x, q.y, q.z, q.w].iter().for_each(|x| out.extend(x.to_le_bytes()));
    let slot = |part: &str| format!("{}\0{part}", object.name);
    match &object.shape {
        Shape::Triangles { positions, triangles } => {
            out.push(0);
            place.array(out, &slot("positions"), positions)?;
            place.array(out, &slot("elements"), triangles)?;
        }
        Shape::Tets { positions, tets } => {
            out.push(1);
            place.array(out, &slot("positions"), positions)?;
            place.array(out, &slot("elements"), tets)?;
        }
        Shape::Points { positions } => {
            out.push(2);
            place.array(out, &slot("positions"), positions)?;
        }
        Shape::Lines { positions, segments } => {
            out.push(3);
            place.array(out, &slot("positions"), positions)?;
            place.array(out, &slot("elements"), segments)?;
        }
        Shape::Grid(grid) => {
            out.push(4);
            let o = grid.origin;
            [o.x, o.y, o.z, grid.spacing].iter().for_each(|x| out.extend(x.to_le_bytes()));
            grid.dims.iter().for_each(|n| out.extend(n.to_le_bytes()));
            place.array(out, &slot("values"), &grid.values)?;
        }
    }
    put_len(out, object.attributes.len());
    for attribute in &object.attributes {
        put_attribute(out, &slot(&format!("attribute {}", attribute.name)), attribute, place)?;
    }
    Ok(())
}

fn put_attribute(out: &mut Vec<u8>, slot: &str, attribute: &Attribute, place: &mut impl Place) -> Result<()> {
    put_str(out, &attribute.name);
    out.push(match attribute.domain {
        Domain::Vertex => 0,
        Domain::Element => 1,
        Domain::Object => 2,
    });
    match &attribute.values {
        Values::Scalar(values) => {
            out.push(0);
            place.array(out, slot, values)
        }
        Values::Vector(values) => {
            out.push(1);
            place.array(out, slot, values)
        }
        Values::Integer(values) => {
            out.push(2);
            place.array(out, slot, values)
        }
    }
}

/// Reads numbers off the front of a byte slice.
pub(crate) struct Cursor<'a> {
    pub(crate) left: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) fn bytes(&mut self, n: u64) -> std::result::Result<&'a [u8], String> {
        match usize::try_from(n).ok().and_then(|n| self.left.split_at_checked(n)) {
            Some((head, tail)) => {
                self.left = tail;
                Ok(head)
            }
            None => Err(format!("{n} bytes are announced where {} are left", self.left.len())),
        }
    }

    fn fixed<const N: usize>(&mut self) -> std::result::Result<[u8; N], String> {
        let bytes = self.bytes(N as u64)?;
        Ok(std::array::from_fn(|k| bytes[k]))
    }

    pub(crate) fn u8(&mut self) -> std::result::Result<u8, String> {
        Ok(self.fixed::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> std::result::Result<u32, String> {
        Ok(u32::from_le_bytes(self.fixed()?))
    }

    pub(crate) fn u64(&mut self) -> std::result::Result<u64, String> {
        Ok(u64::from_le_bytes(self.fixed()?))
    }

    pub(crate) fn u128(&mut self) -> std::result::Result<u128, String> {
        Ok(u128::from_le_bytes(self.fixed()?))
    }

    pub(crate) fn f64(&mut self) -> std::result::Result<f64, String> {
        Ok(f64::from_le_bytes(self.fixed()?))
    }

    fn text(&mut self) -> std::result::Result<String, String> {
        let n = self.u32()?;
        let bytes = self.bytes(u64::from(n))?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|e| format!("a name is not UTF-8: {e}"))
    }
}

struct Decoder<'a, F> {
    path: &'a Path,
    from: Cursor<'a>,
    fetch: &'a mut F,
}

impl<'a, F: Fetch> Decoder<'a, F> {
    /// Reads with the cursor and gives the error the file's name.
    fn read<T>(&mut self, f: impl FnOnce(&mut Cursor<'a>) -> std::result::Result<T, String>) -> Result<T> {
        f(&mut self.from).map_err(|what| Error::corrupt(self.path, what))
    }

    fn frame(&mut self) -> Result<Frame> {
        let mut frame =
            Frame { index: self.read(Cursor::u32)?, time: self.read(Cursor::f64)?, ..Frame::default() };
        for _ in 0..self.read(Cursor::u32)? {
            let (name, value) = (self.read(Cursor::text)?, self.read(Cursor::f64)?);
            frame.stats.insert(name, value);
        }
        for _ in 0..self.read(Cursor::u32)? {
            frame.objects.push(self.object()?);
        }
        Ok(frame)
    }

    fn object(&mut self) -> Result<Object> {
        let name = self.read(Cursor::text)?;
        let position = self.vec3()?;
        let (x, y, z, w) = (
            self.read(Cursor::f64)?,
            self.read(Cursor::f64)?,
            self.read(Cursor::f64)?,
            self.read(Cursor::f64)?,
        );
        let pose = Pose { position, rotation: Quat::from_xyzw(x, y, z, w) };
        let shape = self.shape()?;
        let mut attributes = Vec::new();
        for _ in 0..self.read(Cursor::u32)? {
            attributes.push(self.attribute()?);
        }
        Ok(Object { name, pose, shape, attributes })
    }

    fn vec3(&mut self) -> Result<Vec3> {
        Ok(Vec3::new(self.read(Cursor::f64)?, self.read(Cursor::f64)?, self.read(Cursor::f64)?))
    }

    fn shape(&mut self) -> Result<Shape> {
        Ok(match self.read(Cursor::u8)? {
            0 => Shape::Triangles { positions: self.array()?, triangles: self.array()? },
            1 => Shape::Tets { positions: self.array()?, tets: self.array()? },
            2 => Shape::Points { positions: self.array()? },
            3 => Shape::Lines { positions: self.array()?, segments: self.array()? },
            4 => Shape::Grid(Grid {
                origin: self.vec3()?,
                spacing: self.read(Cursor::f64)?,
                dims: [self.read(Cursor::u32)?, self.read(Cursor::u32)?, self.read(Cursor::u32)?],
                values: self.array()?,
            }),
            other => return Err(Error::corrupt(self.path, format!("unknown shape {other}"))),
        })
    }

    fn attribute(&mut self) -> Result<Attribute> {
        let name = self.read(Cursor::text)?;
        let domain = match self.read(Cursor::u8)? {
            0 => Domain::Vertex,
            1 => Domain::Element,
            2 => Domain::Object,
            other => {
                return Err(Error::corrupt(self.path, format!("unknown domain {other} of attribute {name}")));
            }
        };
        let values = match self.read(Cursor::u8)? {
            0 => Values::Scalar(self.array()?),
            1 => Values::Vector(self.array()?),
            2 => Values::Integer(self.array()?),
            other => {
                return Err(Error::corrupt(self.path, format!("unknown type {other} of attribute {name}")));
            }
        };
        Ok(Attribute { name, domain, values })
    }

    fn array<T: Element>(&mut self) -> Result<Arc<Vec<T>>> {
        match self.read(Cursor::u8)? {
            INLINE => Ok(Arc::new(self.read(array::get::<T>)?)),
            SHARED => {
                let hash = self.read(Cursor::u128)?;
                self.fetch.array::<T>(hash)
            }
            other => Err(Error::corrupt(self.path, format!("unknown kind of array storage {other}"))),
        }
    }
}

//! Objects over time become prims.

use super::UsdOptions;
use super::layer::{Attribute, Backend, Channel, Prim};
use super::value::Value;
use crate::error::Result;
use crate::export::Summary;
use crate::export::names::Names;
use crate::export::surface::{Elements, Surface};
use crate::frame::{Domain, Frame, Object, Shape, Values};
use billow_num::{Pose, Vec3};
use std::collections::HashMap;
use std::sync::Arc;

/// All objects of a run, in order of first appearance.
pub(super) struct Tracks<'a, R> {
    start: f64,
    options: &'a UsdOptions,
    tracks: Vec<Track<R>>,
    /// Track of an object by name and kind of prim.
    numbers: HashMap<(String, &'static str), usize>,
}

/// One object over time.
struct Track<R> {
    object: String,
    /// The object's name, with the prim's type if another prim has that name already.
    unique: String,
    prim: &'static str,
    attributes: Vec<Attribute<R>>,
    visibility: Channel<R>,
    translate: Channel<R>,
    orient: Channel<R>,
    /// Whether the pose was ever anything but the identity.
    placed: bool,
    last_rotation: billow_num::Quat,
    /// The surface of the tetrahedra seen last; finding it takes long.
    boundary: Option<(Arc<Vec<[u32; 4]>>, Surface<'static>)>,
    /// Number of the frame seen last.
    seen: Option<u32>,
}

impl<'a, R: Clone> Tracks<'a, R> {
    pub(super) fn new(start: u32, options: &'a UsdOptions) -> Self {
        Self { start: f64::from(start), options, tracks: Vec::new(), numbers: HashMap::new() }
    }

    /// Stores what a frame changes.
    pub(super) fn frame<B: Backend<Rep = R>>(
        &mut self,
        frame: &Frame,
        backend: &mut B,
        summary: &mut Summary,
    ) -> Result<()> {
        let time = f64::from(frame.index);
        for object in &frame.objects {
            let wanted = self.options.objects.is_empty() || self.options.objects.contains(&object.name);
            let Some(prim) = prim_type(&object.shape).filter(|_| wanted) else {
                if wanted {
                    summary.skip(&object.name, "USD holds grids as OpenVDB files only");
                }
                continue;
            };
            let number = self.number(&object.name, prim);
            let (start, options) = (self.start, self.options);
            let track = &mut self.tracks[number];
            if track.seen.is_none() && time > start {
                track.visibility.push(backend, start, &Value::Token("invisible"))?;
            }
            track.visibility.push(backend, time, &Value::Token("inherited"))?;
            track.seen = Some(frame.index);
            track.pose(object.pose, time, backend)?;
            track.shape(object, time, options, backend)?;
        }
        for track in self.tracks.iter_mut().filter(|track| track.seen != Some(frame.index)) {
            track.visibility.push(backend, time, &Value::Token("invisible"))?;
        }
        Ok(())
    }

    fn number(&mut self, object: &str, prim: &'static str) -> usize {
        *self.numbers.entry((object.to_owned(), prim)).or_insert_with(|| {
            let again = self.tracks.iter().any(|track| track.object == object);
            self.tracks.push(Track {
                unique: if again { format!("{object} {prim}") } else { object.to_owned() },
                object: object.to_owned(),
                prim,
                attributes: Vec::new(),
                visibility: Channel::new(),
                translate: Channel::new(),
                orient: Channel::new(),
                placed: false,
                last_rotation: billow_num::Quat::IDENTITY,
                boundary: None,
                seen: None,
            });
            self.tracks.len() - 1
        })
    }

    /// The prims under the root.
    pub(super) fn finish<B: Backend<Rep = R>>(self, backend: &mut B) -> Result<Vec<Prim<R>>> {
        let mut names = Names::identifiers();
        self.tracks.into_iter().map(|track| track.finish(&mut names, backend)).collect()
    }
}

impl<R: Clone> Track<R> {
    fn pose<B: Backend<Rep = R>>(&mut self, pose: Pose, time: f64, backend: &mut B) -> Result<()> {
        self.placed |= pose != Pose::IDENTITY;
        // A quaternion and its negative are the same rotation; staying close lets readers interpolate.
        let q = if pose.rotation.dot(self.last_rotation) < 0.0 { -pose.rotation } else { pose.rotation };
        self.last_rotation = q;
        self.translate.push(backend, time, &Value::Double3(pose.position.to_array()))?;
        self.orient.push(backend, time, &Value::Quat([q.w, q.x, q.y, q.z]))
    }

    fn shape<B: Backend<Rep = R>>(
        &mut self,
        object: &Object,
        time: f64,
        options: &UsdOptions,
        backend: &mut B,
    ) -> Result<()> {
        if let Shape::Tets { tets, .. } = &object.shape {
            let known = self.boundary.take().filter(|(last, _)| Arc::ptr_eq(last, tets));
            let boundary = known.or_else(|| Some((Arc::clone(tets), Surface::of_tets(tets))));
            if let Some((_, surface)) = &boundary {
                self.surface(object, surface, time, options, backend)?;
            }
            self.boundary = boundary;
            return Ok(());
        }
        match Surface::of(&object.shape) {
            Some(surface) => self.surface(object, &surface, time, options, backend),
            None => Ok(()),
        }
    }

    fn surface<B: Backend<Rep = R>>(
        &mut self,
        object: &Object,
        surface: &Surface<'_>,
        time: f64,
        options: &UsdOptions,
        backend: &mut B,
    ) -> Result<()> {
        let mut at = Moment { track: self, time, backend };
        let per_element = object.attributes.iter().any(|attribute| attribute.domain == Domain::Element);
        let curves = match &surface.elements {
            Elements::Segments(segments) => Some(Curves::new(segments, !per_element)),
            _ => None,
        };
        let all = surface.at_vertices(object.shape.positions());
        let chosen = |all: &[Vec3]| -> Vec<[f32; 3]> {
            match &curves {
                None => all.iter().map(|x| x.as_vec3().to_array()).collect(),
                Some(curves) => {
                    curves.vertices.iter().map(|v| all[*v as usize].as_vec3().to_array()).collect()
                }
            }
        };
        let points = chosen(&all);
        let mut padding = 0.0;
        match &surface.elements {
            Elements::Triangles(triangles) => {
                at.set("faceVertexCounts", "int[]", &Value::Ints(&vec![3; triangles.len()]))?;
                let indices: Vec<i32> = triangles.as_flattened().iter().map(|v| *v as i32).collect();
                at.set("faceVertexIndices", "int[]", &Value::Ints(&indices))?;
            }
            Elements::Segments(_) => {
                if let Some(curves) = &curves {
                    at.set("curveVertexCounts", "int[]", &Value::Ints(&curves.counts))?;
                }
                padding = options.line_width / 2.0;
                at.set_on("widths", "float[]", Some("constant"), &Value::Floats(&[options.line_width]))?;
            }
            Elements::Points => padding = at.widths(object, options)?,
        }
        at.set("points", "point3f[]", &Value::Float3s(&points))?;
        at.set("extent", "float3[]", &Value::Float3s(&extent(&points, padding)))?;
        for attribute in &object.attributes {
            let mut values = surface.values(attribute.domain, &attribute.values);
            if let (Some(curves), Domain::Vertex) = (&curves, attribute.domain) {
                values = curves.gather(&values);
            }
            at.attribute(&attribute.name, attribute.domain, &values)?;
        }
        Ok(())
    }

    fn finish<B: Backend<Rep = R>>(mut self, names: &mut Names, backend: &mut B) -> Result<Prim<R>> {
        let fixed: &[(&str, &'static str, Value<'_>)] = match self.prim {
            "Mesh" => &[
                ("doubleSided", "bool", Value::Bool(true)),
                ("subdivisionScheme", "token", Value::Token("none")),
            ],
            "BasisCurves" => {
                &[("type", "token", Value::Token("linear")), ("wrap", "token", Value::Token("nonperiodic"))]
            }
            _ => &[],
        };
        for (name, type_name, value) in fixed {
            self.attributes.push(uniform(name, type_name, backend.store(value)?));
        }
        self.attributes.push(plain("visibility", "token", self.visibility));
        let name = names.get(&self.unique).to_owned();
        let display_name = (name != self.object).then_some(self.object);
        if !self.placed {
            let (type_name, attributes) = (self.prim, self.attributes);
            return Ok(Prim { name, type_name, display_name, attributes, children: Vec::new() });
        }
        let order = backend.store(&Value::Tokens(&["xformOp:translate", "xformOp:orient"]))?;
        let shape = Prim {
            // Programs that join a lone mesh with its transform keep the mesh's name.
            name: name.clone(),
            type_name: self.prim,
            display_name: None,
            attributes: self.attributes,
            children: Vec::new(),
        };
        let attributes = vec![
            plain("xformOp:translate", "double3", self.translate),
            plain("xformOp:orient", "quatd", self.orient),
            uniform("xformOpOrder", "token[]", order),
        ];
        Ok(Prim { name, type_name: "Xform", display_name, attributes, children: vec![shape] })
    }
}

fn plain<R>(name: &str, type_name: &'static str, channel: Channel<R>) -> Attribute<R> {
    Attribute { name: name.into(), type_name, uniform: false, interpolation: None, channel }
}

fn uniform<R: Clone>(name: &str, type_name: &'static str, rep: R) -> Attribute<R> {
    Attribute {
        name: name.into(),
        type_name,
        uniform: true,
        interpolation: None,
        channel: Channel::constant(rep),
    }
}

/// A track at one time.
struct Moment<'a, R, B> {
    track: &'a mut Track<R>,
    time: f64,
    backend: &'a mut B,
}

impl<R: Clone, B: Backend<Rep = R>> Moment<'_, R, B> {
    fn set(&mut self, name: &str, type_name: &'static str, value: &Value<'_>) -> Result<()> {
        self.set_on(name, type_name, None, value)
    }

    fn set_on(
        &mut self,
        name: &str,
        type_name: &'static str,
        interpolation: Option<&'static str>,
        value: &Value<'_>,
    ) -> Result<()> {
        let attributes = &mut self.track.attributes;
        let known = attributes.iter().position(|a| a.name == name && a.type_name == type_name);
        let number = known.unwrap_or_else(|| {
            attributes.push(Attribute { interpolation, ..plain(name, type_name, Channel::new()) });
            attributes.len() - 1
        });
        attributes[number].channel.push(self.backend, self.time, value)
    }

    /// Widths of points; returns how far the widest reaches.
    fn widths(&mut self, object: &Object, options: &UsdOptions) -> Result<f32> {
        match object.attribute("radius").map(|attribute| (&attribute.values, attribute.domain)) {
            Some((Values::Scalar(radii), Domain::Vertex)) => {
                let widths: Vec<f32> = radii.iter().map(|r| 2.0 * r).collect();
                self.set_on("widths", "float[]", Some("vertex"), &Value::Floats(&widths))?;
                Ok(radii.iter().copied().fold(0.0, f32::max))
            }
            _ => {
                self.set_on("widths", "float[]", Some("constant"), &Value::Floats(&[options.point_width]))?;
                Ok(options.point_width / 2.0)
            }
        }
    }

    fn attribute(&mut self, name: &str, domain: Domain, values: &Values) -> Result<()> {
        let interpolation = match domain {
            Domain::Vertex => "vertex",
            Domain::Element => "uniform",
            Domain::Object => "constant",
        };
        if let (Values::Vector(velocities), "velocity" | "velocities", Domain::Vertex) =
            (values, name, domain)
        {
            return self.set("velocities", "vector3f[]", &Value::Float3s(velocities));
        }
        // One name may serve several domains; the suffix keeps them apart.
        let taken = |name: &str| {
            let same = self.track.attributes.iter().find(|a| a.name == name);
            same.is_some_and(|a| a.interpolation != Some(interpolation))
        };
        let mut primvar = format!("primvars:{}", Names::identifiers().get(name));
        if taken(&primvar) {
            primvar = format!("{primvar}_{interpolation}");
        }
        match values {
            Values::Scalar(values) => {
                self.set_on(&primvar, "float[]", Some(interpolation), &Value::Floats(values))
            }
            Values::Integer(values) => {
                self.set_on(&primvar, "int[]", Some(interpolation), &Value::Ints(values))
            }
            Values::Vector(values) => {
                self.set_on(&primvar, "vector3f[]", Some(interpolation), &Value::Float3s(values))
            }
        }
    }
}

fn prim_type(shape: &Shape) -> Option<&'static str> {
    match shape {
        Shape::Triangles { .. } | Shape::Tets { .. } => Some("Mesh"),
        Shape::Points { .. } => Some("Points"),
        Shape::Lines { .. } => Some("BasisCurves"),
        Shape::Grid(_) => None,
    }
}

/// The box around points, empty (low above high) if there are none.
fn extent(points: &[[f32; 3]], padding: f32) -> [[f32; 3]; 2] {
    let (mut low, mut high) = ([f32::MAX; 3], [f32::MIN; 3]);
    for point in points {
        for k in 0..3 {
            low[k] = low[k].min(point[k]);
            high[k] = high[k].max(point[k]);
        }
    }
    if points.is_empty() { [low, high] } else { [low.map(|x| x - padding), high.map(|x| x + padding)] }
}

/// Segments as polylines.
struct Curves {
    /// Vertices of all curves, one curve after the other.
    vertices: Vec<u32>,
    /// Number of vertices of each curve.
    counts: Vec<i32>,
}

impl Curves {
    /// With `chained`, a segment that starts where the one before ends continues its curve.
    fn new(segments: &[[u32; 2]], chained: bool) -> Self {
        let mut curves = Self { vertices: Vec::new(), counts: Vec::new() };
        for [a, b] in segments {
            match curves.counts.last_mut() {
                Some(count) if chained && curves.vertices.last() == Some(a) => *count += 1,
                _ => {
                    curves.vertices.push(*a);
                    curves.counts.push(2);
                }
            }
            curves.vertices.push(*b);
        }
        curves
    }

    fn gather(&self, values: &Values) -> Values {
        fn pick<T: Copy>(all: &[T], vertices: &[u32]) -> Arc<Vec<T>> {
            Arc::new(vertices.iter().map(|v| all[*v as usize]).collect())
        }
        match values {
            Values::Scalar(all) => Values::Scalar(pick(all, &self.vertices)),
            Values::Vector(all) => Values::Vector(pick(all, &self.vertices)),
            Values::Integer(all) => Values::Integer(pick(all, &self.vertices)),
        }
    }
}

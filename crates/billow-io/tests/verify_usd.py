"""Reads an exported USD file with usd-core and compares it with the frames it was made from.

usage: verify_usd.py FILE TRUTH.json
Exit status 0 and a last line "verified ..." mean that everything agrees; 77 means that usd-core is missing.
"""
import json
import sys

try:
    from pxr import Gf, Usd, UsdGeom
except ImportError as error:
    print(f"usd-core is not importable: {error}")
    sys.exit(77)


def fail(message):
    print(f"FAILED {sys.argv[1]}: {message}")
    sys.exit(1)


def close(a, b):
    return all(abs(x - y) <= 3e-7 * max(1.0, abs(y)) for x, y in zip(a, b))


def find(stage, name):
    """The prim of an object: named after it, or carrying its name for display."""
    for prim in stage.GetDefaultPrim().GetChildren():
        if (prim.GetMetadata("displayName") or prim.GetName()) == name:
            return prim
    fail(f"no prim for object {name!r}")


def shape_of(prim):
    return prim.GetChildren()[0] if prim.GetTypeName() == "Xform" else prim


def main():
    path, truth = sys.argv[1], json.load(open(sys.argv[2], encoding="utf-8"))
    stage = Usd.Stage.Open(path)
    expected = (truth["fps"], truth["fps"], truth["frames"][0]["index"], truth["frames"][-1]["index"])
    found = (stage.GetTimeCodesPerSecond(), stage.GetFramesPerSecond(), stage.GetStartTimeCode(), stage.GetEndTimeCode())
    if found != expected:
        fail(f"time codes {found}, expected {expected}")
    if UsdGeom.GetStageUpAxis(stage) != truth["up_axis"] or UsdGeom.GetStageMetersPerUnit(stage) != 1.0:
        fail("wrong up axis or unit")
    if stage.GetDefaultPrim().GetName() != "World":
        fail("no default prim")
    names = {name for frame in truth["frames"] for name in frame["objects"]}
    if len(stage.GetDefaultPrim().GetChildren()) != len(names):
        fail(f"{len(stage.GetDefaultPrim().GetChildren())} prims for {len(names)} objects")

    compared = worst = 0
    for frame in truth["frames"]:
        time = Usd.TimeCode(frame["index"])
        cache = UsdGeom.XformCache(time)
        for name in names:
            prim = find(stage, name)
            shape = shape_of(prim)
            visible = UsdGeom.Imageable(shape).ComputeVisibility(time) != "invisible"
            if visible != (name in frame["objects"]):
                fail(f"object {name!r} visible: {visible} in frame {frame['index']}")
            if not visible:
                continue
            expected = frame["objects"][name]
            matrix = cache.GetLocalToWorldTransform(shape)
            points = shape.GetAttribute("points").Get(time)
            world = [tuple(matrix.Transform(Gf.Vec3d(p))) for p in points]
            positions = [tuple(p) for p in expected["positions"]]
            if expected["kind"] == "tets":
                world, positions = sorted(world), sorted(positions)
            if len(world) != len(positions):
                fail(f"object {name!r} has {len(world)} points in frame {frame['index']}, expected {len(positions)}")
            for p, q in zip(world, positions):
                worst = max(worst, *(abs(a - b) for a, b in zip(p, q)))
                if not close(p, q):
                    fail(f"object {name!r} in frame {frame['index']}: point {p}, expected {q}")
            compared += len(world)
            check_shape(shape, time, expected, points)
    print_validation(stage)
    print(f"verified {path}: {len(truth['frames'])} frames, {len(names)} objects, {compared} points, "
          f"largest difference {worst:.3g}")


def check_shape(shape, time, expected, points):
    kind = {"triangles": "Mesh", "tets": "Mesh", "points": "Points", "lines": "BasisCurves"}[expected["kind"]]
    if shape.GetTypeName() != kind:
        fail(f"{shape.GetPath()} is a {shape.GetTypeName()}, expected a {kind}")
    if kind == "Mesh":
        counts = shape.GetAttribute("faceVertexCounts").Get(time)
        indices = shape.GetAttribute("faceVertexIndices").Get(time)
        valid, why = UsdGeom.Mesh.ValidateTopology(indices, counts, len(points))
        if not valid:
            fail(f"{shape.GetPath()}: {why}")
        if expected["kind"] == "triangles" and list(indices) != expected["indices"]:
            fail(f"{shape.GetPath()}: wrong faces")
        if shape.GetAttribute("subdivisionScheme").Get() != "none":
            fail(f"{shape.GetPath()} would be subdivided")
    if kind == "BasisCurves" and sum(shape.GetAttribute("curveVertexCounts").Get(time)) != len(points):
        fail(f"{shape.GetPath()}: wrong curve lengths")
    if points:
        low, high = shape.GetAttribute("extent").Get(time)
        if any(not (low[k] <= p[k] <= high[k]) for p in points for k in range(3)):
            fail(f"{shape.GetPath()}: points outside the extent")
    if "velocities" in expected:
        found = shape.GetAttribute("velocities").Get(time)
        if [tuple(v) for v in found] != [tuple(v) for v in expected["velocities"]]:
            fail(f"{shape.GetPath()}: wrong velocities")
    for name, (interpolation, values) in expected.get("primvars", {}).items():
        primvar = UsdGeom.PrimvarsAPI(shape).GetPrimvar(name)
        if primvar.GetInterpolation() != interpolation or list(primvar.Get(time)) != values:
            fail(f"{shape.GetPath()}: wrong primvar {name}")


def print_validation(stage):
    try:
        from pxr import UsdValidation
    except ImportError:
        print("UsdValidation is not available")
        return
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    errors = UsdValidation.ValidationContext(validators).Validate(stage)
    if errors:
        fail("; ".join(f"{error.GetName()}: {error.GetMessage()}" for error in errors[:5]))
    print(f"{len(validators)} validators have no complaint")


main()

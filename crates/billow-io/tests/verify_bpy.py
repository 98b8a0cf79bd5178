"""Imports an exported USD file into Blender and compares it with the frames it was made from.

usage: verify_bpy.py FILE TRUTH.json
Blender calls an import finished even if it read nothing, so objects are counted and every mesh vertex is compared
at every frame. Exit status 0 and a last line "verified ..." mean that everything agrees; 77 that bpy is missing.
"""
import json
import sys

try:
    import bpy
except ImportError as error:
    print(f"bpy is not importable: {error}")
    sys.exit(77)


def fail(message):
    print(f"FAILED {sys.argv[1]}: {message}")
    sys.exit(1)


def vertices(blender_object):
    evaluated = blender_object.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = evaluated.matrix_world
    return [tuple(matrix @ vertex.co) for vertex in evaluated.to_mesh().vertices]


def main():
    path, truth = sys.argv[1], json.load(open(sys.argv[2], encoding="utf-8"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=path)
    scene = bpy.context.scene
    last = truth["frames"][-1]["index"]
    if abs(scene.render.fps / scene.render.fps_base - truth["fps"]) > 1e-6 or scene.frame_end != last:
        fail(f"{scene.render.fps} frames per second up to frame {scene.frame_end}")
    kinds = {}
    for blender_object in bpy.data.objects:
        kinds.setdefault(blender_object.type, []).append(blender_object)
    meshes = {name: o for frame in truth["frames"] for name, o in frame["objects"].items()
              if o["kind"] in ("triangles", "tets")}
    if len(kinds.get("MESH", [])) != len(meshes):
        fail(f"{len(kinds.get('MESH', []))} mesh objects for {len(meshes)}; all: "
             + str({kind: [o.name for o in objects] for kind, objects in kinds.items()}))
    compared = worst = 0
    for frame in truth["frames"]:
        scene.frame_set(frame["index"])
        for name, expected in frame["objects"].items():
            if expected["kind"] not in ("triangles", "tets"):
                continue
            candidates = [o for o in kinds["MESH"] if o.name == expected["prim"]]
            if len(candidates) != 1:
                fail(f"{len(candidates)} Blender objects for {name!r}: {[o.name for o in kinds['MESH']]}")
            found = vertices(candidates[0])
            positions = [tuple(p) for p in expected["positions"]]
            if expected["kind"] == "tets":
                found, positions = sorted(found), sorted(positions)
            if len(found) != len(positions):
                fail(f"{name!r} has {len(found)} vertices in frame {frame['index']}, expected {len(positions)}")
            for p, q in zip(found, positions):
                difference = max(abs(a - b) for a, b in zip(p, q))
                worst = max(worst, difference)
                if difference > 2e-6 * max(1.0, *map(abs, q)):
                    fail(f"{name!r} in frame {frame['index']}: {p}, expected {q}")
            compared += len(found)
    others = {kind: len(objects) for kind, objects in sorted(kinds.items())}
    print(f"verified {path} with Blender {bpy.app.version_string}: {len(truth['frames'])} frames, objects {others}, "
          f"{compared} vertices, largest difference {worst:.3g}")


main()

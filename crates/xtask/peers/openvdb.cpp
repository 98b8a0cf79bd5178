// OpenVDB's side of `cargo xtask bench levelset MESH N PEER`: mesh to distance, renormalisation, extraction.
// Build with OpenVDB's development files (libopenvdb-dev, libtbb-dev, libimath-dev on Debian):
//   g++ -O3 -DNDEBUG -std=c++17 openvdb.cpp -lopenvdb -ltbb -lImath -o openvdb-peer
// Usage: openvdb-peer mesh.obj N. Prints one JSON object per stage, with the keys of our own.
#include <openvdb/openvdb.h>
#include <openvdb/tools/LevelSetTracker.h>
#include <openvdb/tools/MeshToVolume.h>
#include <openvdb/tools/VolumeToMesh.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

using namespace openvdb;

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Vertices and triangles of an OBJ file; corners may carry texture and normal indices.
bool read_obj(const char* path, std::vector<Vec3s>& points, std::vector<Vec3I>& triangles) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        if (line.rfind("v ", 0) == 0) {
            Vec3s p;
            if (std::sscanf(line.c_str() + 2, "%f %f %f", &p[0], &p[1], &p[2]) == 3) points.push_back(p);
        } else if (line.rfind("f ", 0) == 0) {
            Vec3I t;
            const char* at = line.c_str() + 2;
            for (int i = 0; i < 3; i++) {
                char* end = nullptr;
                t[i] = static_cast<Index32>(std::strtol(at, &end, 10) - 1);
                for (at = end; *at && *at != ' '; at++) {}
            }
            triangles.push_back(t);
        }
    }
    return !points.empty() && !triangles.empty();
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<Vec3s> points;
    std::vector<Vec3I> triangles;
    if (argc < 3 || !read_obj(argv[1], points, triangles)) return 2;
    initialize();
    BBoxd box;
    for (const Vec3s& p : points) box.expand(Vec3d(p));
    const Vec3d size = box.extents();
    const double spacing = std::max({size[0], size[1], size[2]}) / std::atof(argv[2]);

    auto start = std::chrono::steady_clock::now();
    auto transform = math::Transform::createLinearTransform(spacing);
    auto grid = tools::meshToLevelSet<FloatGrid>(*transform, points, triangles, 3.0f);
    const double wall = seconds_since(start);
    const double active = static_cast<double>(grid->activeVoxelCount());
    double surface = 0;
    for (auto v = grid->cbeginValueOn(); v; ++v) surface += std::fabs(*v) < 0.5 * spacing;
    std::printf("{\"stage\":\"mesh to distance\",\"seconds\":%.4f,\"active\":%.0f,\"bytes_per_surface_voxel\":%.2f}\n",
                wall, active, grid->memUsage() / surface);

    // Three steps of fifth-order WENO with forward Euler: the tracker's defaults.
    auto copy = grid->deepCopy();
    tools::LevelSetTracker<FloatGrid> tracker(*copy);
    start = std::chrono::steady_clock::now();
    tracker.normalize();
    std::printf("{\"stage\":\"renormalise, 3 steps\",\"ms_per_million_active\":%.2f}\n",
                seconds_since(start) * 1e9 / active);

    std::vector<Vec3s> vertices;
    std::vector<Vec4I> quads;
    start = std::chrono::steady_clock::now();
    tools::volumeToMesh(*grid, vertices, quads, 0.0);
    std::printf("{\"stage\":\"surface nets\",\"quads\":%zu,\"million_quads_per_second\":%.3f}\n", quads.size(),
                static_cast<double>(quads.size()) / seconds_since(start) / 1e6);
}

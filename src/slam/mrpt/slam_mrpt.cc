// slam_mrpt.cc - the module slam-mrpt: makes a map with MRPT's scan matching, occupancy grid and pose graph optimisation.
//
// Keyframes. After every KEY_M or KEY_RAD of motion a scan is kept with its pose, as a vertex of the pose graph. The map is
// drawn from the keyframes alone, so it can be drawn again whenever their poses have changed.
//
//     scan --> odometry predicts --> ICP against keyframes near --> pose --> far from the last keyframe? --> a new one
//                                                                               |            edge to the last one
//                                       old keyframes near, and ICP agrees <----+
//                                       edge to an old one, all poses optimised, grid made anew
//
// Scans. The hits of a lidar with 120 beams are 0.3 m apart at a range of six metres. Where neighbouring hits lie on one
// surface, points are filled in along the chord between them. ICP then matches surfaces, not points, and the grid has no gaps.
//
// Cells. A hit is drawn half a cell behind the surface. So a cell is occupied when its middle is in the wall, as for a world's
// boxes. A beam without a return marks only its first part as free (FREE_SHARE).
#include "pons/clock.h"
#include "pons/ext/slam.h"
#include "pons/module.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include <mrpt/graphs/CNetworkOfPoses.h>
#include <mrpt/graphslam/levmarq.h>
#include <mrpt/maps/COccupancyGridMap2D.h>
#include <mrpt/maps/CSimplePointsMap.h>
#include <mrpt/math/geometry.h>
#include <mrpt/obs/CObservation2DRangeScan.h>
#include <mrpt/poses/CPosePDF.h>
#include <mrpt/slam/CICP.h>

using mrpt::maps::COccupancyGridMap2D;
using mrpt::maps::CSimplePointsMap;
using mrpt::obs::CObservation2DRangeScan;
using mrpt::poses::CPose2D;
using mrpt::poses::CPose3D;

namespace {

const char MODULE[] = "slam-mrpt";
const double MATCH_M = 0.08, MATCH_RAD = 0.06;     // motion before the next scan is matched
const double KEY_M = 0.30, KEY_RAD = 0.35;         // and before the next keyframe
const double NEAR_M = 4.0;                         // keyframes this near are matched against
const int NEAR = 30, RECENT = 8;                   // at most NEAR of them; the RECENT newest keyframes count as recent
const double GAIN = 0.5;                           // share of a match's translation that is applied: odometry is as exact over MATCH_M
const int OLD = 15;                                // a keyframe at least this many keyframes ago may close a loop
const double LOOP_NEAR_M = 5.0, LOOP_FIT = 0.65;   // distance to look for an old keyframe; share of points that must agree
const int BESIDE = 4;                              // keyframes on each side of the old one that are matched together with it
const double LOOP_M = 0.15, LOOP_PER_M = 0.03;     // largest correction by a loop, and its growth with way_m
const double CLOSED_M = 0.02, CLOSED_RAD = 0.006;  // a smaller correction does not move the poses
const double FIT = 0.35;                           // if a smaller share of a scan matches, odometry is used
const double FACE_M = 0.5, FACE_SHARE = 0.12;      // neighbours on one surface: largest distance, and difference of ranges
const double FILL_M = 0.04;                        // between points that are filled in
const double FREE_SHARE = 0.5;                     // share of range_max that a beam without a return marks as free
const double REDRAWN = 0.01;                       // if a keyframe moves or turns by more [m, rad], the grid is drawn again
const double REACH_CELLS = 5000.0;                 // farthest beam end from 0, 0, in cells
const double TRUST_WAY_M = 6.0;                    // up to this way after a loop, old keyframes are matched as well

typedef struct keyframe {
    CPose2D pose, drawn; // of the base in map, now and in the grid
    pons_scan scan;
    std::shared_ptr<CSimplePointsMap> points; // in base
} keyframe;

typedef struct edge {
    size_t from, to;
    CPose2D way;
} edge;

typedef struct mapper {
    double resolution_m = 0.05;
    double clear_radius_m = 0.0; // cells this close to the driven path are free
    std::vector<keyframe> keys;
    std::vector<edge> edges;
    std::unique_ptr<COccupancyGridMap2D> grid;
    CPose2D pose, matched, odom; // where the robot is; at the last match; odometry of both
    bool placed = false;
    double way_m = 0.0; // since the last loop
    std::vector<size_t> near; // keyframes in `around`,
    CSimplePointsMap around;  // which is their points in map
} mapper;

CPose2D of_pons(pons_pose2 p)
{
    return CPose2D(p.x, p.y, p.yaw);
}

pons_pose2 to_pons(const CPose2D &p)
{
    return pons_pose2{p.x(), p.y(), p.phi()};
}

double apart(const CPose2D &a, const CPose2D &b)
{
    return std::hypot(a.x() - b.x(), a.y() - b.y());
}

double turned(const CPose2D &a, const CPose2D &b)
{
    return std::fabs(pons_wrap_angle(a.phi() - b.phi()));
}

bool hits(const pons_scan &s, int i)
{
    return s.ranges[i] > s.range_min && s.ranges[i] < s.range_max;
}

// Whether the beam has no return. A NAN is not such a beam: it carries no information.
bool is_silent(const pons_scan &s, int i)
{
    return s.ranges[i] >= s.range_max;
}

// Why the scan cannot be added at this pose; NULL: it can. The pose is limited because the grid covers all that was seen.
const char *refusal(const mapper &m, const pons_scan &s, const CPose2D &pose)
{
    const bool turns = s.angle_increment > 0.0f && s.n * (double)s.angle_increment < 2.0 * M_PI + 0.1;
    if (s.n < 1 || s.n > PONS_SCAN_MAX || !turns || !std::isfinite(s.angle_min) || !(s.range_min >= 0.0f) ||
        !(s.range_max > s.range_min) || !std::isfinite(s.from.x + s.from.y + s.from.yaw)) {
        return "the scan's angles, ranges or number of beams are impossible";
    }
    const double reach = std::hypot(pose.x(), pose.y()) + std::hypot(s.from.x, s.from.y) + (double)s.range_max;
    const bool near = reach < REACH_CELLS * m.resolution_m && std::isfinite(pose.phi());
    return near ? nullptr : "the robot is too far from the start of the map, or its lidar sees too far";
}

// ---- a scan -------------------------------------------------------------------------------------

// How many parts the gap between a beam and the next has, with points of one face in between; 0: they lie on no one face.
int parts_between(const pons_scan &s, int i, int next)
{
    if (!hits(s, i) || !hits(s, next)) {
        return 0;
    }
    const double a = s.ranges[i], b = s.ranges[next];
    const double gap = std::sqrt(std::max(a * a + b * b - 2.0 * a * b * std::cos(s.angle_increment), 0.0));
    const bool face = gap < FACE_M && std::fabs(a - b) < FACE_SHARE * std::min(a, b) + FILL_M;
    return face ? std::max(1, (int)std::ceil(gap / FILL_M)) : 0;
}

// The index of the beam next to i, in direction step (1 or -1); -1: there is none.
int beam_beside(const pons_scan &s, int i, int step)
{
    const bool round = s.n * (double)s.angle_increment > 2.0 * M_PI - 0.5 * (double)s.angle_increment;
    const int k = i + step, other_end = round ? (k + s.n) % s.n : -1;
    return k >= 0 && k < s.n ? k : other_end;
}

// Whether beam i shows that nothing is within this range in its direction.
bool is_farther(const pons_scan &s, int i, float range)
{
    return i < 0 || is_silent(s, i) || (hits(s, i) && s.ranges[i] > range);
}

struct hit_point {
    double x, y; // from the lidar
};

// Points for matching, in the lidar's frame: hits on a surface, the points filled in between them, and posts. Sparse hits on a
// wall at a grazing angle are left out: they move with the robot, and would make it look stationary.
std::vector<hit_point> filled_hits(const pons_scan &s)
{
    std::vector<hit_point> all;
    for (int i = 0; i < s.n; i++) {
        if (!hits(s, i)) {
            continue;
        }
        const double a = (double)s.angle_min + i * (double)s.angle_increment;
        const hit_point p = {s.ranges[i] * std::cos(a), s.ranges[i] * std::sin(a)};
        const int next = beam_beside(s, i, 1), before = beam_beside(s, i, -1);
        const int parts = next < 0 ? 0 : parts_between(s, i, next);
        if (parts > 0 || (before >= 0 && parts_between(s, before, i) > 0) ||
            (is_farther(s, before, s.ranges[i]) && is_farther(s, next, s.ranges[i]))) {
            all.push_back(p);
        }
        for (int k = 1; k < parts; k++) {
            const double b = a + (double)s.angle_increment, t = (double)k / parts;
            all.push_back({p.x + t * (s.ranges[next] * std::cos(b) - p.x),
                           p.y + t * (s.ranges[next] * std::sin(b) - p.y)});
        }
    }
    return all;
}

std::shared_ptr<CSimplePointsMap> points_of(const pons_scan &s)
{
    auto points = std::make_shared<CSimplePointsMap>();
    const double c = std::cos(s.from.yaw), n = std::sin(s.from.yaw);
    for (const hit_point &p : filled_hits(s)) {
        points->insertPointFast((float)(s.from.x + c * p.x - n * p.y), (float)(s.from.y + n * p.x + c * p.y), 0.0f);
    }
    points->mark_as_modified();
    return points;
}

// ---- the grid -----------------------------------------------------------------------------------

// One observation has beams at equal angles, so what is filled in goes in as beams of a finer scan.
const int FINER = 8;

// The range of a fine beam: k of FINER between a beam and the next.
float fine_range(const pons_scan &s, int i, int k, double behind_m, bool *ret_valid)
{
    const int next = beam_beside(s, i, 1);
    *ret_valid = true;
    if (k == 0 && hits(s, i)) {
        return s.ranges[i] + (float)behind_m;
    }
    if (next >= 0 && parts_between(s, i, next) > 0) {
        // Along the chord: 1/r is linear in the direction's components.
        const double da = s.angle_increment, a = da * k / FINER, r0 = s.ranges[i], r1 = s.ranges[next];
        return (float)(r0 * r1 * std::sin(da) / (r1 * std::sin(da - a) + r0 * std::sin(a)) + behind_m);
    }
    const bool silent = is_silent(s, i) && (k == 0 || (next >= 0 && is_silent(s, next)));
    *ret_valid = false;
    return silent ? -1.0f : 0.0f; // -1: nothing came back
}

void draw(mapper *m, const keyframe &k)
{
    COccupancyGridMap2D *grid = m->grid.get();
    const pons_scan &s = k.scan;
    const int n = s.n * FINER;
    CObservation2DRangeScan fine, silent;
    for (CObservation2DRangeScan *o : {&fine, &silent}) {
        o->aperture = (float)((double)s.angle_increment * (n - 1) / FINER);
        o->rightToLeft = true;
        o->maxRange = s.range_max + 1.0f;
        const double middle = (double)s.angle_min + 0.5 * (double)o->aperture;
        o->sensorPose = CPose3D(s.from.x, s.from.y, 0.0, s.from.yaw + middle, 0.0, 0.0);
        o->resizeScan((size_t)n);
    }
    bool any_silent = false;
    for (int i = 0; i < n; i++) {
        bool valid;
        const float r = fine_range(s, i / FINER, i % FINER, 0.5 * m->resolution_m, &valid);
        fine.setScanRange((size_t)i, valid ? r : 0.0f);
        fine.setScanRangeValidity((size_t)i, valid);
        const bool quiet = !valid && r < 0.0f;
        silent.setScanRange((size_t)i, s.range_max);
        silent.setScanRangeValidity((size_t)i, quiet);
        any_silent = any_silent || quiet;
    }
    const CPose3D at(k.pose);
    grid->insertionOptions.considerInvalidRangesAsFreeSpace = false;
    grid->insertionOptions.maxOccupancyUpdateCertainty = 0.7f;
    grid->insertionOptions.maxDistanceInsertion = s.range_max;
    grid->insertObservation(fine, at);
    if (any_silent) { // what is beyond the distance is free up to there, and nothing ends there
        grid->insertionOptions.maxDistanceInsertion = (float)(FREE_SHARE * (double)s.range_max);
        grid->insertObservation(silent, at);
    }
}

void draw_all(mapper *m)
{
    m->grid = std::make_unique<COccupancyGridMap2D>(-5.0f, 5.0f, -5.0f, 5.0f, (float)m->resolution_m);
    for (keyframe &k : m->keys) {
        draw(m, k);
        k.drawn = k.pose;
    }
}

// ---- matching -----------------------------------------------------------------------------------

CSimplePointsMap joined(const mapper *m, const std::vector<size_t> &which)
{
    CSimplePointsMap all;
    for (size_t i : which) {
        all.insertAnotherMap(m->keys[i].points.get(), CPose3D(m->keys[i].pose));
    }
    return all;
}

// The nearest of the keyframes with indices in [from, to).
std::vector<size_t> nearest(const mapper *m, size_t from, size_t to, double reach_m, size_t most)
{
    std::vector<size_t> all;
    for (size_t i = from; i < to; i++) {
        if (apart(m->keys[i].pose, m->pose) < reach_m) {
            all.push_back(i);
        }
    }
    std::sort(all.begin(), all.end(), [m](size_t a, size_t b) {
        return apart(m->keys[a].pose, m->pose) < apart(m->keys[b].pose, m->pose);
    });
    all.resize(std::min(all.size(), most));
    return all; // the nearest first
}

// Returns the share of the points that have a partner.
double match(const CSimplePointsMap &map, const CSimplePointsMap &points, double from_m, CPose2D *pose)
{
    mrpt::slam::CICP icp;
    icp.options.maxIterations = 60;
    icp.options.thresholdDist = from_m;
    icp.options.thresholdAng = 0.02;
    icp.options.smallestThresholdDist = 0.03;
    icp.options.ALFA = 0.6;
    icp.options.minAbsStep_trans = icp.options.minAbsStep_rot = 1e-4;
    icp.options.corresponding_points_decimation = 1;
    icp.options.onlyUniqueRobust = true; // else new points beyond a wall's known end pull the pose back
    icp.options.skip_cov_calculation = true;
    mrpt::slam::CICP::TReturnInfo info;
    const auto pdf = icp.Align(&map, &points, *pose, info);
    *pose = pdf->getMeanVal();
    return info.goodness;
}

void track(mapper *m, const CSimplePointsMap &points)
{
    const size_t n = m->keys.size(), first = m->way_m < TRUST_WAY_M || n < (size_t)RECENT ? 0 : n - RECENT;
    std::vector<size_t> near = nearest(m, first, n, NEAR_M, NEAR);
    if (m->placed && std::find(near.begin(), near.end(), n - 1) == near.end()) {
        near.push_back(n - 1);
    }
    if (near != m->near) {
        m->around = joined(m, near);
        m->near = near;
    }
    CPose2D found = m->pose;
    if (points.size() > 20 && match(m->around, points, 0.25, &found) >= FIT && apart(found, m->pose) < 0.3 &&
        turned(found, m->pose) < 0.2) {
        const CPose2D by = found - m->pose;
        m->pose = m->pose + CPose2D(GAIN * by.x(), GAIN * by.y(), by.phi());
    }
    m->matched = m->pose;
}

// ---- the graph ----------------------------------------------------------------------------------

void optimise(mapper *m)
{
    mrpt::graphs::CNetworkOfPoses2D graph;
    for (size_t i = 0; i < m->keys.size(); i++) {
        graph.nodes[i] = m->keys[i].pose;
    }
    for (const edge &e : m->edges) {
        graph.insertEdge(e.from, e.to, e.way);
    }
    graph.root = 0;
    mrpt::graphslam::TResultInfoSpaLevMarq info;
    mrpt::containers::yaml params = mrpt::containers::yaml::Map();
    params["max_iterations"] = 30;
    mrpt::graphslam::optimize_graph_spa_levmarq(graph, info, nullptr, params);
    for (size_t i = 0; i < m->keys.size(); i++) {
        m->keys[i].pose = graph.nodes[i];
    }
    m->near.clear();
}

// Matches the newest scan with the keyframes around the nearest old one. If they agree, that is an edge between the two
// keyframes; the poses are optimised if it corrects them by more than CLOSED_M or CLOSED_RAD.
void close_loop(mapper *m)
{
    const size_t n = m->keys.size(), end = n < (size_t)OLD ? 0 : n - OLD;
    const std::vector<size_t> old = nearest(m, 0, end, LOOP_NEAR_M, 1);
    if (old.empty()) {
        return;
    }
    std::vector<size_t> around; // consecutive keyframes agree with each other; those of another visit may not
    for (size_t i = old[0] < (size_t)BESIDE ? 0 : old[0] - BESIDE; i < std::min(old[0] + BESIDE + 1, end); i++) {
        around.push_back(i);
    }
    CPose2D found = m->pose;
    const double fit = match(joined(m, around), *m->keys.back().points, 0.5, &found);
    const double off = apart(found, m->pose);
    if (fit < LOOP_FIT || off > LOOP_M + LOOP_PER_M * m->way_m || turned(found, m->pose) > 0.3) {
        return;
    }
    m->edges.push_back({old[0], n - 1, found - m->keys[old[0]].pose});
    m->way_m = 0.0;
    if (off > CLOSED_M || turned(found, m->pose) > CLOSED_RAD) {
        optimise(m);
        m->pose = m->matched = m->keys.back().pose;
    }
}

// Draws the grid again if keyframes have moved too far since it was drawn.
void redraw(mapper *m)
{
    for (const keyframe &k : m->keys) {
        if (apart(k.pose, k.drawn) > REDRAWN || turned(k.pose, k.drawn) > REDRAWN) {
            draw_all(m);
            return;
        }
    }
}

// After it was placed anew the robot has come there on no way that is known: it is tied to what is near.
void keep(mapper *m, const pons_scan *scan, std::shared_ptr<CSimplePointsMap> points)
{
    const size_t n = m->keys.size();
    const std::vector<size_t> near = nearest(m, 0, m->placed ? 0 : n, INFINITY, 1);
    m->keys.push_back({m->pose, m->pose, *scan, std::move(points)});
    if (n > 0) {
        const size_t from = near.empty() ? n - 1 : near[0];
        m->way_m += apart(m->keys[from].pose, m->pose);
        m->edges.push_back({from, n, m->pose - m->keys[from].pose});
    }
    m->placed = true;
    draw(m, m->keys.back());
    close_loop(m);
    redraw(m);
}

// ---- g2o's text ---------------------------------------------------------------------------------

void write_scan(FILE *f, const keyframe &k)
{
    const pons_scan &s = k.scan;
    const CPose2D lidar = k.pose + of_pons(s.from);
    std::fprintf(f, "ROBOTLASER1 0 %.9g %.9g %.9g %.9g %.9g 0 %d", (double)s.angle_min,
                 (double)s.angle_increment * (s.n - 1), (double)s.angle_increment, (double)s.range_max,
                 (double)s.range_min, s.n);
    for (int i = 0; i < s.n; i++) {
        const double r = is_silent(s, i) ? 2.0 * (double)s.range_max : (double)s.ranges[i];
        std::fprintf(f, " %.4f", std::isfinite(r) ? r : 0.0); // 0 is below range_min, so the beam carries no information
    }
    std::fprintf(f, " 0 %.9g %.9g %.9g %.9g %.9g %.9g 0 0 0 0 0 %.6f pons %.6f\n", lidar.x(), lidar.y(), lidar.phi(),
                 k.pose.x(), k.pose.y(), k.pose.phi(), 1e-9 * (double)s.stamp_ns, 1e-9 * (double)s.stamp_ns);
}

struct reader {
    const char *path;
    int line;
    pons_error *err;
};

int bad(const reader &r, const char *what)
{
    pons_error_set(r.err, PONS_EINVAL, MODULE, "%s", what);
    return pons_error_source(r.err, "%s:%d", r.path, r.line);
}

bool numbers(char **at, double *ret, int n)
{
    for (int i = 0; i < n; i++) {
        char *end = nullptr;
        ret[i] = std::strtod(*at, &end);
        if (end == *at || !std::isfinite(ret[i])) {
            return false;
        }
        *at = end;
    }
    return true;
}

int read_scan(const reader &r, char *at, mapper *m)
{
    double head[8], tail[7];
    if (m->keys.empty() || m->keys.back().points || !numbers(&at, head, 8)) {
        return bad(r, "a ROBOTLASER1 needs its vertex before it, and eight numbers");
    }
    pons_scan &s = m->keys.back().scan;
    s.angle_min = (float)head[1];
    s.angle_increment = (float)head[3];
    s.range_max = (float)head[4];
    s.range_min = (float)head[5];
    s.n = (int)std::clamp(head[7], 0.0, PONS_SCAN_MAX + 1.0);
    const char *why = refusal(*m, s, m->keys.back().pose);
    if (why) {
        return bad(r, why);
    }
    for (int i = 0; i < s.n; i++) {
        double v;
        if (!numbers(&at, &v, 1)) {
            return bad(r, "the scan is cut off");
        }
        s.ranges[i] = v > head[4] ? INFINITY : (float)v;
    }
    if (!numbers(&at, tail, 7)) {
        return bad(r, "the scan's poses are missing");
    }
    s.from = to_pons(CPose2D(tail[1], tail[2], tail[3]) - CPose2D(tail[4], tail[5], tail[6]));
    why = refusal(*m, s, m->keys.back().pose);
    if (why) {
        return bad(r, why);
    }
    m->keys.back().points = points_of(s);
    return PONS_OK;
}

// Whether the last vertex has its scan.
bool is_whole(const mapper &m)
{
    return m.keys.empty() || m.keys.back().points;
}

int read_line(const reader &r, char *line, mapper *m)
{
    char tag[24];
    int n = 0;
    double v[5];
    if (std::sscanf(line, "%23s %n", tag, &n) < 1 || *tag == '#') {
        return PONS_OK;
    }
    char *at = line + n;
    if (std::strcmp(tag, "VERTEX_SE2") == 0) {
        if (!is_whole(*m)) {
            return bad(r, "a vertex has no scan");
        }
        if (!numbers(&at, v, 4) || v[0] != (double)m->keys.size()) {
            return bad(r, "a VERTEX_SE2 has its number, counted from 0, and x, y, yaw");
        }
        const CPose2D pose(v[1], v[2], v[3]);
        m->keys.push_back({pose, pose, pons_scan(), nullptr});
        return PONS_OK;
    }
    if (std::strcmp(tag, "EDGE_SE2") == 0) {
        const double most = (double)m->keys.size() - 1.0;
        if (!numbers(&at, v, 5) || !(v[0] >= 0.0 && v[0] <= most && v[1] >= 0.0 && v[1] <= most) || v[0] == v[1]) {
            return bad(r, "an EDGE_SE2 has two vertices and x, y, yaw");
        }
        m->edges.push_back({(size_t)v[0], (size_t)v[1], CPose2D(v[2], v[3], v[4])});
        return PONS_OK;
    }
    if (std::strcmp(tag, "ROBOTLASER1") == 0) {
        return read_scan(r, at, m);
    }
    return std::strcmp(tag, "FIX") == 0 ? PONS_OK : bad(r, "this line is none of a pose graph with scans");
}

// ---- the contract -------------------------------------------------------------------------------

// MRPT throws; its messages have a line for each function that was passed.
int thrown(const std::exception &e, pons_error *err)
{
    const char *what = e.what();
    return pons_error_set(err, PONS_EIO, MODULE, "MRPT: %.*s", (int)std::min<size_t>(std::strcspn(what, "\n"), 200), what);
}

int slam_open(const pons_value *config, void **ret_self, pons_error *err)
{
    const double resolution_m = pons_get_num(config, "resolution_m", 0.05);
    if (!(resolution_m >= 0.01 && resolution_m <= 0.5)) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "resolution_m is %g, not within 0.01 … 0.5", resolution_m);
    }
    const double radius_m = pons_get_num(config, "radius_m", 0.0);
    if (!(radius_m >= 0.0 && radius_m <= 5.0)) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "radius_m is %g, not within 0 … 5", radius_m);
    }
    try {
        auto m = std::make_unique<mapper>();
        m->resolution_m = resolution_m;
        m->clear_radius_m = radius_m > 0.0 ? radius_m + 0.5 * resolution_m : 0.0;
        draw_all(m.get());
        *ret_self = m.release();
        return PONS_OK;
    } catch (const std::exception &e) {
        return thrown(e, err);
    }
}

void slam_close(void *self)
{
    delete static_cast<mapper *>(self);
}

int slam_place(void *self, pons_pose2 base_in_map, pons_pose2 odom_from_base)
{
    mapper *m = static_cast<mapper *>(self);
    m->pose = m->matched = of_pons(base_in_map);
    m->odom = of_pons(odom_from_base);
    m->placed = false;
    m->way_m = 0.0;
    return PONS_OK;
}

int slam_add(void *self, const pons_scan *scan, pons_pose2 odom_from_base, pons_pose2 *ret_map_from_odom,
             bool *ret_changed, pons_error *err)
{
    mapper *m = static_cast<mapper *>(self);
    try {
        const CPose2D odom = of_pons(odom_from_base);
        const CPose2D pose = m->pose + (odom - m->odom);
        const char *why = refusal(*m, *scan, pose);
        if (why) {
            return pons_error_set(err, PONS_EINVAL, MODULE, "%s", why);
        }
        m->pose = pose;
        m->odom = odom;
        *ret_changed = false;
        const bool first = m->keys.empty() || !m->placed;
        if (first || apart(m->pose, m->matched) > MATCH_M || turned(m->pose, m->matched) > MATCH_RAD) {
            auto points = points_of(*scan);
            if (!m->keys.empty()) {
                track(m, *points);
            }
            const bool far = first || apart(m->pose, m->keys.back().pose) > KEY_M ||
                             turned(m->pose, m->keys.back().pose) > KEY_RAD;
            if (far && points->size() > 0) {
                keep(m, scan, points);
                *ret_changed = true;
            }
        }
        *ret_map_from_odom = pons_pose_compose(to_pons(m->pose), pons_pose_inverse(odom_from_base));
        return PONS_OK;
    } catch (const std::exception &e) {
        return thrown(e, err);
    }
}

int8_t known(const COccupancyGridMap2D &g, int x, int y)
{
    const auto evidence = g.getRow(y)[x]; // log odds; above 0: more likely free
    const int8_t is = evidence < 0 ? 100 : 0;
    return evidence == 0 ? -1 : is;
}

// Marks the driven path as free: an obstacle that was seen there was temporary, and would block the way back.
void clear_driven(const mapper &m, const pons_slam_map &map)
{
    const double res = map.resolution_m, r = m.clear_radius_m;
    for (const edge &e : m.edges) {
        const CPose2D &a = m.keys[e.from].pose, &b = m.keys[e.to].pose;
        if (r <= 0.0 || e.to != e.from + 1 || apart(a, b) > 2.0 * KEY_M) {
            continue; // a loop, or a long gap: the robot may have been carried
        }
        const int x0 = (int)((std::min(a.x(), b.x()) - r - map.x0) / res), y0 = (int)((std::min(a.y(), b.y()) - r - map.y0) / res);
        const int x1 = (int)((std::max(a.x(), b.x()) + r - map.x0) / res), y1 = (int)((std::max(a.y(), b.y()) + r - map.y0) / res);
        for (int y = std::max(y0, 0); y <= std::min(y1, map.h - 1); y++) {
            for (int x = std::max(x0, 0); x <= std::min(x1, map.w - 1); x++) {
                double px, py; // the nearest point of the way
                if (mrpt::math::minimumDistanceFromPointToSegment(map.x0 + (x + 0.5) * res, map.y0 + (y + 0.5) * res, a.x(),
                                                                  a.y(), b.x(), b.y(), px, py) <= r) {
                    map.cells[y * map.w + x] = 0;
                }
            }
        }
    }
}

int slam_map(void *self, pons_slam_map *ret, pons_error *err)
{
    mapper *m = static_cast<mapper *>(self);
    const COccupancyGridMap2D &g = *m->grid;
    int x0 = (int)g.getSizeX(), y0 = (int)g.getSizeY(), x1 = -1, y1 = -1; // bounds of the known cells
    for (int y = 0; y < (int)g.getSizeY(); y++) {
        for (int x = 0; x < (int)g.getSizeX(); x++) {
            if (g.getRow(y)[x] != 0) {
                x0 = std::min(x0, x);
                x1 = std::max(x1, x);
                y0 = std::min(y0, y);
                y1 = y;
            }
        }
    }
    const int w = std::max(x1 - x0 + 1, 0), h = std::max(y1 - y0 + 1, 0);
    int8_t *cells = static_cast<int8_t *>(std::malloc((size_t)w * (size_t)h + 1));
    if (!cells) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a map of %d × %d cells", w, h);
    }
    for (int i = 0; i < w * h; i++) {
        cells[i] = known(g, x0 + i % w, y0 + i / w);
    }
    const double res = m->resolution_m;
    *ret = pons_slam_map{w, h, res, res * std::round(g.getXMin() / res + x0), res * std::round(g.getYMin() / res + y0), cells};
    clear_driven(*m, *ret);
    return PONS_OK;
}

int slam_save(void *self, const char *path, pons_error *err)
{
    const mapper *m = static_cast<mapper *>(self);
    FILE *f = std::fopen(path, "we");
    if (!f) {
        return pons_error_set(err, PONS_EIO, MODULE, "cannot write %s: %s", path, std::strerror(errno));
    }
    for (size_t i = 0; i < m->keys.size(); i++) {
        const CPose2D &p = m->keys[i].pose;
        std::fprintf(f, "VERTEX_SE2 %zu %.9g %.9g %.9g\n", i, p.x(), p.y(), p.phi());
        write_scan(f, m->keys[i]);
    }
    for (const edge &e : m->edges) {
        std::fprintf(f, "EDGE_SE2 %zu %zu %.9g %.9g %.9g 1 0 0 1 0 1\n", e.from, e.to, e.way.x(), e.way.y(), e.way.phi());
    }
    const bool failed = std::ferror(f) != 0;
    if (std::fclose(f) != 0 || failed) {
        return pons_error_set(err, PONS_EIO, MODULE, "cannot write %s", path);
    }
    return PONS_OK;
}

int slam_load(void *self, const char *path, pons_error *err)
{
    mapper *m = static_cast<mapper *>(self);
    FILE *f = std::fopen(path, "re");
    if (!f) {
        return pons_error_set(err, errno == ENOENT ? PONS_ENOTFOUND : PONS_EIO, MODULE, "cannot read %s: %s", path,
                              std::strerror(errno));
    }
    char *line = nullptr;
    size_t cap = 0;
    int rc = PONS_OK;
    try {
        mapper fresh;
        fresh.resolution_m = m->resolution_m;
        fresh.clear_radius_m = m->clear_radius_m;
        reader r = {path, 1, err};
        for (; rc == PONS_OK && getline(&line, &cap, f) > 0; r.line++) {
            rc = read_line(r, line, &fresh);
        }
        rc = rc < 0 || is_whole(fresh) ? rc : bad(r, "a vertex has no scan");
        if (rc == PONS_OK) {
            draw_all(&fresh);
            *m = std::move(fresh);
        }
    } catch (const std::exception &e) {
        rc = thrown(e, err);
    }
    std::free(line);
    std::fclose(f);
    return rc;
}

const pons_slam_ops ops = {PONS_SLAM_ABI, slam_open, slam_place, slam_add, slam_map, slam_save, slam_load, slam_close};

} // namespace

PONS_MODULE_EXPORT("slam", "mrpt", &ops);

// onnx.cc - the detector `onnx`: a neural network in an ONNX file, run by OpenCV's dnn on the processor.
//
//     picture --scaled to fit, the rest grey--> 1 × 3 × height × width --network--> numbers --form--> boxes --overlap--> detections
//
// What the numbers mean depends on the family of networks: the table `forms`. C++, as OpenCV's face is; an exception
// of it is an error of this picture.
#include "pons/ext/detector.h"
#include "pons/module.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <opencv2/dnn.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

namespace
{

constexpr char MODULE[] = "onnx";
constexpr size_t CANDIDATES_MAX = 1000;
constexpr double GREY = 114.0; // beside the picture, as the networks were trained

struct candidate {
    float x, y, w, h, score; // [px of the network's input]
    int label;
};

struct grid {
    float x, y, stride;
};

// The cells of a network's levels, in their order.
std::vector<grid> grids(cv::Size in, const std::vector<int> &strides)
{
    std::vector<grid> all;
    for (int s : strides) {
        for (int y = 0; y < (in.height + s - 1) / s; y++) {
            for (int x = 0; x < (in.width + s - 1) / s; x++) {
                all.push_back({float(x), float(y), float(s)});
            }
        }
    }
    return all;
}

float distance_of(const float *bins) // the mean of a softmax over 0 … 7
{
    const float most = *std::max_element(bins, bins + 8);
    float sum = 0, mean = 0;
    for (int i = 0; i < 8; i++) {
        const float e = std::exp(bins[i] - most);
        sum += e;
        mean += float(i) * e;
    }
    return mean / sum;
}

// A row is what the network says of one place; labels are its scores.
using row_box = candidate (*)(const float *row, const grid &g);

candidate yolox_box(const float *r, const grid &g)
{
    const float w = std::exp(r[2]) * g.stride, h = std::exp(r[3]) * g.stride;
    return {(r[0] + g.x) * g.stride - w / 2, (r[1] + g.y) * g.stride - h / 2, w, h, r[4], 0};
}

candidate nanodet_box(const float *r, const grid &g) // r: left, top, right, bottom, 8 bins each
{
    const float l = distance_of(r), t = distance_of(r + 8), right = distance_of(r + 16),
                b = distance_of(r + 24);
    return {(g.x - l) * g.stride,
            (g.y - t) * g.stride,
            (l + right) * g.stride,
            (t + b) * g.stride,
            1,
            0};
}

candidate yolov8_box(const float *r, const grid &)
{
    return {r[0] - r[2] / 2, r[1] - r[3] / 2, r[2], r[3], 1, 0};
}

struct form {
    const char *name;
    bool rgb, across; // across: a column is a place
    double scale;
    cv::Scalar mean, spread; // of BGR; taken off, then divided by
    std::vector<int> strides;
    bool box_last; // in a row the box's numbers come after the labels'
    int box_n;
    row_box box;
};

const form forms[] = { // NOLINT(cert-err58-cpp): of numbers alone
    {"yolox", false, false, 1.0, {0, 0, 0}, {1, 1, 1}, {8, 16, 32}, false, 5, yolox_box},
    {"nanodet",
     false,
     false,
     1.0,
     {103.53, 116.28, 123.675},
     {57.375, 57.12, 58.395},
     {8, 16, 32, 64},
     true,
     32,
     nanodet_box},
    {"yolov8", true, true, 1.0 / 255.0, {0, 0, 0}, {1, 1, 1}, {8, 16, 32}, false, 4, yolov8_box},
};

struct network {
    cv::dnn::Net net;
    const form *how;
    cv::Size in;
    std::vector<grid> cells;
    std::vector<std::string> labels;
    double min_score, overlap;
    pons_value *names; // of labels, others
    ~network()
    {
        pons_value_unref(names);
    }
};

int failed(pons_error *err, int status, const char *what, const std::exception &e)
{
    std::string why = e.what();
    std::replace(why.begin(), why.end(), '\n', ' ');
    return pons_error_set(err, static_cast<pons_status>(status), MODULE, "%s: %.300s", what,
                          why.c_str());
}

// The network's numbers, a row a place.
cv::Mat run(network &n, const cv::Mat &input)
{
    cv::Mat blob = cv::dnn::blobFromImage(input, n.how->scale, cv::Size(), n.how->mean, n.how->rgb);
    for (int c = 0; c < 3; c++) { // after blobFromImage's own order of the colours
        cv::Mat plane(n.in.height, n.in.width, CV_32F, blob.ptr<float>(0, c));
        plane /= n.how->spread[n.how->rgb ? 2 - c : c];
    }
    n.net.setInput(blob);
    cv::Mat out = n.net.forward();
    if (out.dims != 3) {
        throw std::runtime_error("its output is none of this form and input");
    }
    cv::Mat table(out.size[1], out.size[2], CV_32F, out.ptr<float>());
    cv::Mat whole = n.how->across ? cv::Mat(table.t()) : table.clone();
    if (whole.rows != int(n.cells.size()) || whole.cols <= n.how->box_n) {
        throw std::runtime_error("its output is none of this form and input");
    }
    return whole;
}

std::vector<candidate> candidates(const network &n, const cv::Mat &rows)
{
    std::vector<candidate> all;
    const int labels = rows.cols - n.how->box_n;
    const int box_at = n.how->box_last ? labels : 0;
    const int labels_at = n.how->box_last ? 0 : n.how->box_n;
    for (int i = 0; i < rows.rows; i++) {
        const float *r = rows.ptr<float>(i),
                    *best = std::max_element(r + labels_at, r + labels_at + labels);
        candidate c = n.how->box(r + box_at, n.cells[size_t(i)]);
        c.score *= *best;
        c.label = int(best - (r + labels_at));
        if (double(c.score) >= n.min_score) { // no number is neither
            all.push_back(c);
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const candidate &a, const candidate &b) { return a.score > b.score; });
    all.resize(std::min(all.size(), CANDIDATES_MAX));
    return all;
}

bool covers(const candidate &a, const candidate &b, double most)
{
    const float w = std::min(a.x + a.w, b.x + b.w) - std::max(a.x, b.x),
                h = std::min(a.y + a.h, b.y + b.h) - std::max(a.y, b.y);
    return a.label == b.label && w > 0 && h > 0 &&
           double(w * h) > most * double(a.w * a.h + b.w * b.h - w * h);
}

void write(const network &n, const candidate &c, double scale, pons_detected *ret)
{
    const size_t label = size_t(c.label);
    const std::string own =
        label < n.labels.size() ? n.labels[label] : "class " + std::to_string(label);
    std::snprintf(ret->label, sizeof ret->label, "%s",
                  pons_get_str(n.names, own.c_str(), own.c_str()));
    ret->score = std::min(double(c.score), 1.0);
    const float box[4] = {c.x, c.y, c.w, c.h};
    for (int i = 0; i < 4; i++) {
        ret->box[i] = double(box[i]) / scale;
    }
}

int onnx_detect(void *self, const pons_picture_raw *p, const pons_lens *,
                pons_detected ret[PONS_DETECTED_MAX], size_t *ret_n, pons_error *err)
try {
    network &n = *static_cast<network *>(self);
    const double scale = std::min(double(n.in.width) / p->width, double(n.in.height) / p->height);
    cv::Mat rgb(p->height, p->width, CV_8UC3, p->rgb), small,
        bgr(n.in, CV_8UC3, cv::Scalar(GREY, GREY, GREY));
    const cv::Size size(std::max(1, int(p->width * scale)), std::max(1, int(p->height * scale)));
    cv::resize(rgb, small, size, 0, 0, cv::INTER_LINEAR);
    cv::cvtColor(small, bgr(cv::Rect(cv::Point(0, 0), size)), cv::COLOR_RGB2BGR);
    std::vector<candidate> kept;
    for (const candidate &c : candidates(n, run(n, bgr))) {
        const bool again = std::any_of(kept.begin(), kept.end(),
                                       [&](const candidate &k) { return covers(k, c, n.overlap); });
        if (!again && kept.size() < PONS_DETECTED_MAX) {
            write(n, c, scale, &ret[kept.size()]);
            kept.push_back(c);
        }
    }
    *ret_n = kept.size();
    return PONS_OK;
} catch (const std::exception &e) {
    return failed(err, PONS_EIO, "the network cannot be run", e);
}

void onnx_close(void *self)
{
    delete static_cast<network *>(self);
}

int onnx_open(const pons_value *config, void **ret_self, pons_error *err)
try {
    const char *model = pons_get_str(config, "model", ""),
               *labels = pons_get_str(config, "labels_file", nullptr),
               *name = pons_get_str(config, "form", "yolox");
    const pons_value *in = pons_get(config, "input");
    const form *how = std::find_if(std::begin(forms), std::end(forms),
                                   [&](const form &f) { return std::string(f.name) == name; });
    if (how == std::end(forms)) {
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "there is no form '%.40s'; there are yolox, nanodet, yolov8", name);
    }
    if (!std::ifstream(model)) {
        return pons_error_set(err, PONS_ENOTFOUND, MODULE, "model: there is no file '%.200s'",
                              model);
    }
    auto n = std::make_unique<network>();
    n->how = how;
    n->in = in ? cv::Size(int(json_integer_value(json_array_get(in, 0))),
                          int(json_integer_value(json_array_get(in, 1))))
               : cv::Size(416, 416);
    n->cells = grids(n->in, how->strides);
    n->min_score = pons_get_num(config, "min_score", 0.4);
    n->overlap = pons_get_num(config, "overlap", 0.45);
    n->names = json_deep_copy(pons_get(config, "labels"));
    if (labels) {
        std::ifstream file(labels);
        if (!file) {
            return pons_error_set(err, PONS_ENOTFOUND, MODULE,
                                  "labels_file: there is no file '%.200s'", labels);
        }
        for (std::string line; std::getline(file, line) && n->labels.size() < 100000;) {
            n->labels.push_back(line);
        }
    }
    cv::setNumThreads(2); // of the body's processors
    n->net = cv::dnn::readNetFromONNX(model);
    run(*n, cv::Mat(n->in, CV_8UC3,
                    cv::Scalar(GREY, GREY, GREY))); // whether it is what it is said to be
    *ret_self = n.release();
    return PONS_OK;
} catch (const std::exception &e) {
    return failed(err, PONS_EINVAL, "model: the network cannot be used", e);
}

const pons_detector_ops ops = {PONS_DETECTOR_ABI, onnx_open, onnx_detect, onnx_close, nullptr};

} // namespace

PONS_MODULE_EXPORT("detector", "onnx", &ops);

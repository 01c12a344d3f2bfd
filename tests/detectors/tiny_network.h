// tiny_network.h - an ONNX file of a few hundred bytes: a network that sees how red and how blue a picture is, and says so
// of two boxes.
#ifndef TESTS_DETECTORS_TINY_NETWORK_H
#define TESTS_DETECTORS_TINY_NETWORK_H

// Writes the network of this form (docs/reference/config.md) for pictures of 32 × 32 pixels: label 0 is as sure as the
// picture is red, label 1 as it is blue, both with the box 4, 16, 16, 8 of the input; a second box there is half as sure.
void tiny_network_write(const char *path, const char *form);

#endif

// linkage.h - what C++ has to know of a header of C.
#pragma once

#ifdef __cplusplus
#define PONS_C_BEGIN extern "C" {
#define PONS_C_END   }
#else
#define PONS_C_BEGIN
#define PONS_C_END
#endif

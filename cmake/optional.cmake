# What pons does without where a package is missing: each library is looked for here, and what is left out for want of
# it is said once, with the Debian package that has it. -DPONS_WITHOUT="mujoco;ros2" looks away from some (all: from
# each), as on a machine that does not have them.
set(PONS_WITHOUT "" CACHE STRING "optional parts to leave out: mujoco osmesa jpeg ros2 fastdds gazebo postgres groot mqtt curl serve apriltag opencv openpi, all")
set(left_out)

# pons_optional(NAME WHAT PACKAGES FOUND…): whether all FOUND are there, in NAME_FOUND of upper case.
function(pons_optional name what packages)
  string(TOUPPER ${name}_FOUND found)
  set(there TRUE)
  if(name IN_LIST PONS_WITHOUT OR PONS_WITHOUT STREQUAL "all")
    set(there FALSE)
  endif()
  foreach(f ${ARGN})
    if(NOT ${f})
      set(there FALSE)
    endif()
  endforeach()
  if(NOT there)
    set(left_out ${left_out} "${what} (${packages})" PARENT_SCOPE)
    string(REPLACE ", " ";" modules "${what}")
    list(TRANSFORM modules REPLACE "(.+)" "${CMAKE_BINARY_DIR}/lib/pons/\\1.so")
    file(REMOVE ${modules}) # of an earlier build
  endif()
  set(${found} ${there} PARENT_SCOPE)
endfunction()

include(CheckLanguage)
check_language(CXX) # for the modules that speak to Gazebo and to OpenCV, alone
pkg_check_modules(CURL IMPORTED_TARGET libcurl)
pkg_check_modules(MICROHTTPD IMPORTED_TARGET libmicrohttpd gnutls)
find_library(WSLAY wslay)
pkg_check_modules(GNUTLS IMPORTED_TARGET gnutls)
pkg_check_modules(PQ IMPORTED_TARGET libpq)
pkg_check_modules(ZMQ IMPORTED_TARGET libzmq)
find_library(MSGPACK_LIB NAMES msgpack-c msgpackc) # Debian 13 gave it another name, and a pkg-config file without a prefix
find_path(MSGPACK_INCLUDE msgpack.h)
if(TARGET PkgConfig::ZMQ AND MSGPACK_LIB)
  target_link_libraries(PkgConfig::ZMQ INTERFACE ${MSGPACK_LIB})
endif()
pkg_check_modules(MOSQUITTO IMPORTED_TARGET libmosquitto)
find_package(CycloneDDS QUIET) # with idlc, of cyclonedds-tools
find_program(IDLC idlc)
find_package(fastcdr QUIET)
find_package(fastrtps QUIET) # Fast DDS 2
if(NOT fastrtps_FOUND)
  find_package(fastdds QUIET) # Fast DDS 3
endif()
find_library(MUJOCO_LIB mujoco)
find_path(MUJOCO_INCLUDE mujoco/mujoco.h)
pkg_check_modules(OSMESA IMPORTED_TARGET osmesa) # pictures without a screen
pkg_check_modules(JPEG IMPORTED_TARGET libjpeg)
find_library(APRILTAG_LIB apriltag)
find_library(APRILTAG_UTILS apriltag-utils) # Debian's has the pictures' functions there
find_path(APRILTAG_INCLUDE apriltag/apriltag_pose.h)
foreach(part DNN IMGPROC CORE)
  string(TOLOWER opencv_${part} library)
  find_library(OPENCV_${part} ${library})
endforeach()
find_path(OPENCV_INCLUDE opencv2/dnn.hpp PATH_SUFFIXES opencv4)
pkg_check_modules(IGNITION IMPORTED_TARGET ignition-transport11 ignition-msgs8)

pons_optional(mujoco driver-mujoco libmujoco-dev MUJOCO_LIB MUJOCO_INCLUDE)
if(MUJOCO_FOUND)
  pons_optional(osmesa "cameras of driver-mujoco" libosmesa6-dev OSMESA_FOUND)
endif()
pons_optional(jpeg "pictures as JPEG" libjpeg-dev JPEG_FOUND)
pons_optional(ros2 "driver-ros2, bridge-ros2, camera-ros2, topics-ros2" "cyclonedds-dev, cyclonedds-tools" CycloneDDS_FOUND IDLC)
if(fastrtps_FOUND OR fastdds_FOUND)
  set(FASTDDS_ANY ON)
endif()
pons_optional(fastdds dds-fast "libfastrtps-dev, g++" FASTDDS_ANY CMAKE_CXX_COMPILER)
pons_optional(gazebo driver-gazebo "libignition-transport-dev, libignition-msgs-dev, g++" IGNITION_FOUND CMAKE_CXX_COMPILER)
pons_optional(postgres store-postgres libpq-dev PQ_FOUND)
pons_optional(groot groot-zmq "libzmq3-dev, libmsgpack-dev" MSGPACK_LIB MSGPACK_INCLUDE ZMQ_FOUND)
pons_optional(mqtt mqtt-mosquitto libmosquitto-dev MOSQUITTO_FOUND)
pons_optional(curl http-curl libcurl4-openssl-dev CURL_FOUND)
pons_optional(apriltag detector-apriltag libapriltag-dev APRILTAG_LIB APRILTAG_INCLUDE)
pons_optional(opencv detector-onnx "libopencv-dnn-dev, libopencv-imgproc-dev, g++" OPENCV_DNN OPENCV_IMGPROC OPENCV_CORE OPENCV_INCLUDE CMAKE_CXX_COMPILER)
pons_optional(openpi policy-openpi "libcurl4-openssl-dev, libgnutls28-dev, libwslay-dev, libmsgpack-dev" CURL_FOUND GNUTLS_FOUND WSLAY MSGPACK_LIB MSGPACK_INCLUDE)
pons_optional(serve server-microhttpd "libmicrohttpd-dev, libgnutls28-dev, libwslay-dev" MICROHTTPD_FOUND WSLAY)

string(REPLACE ";" "\n" lines "${left_out}")
file(WRITE ${CMAKE_BINARY_DIR}/left-out "${lines}\n") # ./dev says it
foreach(line ${left_out})
  message(STATUS "left out: ${line}")
endforeach()

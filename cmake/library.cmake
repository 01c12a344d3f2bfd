# What a program of somebody else's links: libpons.so.0 with every function of the public headers, the
# static archives of the parts, their pkg-config files, and a CMake package with the parts as components.
#
# The shared library is made of the archives' own objects, which are position-independent anyway: nothing
# is compiled twice. src/libpons.map is both its version script and the list of what it shows;
# tools/check-symbols compares that list with the headers and with the library.

set(PONS_LIBDIR lib CACHE STRING "where the libraries go below the prefix; Debian: lib/TRIPLET")
file(RELATIVE_PATH up /${PONS_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up "${up}")

get_property(pons_parts GLOBAL PROPERTY pons_parts) # each pons_lib()
list(REMOVE_ITEM pons_parts app) # whole programs, which have no public header: a build of this tree links the archive
list(TRANSFORM pons_parts PREPEND pons_ OUTPUT_VARIABLE pons_archives)

list(TRANSFORM pons_archives REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
add_library(pons_shared SHARED ${objects})
set_target_properties(pons_shared PROPERTIES OUTPUT_NAME pons VERSION ${PROJECT_VERSION} SOVERSION 0
  LINKER_LANGUAGE C LINK_DEPENDS ${CMAKE_SOURCE_DIR}/src/libpons.map)
target_link_options(pons_shared PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/src/libpons.map -Wl,--no-undefined-version
  -Wl,-Bsymbolic-functions)
target_link_libraries(pons_shared PUBLIC PkgConfig::JANSSON PRIVATE PkgConfig::FYAML PkgConfig::PCRE2 PkgConfig::SQLITE
  PkgConfig::ZLIB PkgConfig::ZSTD PkgConfig::LZ4 PkgConfig::EXPAT PkgConfig::PNG ${jpeg} PkgConfig::SECCOMP Threads::Threads m dl)
install(TARGETS pons_shared LIBRARY DESTINATION ${PONS_LIBDIR})
install(DIRECTORY include/pons DESTINATION include)
install(TARGETS ${pons_archives} ARCHIVE DESTINATION ${PONS_LIBDIR})

# pons_pc(NAME LIBS REQUIRES REQUIRES_PRIVATE DESCRIPTION)
function(pons_pc name libs requires private description)
  file(CONFIGURE OUTPUT ${name}.pc @ONLY CONTENT [[prefix=${pcfiledir}/@up@
Name: @name@
Description: @description@
Version: @PROJECT_VERSION@
Cflags: -I${prefix}/include
Libs: -L${prefix}/@PONS_LIBDIR@ @libs@
Requires: @requires@
Requires.private: @private@
]])
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${PONS_LIBDIR}/pkgconfig)
endfunction()

# The shared library. Values are jansson's, so who uses pons uses that, too.
pons_pc(pons "-lpons" jansson "" "the whole runtime, as a shared library")

# The archives. Modules (PostgreSQL, a model's client) take base from the program that loads them: all of
# it is in it.
set(whole_base "-Wl,--export-dynamic -Wl,--whole-archive -lpons_base -Wl,--no-whole-archive -lpthread -lm -ldl")
pons_pc(pons-graph "-lpons_graph -lpons_items -lpons_store ${whole_base}" "jansson libfyaml libpcre2-8 sqlite3 zlib" ""
  "the StateGraph engine and its stores")
pons_pc(pons-bt "-lpons_bt ${whole_base}" "jansson libfyaml libpcre2-8 expat" "" "behaviour trees: MDSL and BehaviorTree.CPP XML")
pons_pc(pons-arm "-lpons_arm ${whole_base}" "jansson libfyaml libpcre2-8 expat" "" "arms: URDF, kinematics, clearance")
pons_pc(pons-plan "-lpons_plan ${whole_base}" "jansson libfyaml libpcre2-8" "" "the plan protocol")
if(jpeg)
  set(jpeg_pc libjpeg)
endif()
# Every header has its library: all of pons, for who builds a brain, a body or an agent of their own.
pons_pc(pons-all "-lpons_serve -lpons_traces -lpons_record -lpons_scenario -lpons_sight -lpons_fleet -lpons_vda5050 -lpons_workspace -lpons_brain -lpons_agent -lpons_companion -lpons_body -lpons_drivers -lpons_llm -lpons_intents \
-lpons_tools -lpons_mcp -lpons_http -lpons_graph -lpons_items -lpons_store -lpons_bt -lpons_arm -lpons_map -lpons_picture -lpons_critic -lpons_plan -lpons_link ${whole_base}"
  "jansson libfyaml libpcre2-8 sqlite3 zlib libzstd liblz4 expat libpng libseccomp ${jpeg_pc}" "" "the whole runtime, as archives")

# find_package(pons COMPONENTS shared graph …): the targets pons::shared (also without components), and
# pons::graph, pons::bt, … of the archives.
set(parts ${pons_parts})
set(tables)
foreach(part ${pons_parts})
  get_property(needs GLOBAL PROPERTY pons_needs_${part})
  get_property(libs GLOBAL PROPERTY pons_libs_${part})
  string(APPEND tables "set(_pons_needs_${part} ${needs})\nset(_pons_libs_${part} ${libs})\n")
endforeach()
include(CMakePackageConfigHelpers)
configure_file(${CMAKE_CURRENT_LIST_DIR}/pons-config.cmake.in ${CMAKE_BINARY_DIR}/pons-config.cmake @ONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/pons-config-version.cmake VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/pons-config.cmake ${CMAKE_BINARY_DIR}/pons-config-version.cmake DESTINATION ${PONS_LIBDIR}/cmake/pons)

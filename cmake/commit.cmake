# The commit that `pons --version` names: of the clone, or as a package's build says it (-DPONS_COMMIT=…); else none.
set(PONS_COMMIT "" CACHE STRING "the commit that this is, where no clone tells")
set(commit "${PONS_COMMIT}")
if(NOT commit AND NOT PONS_SANITIZE AND EXISTS ${CMAKE_SOURCE_DIR}/.git)
  execute_process(COMMAND git rev-parse --short=12 HEAD WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git rev-parse --git-path logs/HEAD WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(log) # a new commit is looked at again
    get_filename_component(log "${log}" ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
  endif()
endif()
set_source_files_properties(src/cli/maintenance/version.c PROPERTIES COMPILE_DEFINITIONS "PONS_COMMIT=\"${commit}\"")

# Writes residuum_build.h: what this build was made of. The revision is looked up at build time; in
# a source tree without its own git history it is "unknown".

set(revision unknown)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} rev-parse --show-toplevel
                  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH "${SOURCE_DIR}" source)
  if(top STREQUAL source)
    execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} describe --dirty --always
                    OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()

set(text "#pragma once\n// Generated at build time.\n\nnamespace residuum {\n\n")
foreach(entry "BuildVersion=${VERSION}" "BuildRevision=${revision}" "BuildCompiler=${COMPILER}"
        "BuildFlags=${FLAGS}" "BuildType=${BUILD_TYPE}" "BuildTorch=${TORCH}")
  string(REGEX MATCH "^([A-Za-z]+)=(.*)$" _ "${entry}")
  set(name ${CMAKE_MATCH_1})
  string(REGEX REPLACE "([\"\\\\])" "\\\\\\1" value "${CMAKE_MATCH_2}")
  string(APPEND text "inline constexpr const char* k${name} = \"${value}\";\n")
endforeach()
string(APPEND text "\n}  // namespace residuum\n")

set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()

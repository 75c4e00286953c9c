# Fails when a file includes against the direction of dependence between the rooms, brings in a
# library outside its room, or includes a private header of a library, whose name may change. Run
# by ctest: cmake -DSOURCE_DIR=... -P tests/include_directions.cmake

cmake_minimum_required(VERSION 3.25)

# "room -> what its files may include"; the longest matching room holds for a file.
file(REAL_PATH "${SOURCE_DIR}" SOURCE_DIR)
set(rules
  "core/elementary -> core/elementary"
  "core/error -> core/error core/text"
  "core/text -> core/text"
  "core/fnv1a -> core/fnv1a"
  "core/notes -> core/notes core/text"
  "core/stop -> core/stop core/error"
  "core/output_file -> core/output_file core/error"
  "core/child_program -> core/child_program core/output_file"
  "core/objective -> core/objective core/vectors core/config core/error"
  "core/gradient_source -> core/gradient_source core/objective"
  "core/config -> core/config core/error"
  "core/record -> core/record core/error"
  "core/record/run_facts -> core/record/run_facts core/messages"
  "core/random -> core/random core/elementary core/error"
  "core/graphs -> core/graphs core/random core/error core/text"
  "core/vectors -> core/vectors core/random core/error"
  "core/messages -> core/messages core/vectors core/error"
  "core/sparsifiers -> core/sparsifiers core/messages core/vectors core/random core/config core/error"
  "core/optimisers -> core/optimisers core/messages core/vectors core/config core/elementary core/error"
  "core/quantisers -> core/quantisers core/messages core/vectors core/random core/config core/error"
  "core/feedback -> core/feedback core/messages core/vectors core/config core/error"
  "core/cluster -> core/cluster core/messages core/vectors core/error"
  "core/aggregators -> core/aggregators core/cluster core/messages core/quantisers core/vectors core/random core/config core/error"
  "core/schedules -> core/schedules core/sparsifiers core/messages core/vectors core/config core/elementary core/error core/text core/objective core/random"
  "core/training -> core/training core/record core/schedules core/aggregators core/cluster core/feedback core/optimisers core/quantisers core/sparsifiers core/messages core/vectors core/random core/error core/objective core/gradient_source"
  "core/measurement -> core/measurement core/training core/record core/schedules core/aggregators core/cluster core/quantisers core/messages core/vectors core/random core/error core/objective"
  "core/protocols -> core/protocols core/measurement core/training core/schedules core/aggregators core/cluster core/quantisers core/messages core/graphs core/vectors core/config core/elementary core/error core/text"
  "core/protocols/actors -> core/protocols/actors core/cluster core/random core/elementary core/error"
  "core/trainer -> core/"
  "objectives/data -> objectives/data core/"
  "objectives/torch -> objectives/ core/"
  "objectives -> objectives/ core/"
  "assumptions -> assumptions/ core/"
  "reports/results -> reports/results core/record core/messages/laws core/error core/text core/fnv1a core/output_file"
  "reports/analysis -> reports/analysis reports/results assumptions/theorems assumptions/estimators core/random core/record core/error core/text"
  "reports/verdicts -> reports/verdicts reports/analysis reports/results assumptions/theorems assumptions/estimators assumptions/verdicts assumptions/delta_prediction core/error"
  "reports/figures -> reports/figures reports/analysis reports/results core/record core/child_program core/error core/text core/output_file"
  "reports/latex -> reports/latex reports/figures reports/verdicts reports/analysis reports/results assumptions/estimators core/error core/text core/output_file"
  "reports/summaries -> reports/summaries reports/verdicts reports/analysis reports/results core/record core/error"
  "reports/exports -> reports/exports reports/summaries reports/verdicts reports/analysis reports/results core/record core/error core/output_file"
  "reports/terminal -> reports/terminal reports/summaries reports/verdicts reports/analysis reports/results core/error core/text"
  "reports/page -> reports/ assumptions/theorems assumptions/verdicts core/record core/error core/text core/output_file"
  "experiments/program/console -> experiments/program/console core/ reports/"
  "experiments/program/foreign -> experiments/program/foreign experiments/program/console assumptions/testing objectives/data core/"
  "experiments/program/study -> experiments/program/study experiments/program/foreign experiments/program/console reports/ assumptions/ objectives/ core/"
  "experiments/program/runs -> experiments/program/runs experiments/program/foreign experiments/program/study experiments/program/console reports/ assumptions/ objectives/ core/ residuum_build.h"
  "experiments/benchmarks -> experiments/benchmarks experiments/program/program experiments/program/foreign experiments/program/runs experiments/program/study experiments/program/console reports/ assumptions/ objectives/ core/"
  "experiments/program/commands/report_ -> experiments/program/commands experiments/program/console reports/ core/record core/error core/text"
  "experiments/live -> experiments/ reports/ core/"
  "experiments/program/commands -> experiments/program/commands experiments/program/foreign experiments/program/runs experiments/program/study experiments/program/console reports/ assumptions/ objectives/ core/"
  "experiments/program -> experiments/ reports/ assumptions/ objectives/ core/"
  "tests -> tests/ experiments/ reports/ assumptions/ objectives/ core/")

# "header -> where alone it may be included"
set(libraries
  "mpi.h -> core/cluster/mpi_world.cc core/cluster/mpi_message_queue.cc"
  "(torch|ATen|c10)/ -> objectives/torch/ tests/objectives/torch/"
  "(cuda|cub/|thrust/) -> core/vectors/cuda/")

function(starts_with_one_of text prefixes result)
  set(${result} FALSE PARENT_SCOPE)
  foreach(prefix ${prefixes})
    string(FIND "${text}" "${prefix}" at)
    if(at EQUAL 0)
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# The part after the arrow of the longest room that `file` is in.
function(allowed_for file result)
  set(best "")
  foreach(rule ${rules})
    string(REGEX MATCH "^(.+) -> (.+)$" _ "${rule}")
    set(room "${CMAKE_MATCH_1}")
    set(allowed "${CMAKE_MATCH_2}")
    string(FIND "${file}" "${room}" at)
    string(LENGTH "${room}" length)
    string(LENGTH "${best}" best_length)
    if(at EQUAL 0 AND length GREATER best_length)
      set(best "${room}")
      set(${result} "${allowed}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

set(faults 0)
function(fault text)
  message("${text}")
  math(EXPR count "${faults} + 1")
  set(faults ${count} PARENT_SCOPE)
endfunction()

macro(check_own file header)
  allowed_for(${file} allowed)
  string(REPLACE " " ";" allowed_list "${allowed}")
  starts_with_one_of(${header} "${allowed_list}" fine)
  if(NOT fine)
    fault("${file} includes \"${header}\"; it may include only: ${allowed}")
  endif()
endmacro()

set(private "(^|/)(impl|details?|internal|src|bits)/|-inl\\.h$")

macro(check_library file header)
  if("${header}" MATCHES "${private}")
    fault("${file} includes <${header}>, a private header of its library")
  endif()
  foreach(rule ${libraries})
    string(REGEX MATCH "^(.+) -> (.+)$" _ "${rule}")
    set(pattern "${CMAKE_MATCH_1}")
    string(REPLACE " " ";" places "${CMAKE_MATCH_2}")
    if("${header}" MATCHES "^${pattern}")
      starts_with_one_of(${file} "${places}" fine)
      if(NOT fine)
        fault("${file} includes <${header}>; that belongs in: ${places}")
      endif()
    endif()
  endforeach()
endmacro()

foreach(room core objectives assumptions reports experiments tests)
  foreach(ending h cc cu cuh)
    file(GLOB_RECURSE found RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/${room}/*.${ending})
    list(APPEND files ${found})
  endforeach()
endforeach()
foreach(file ${files})
  file(STRINGS ${SOURCE_DIR}/${file} lines REGEX "^ *# *include")
  foreach(line ${lines})
    if(line MATCHES "\"([^\"]+)\"")
      check_own(${file} ${CMAKE_MATCH_1})
    elseif(line MATCHES "<([^>]+)>")
      check_library(${file} ${CMAKE_MATCH_1})
    endif()
  endforeach()
endforeach()

list(LENGTH files count)
if(count EQUAL 0)
  message(FATAL_ERROR "no sources below ${SOURCE_DIR}")
endif()
if(faults GREATER 0)
  message(FATAL_ERROR "${faults} of the includes in ${count} files are against the direction")
endif()
message("${count} files include only what their rooms allow")

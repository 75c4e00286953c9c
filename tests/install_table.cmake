# Fails unless the table of libraries in experiments/install/README.md has the rows that the
# configuration checks. Run by ctest: cmake -DSOURCE_DIR=... -P tests/install_table.cmake

cmake_minimum_required(VERSION 3.25)

file(READ ${SOURCE_DIR}/CMakeLists.txt text)
string(REGEX MATCHALL "\nresiduum_need\\([^)]+\\)|\n +residuum_need\\([^)]+\\)" calls "${text}")
set(expected "")
foreach(call ${calls})
  string(REGEX REPLACE "[ \n]+" " " call "${call}")
  string(REGEX MATCH "residuum_need\\(([^ ]+) ([^ ]+) .*PACKAGES (.*)\\)" _ "${call}")
  set(row "${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
  separate_arguments(packages UNIX_COMMAND "${CMAKE_MATCH_3}")
  list(SUBLIST packages 0 3 packages)
  list(APPEND row ${packages})
  list(JOIN row " | " row)
  list(APPEND expected "| ${row} |")
endforeach()

file(STRINGS ${SOURCE_DIR}/experiments/install/README.md rows REGEX "^\\| .* \\| (build|build networks|test) \\|$")
list(TRANSFORM rows REPLACE " (build|build networks|test) \\|$" "")

list(LENGTH expected count)
if(count LESS 10 OR NOT rows STREQUAL expected)
  list(JOIN rows "\n" rows)
  list(JOIN expected "\n" expected)
  message(FATAL_ERROR " the page has\n${rows}\n the configuration checks\n${expected}")
endif()
message("${count} libraries are in the table as they are checked")

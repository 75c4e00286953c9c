# Installs what is built into an empty folder, builds the project beside this file against it, and
# looks at what its program does. BUILT, CLONE, FOLDER, SOURCES, GENERATOR, BUILD_TYPE,
# FLAGS, LAUNCHER.

# step(what command...): stops at a command that fails; its output is in `output`.
function(step what)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE code
                  OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what} failed with ${code}\n${out}\n${err}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

function(expect what text part)
  string(FIND "${text}" "${part}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${what} does not contain '${part}'")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
step("installation" ${CMAKE_COMMAND} --install ${BUILT} --prefix ${FOLDER}/prefix)
file(GLOB_RECURSE headers ${FOLDER}/prefix/include/residuum/torch_*.h)
if(headers)
  message(FATAL_ERROR "private headers were installed: ${headers}")
endif()

set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCES} -DCMAKE_PREFIX_PATH=${FOLDER}/prefix
    -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_CXX_FLAGS=${FLAGS}
    -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})

# What is installed does not say where it was built. CLONE is the folder of the repository.
foreach(installed bin/residuum bin/residuum-bench bin/residuum-report lib/libresiduum_core.a)
  file(STRINGS ${FOLDER}/prefix/${installed} places REGEX "${CLONE}/" LIMIT_COUNT 1)
  if(places)
    message(FATAL_ERROR "${installed} holds the path of the clone: ${places}")
  endif()
endforeach()

# A component and its tests need neither libtorch nor MPI.
step("configuration of the tests" ${configure} -B ${FOLDER}/tests -DWITH_PROGRAM=OFF
     -DCMAKE_DISABLE_FIND_PACKAGE_Torch=ON -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON)
step("build of the tests" ${CMAKE_COMMAND} --build ${FOLDER}/tests)
step("its tests" ${CMAKE_CTEST_COMMAND} --test-dir ${FOLDER}/tests --output-on-failure
     --no-tests=error)

# Libraries that have no CMake package are found by pkg-config, as the build finds them.
set(by_pkg_config "")
foreach(library CLI11 tomlplusplus Eigen3 hwy)
  list(APPEND by_pkg_config -DCMAKE_DISABLE_FIND_PACKAGE_${library}=ON)
endforeach()
step("configuration" ${configure} ${by_pkg_config} -B ${FOLDER}/build)
step("build" ${CMAKE_COMMAND} --build ${FOLDER}/build --target my_residuum)
set(program ${FOLDER}/build/my_residuum)
step("list" ${program} list sparsifiers)
expect("the list" "${output}" "window-k")
expect("the list" "${output}" "top-k")
step("run" ${program} run ${SOURCES}/study.toml --out ${FOLDER}/results --progress none)
step("report" ${program} report ${FOLDER}/results)
file(READ ${FOLDER}/results/report.html report)
expect("the report" "${report}" "<td>window-k</td>")

# Theorems go by laws: one that asks for a share of every accumulator has a verdict on window-k too.
file(READ ${FOLDER}/results/summary.json summary)
string(JSON groups LENGTH "${summary}" groups)
math(EXPR last_group "${groups} - 1")
set(verdicts "")
foreach(i RANGE ${last_group})
  string(JSON label GET "${summary}" groups ${i} label)
  string(JSON theorems LENGTH "${summary}" groups ${i} theorems)
  math(EXPR last_theorem "${theorems} - 1")
  foreach(j RANGE ${last_theorem})
    string(JSON name GET "${summary}" groups ${i} theorems ${j} name)
    string(JSON verdict GET "${summary}" groups ${i} theorems ${j} verdict)
    string(APPEND verdicts "${label}/${name}: ${verdict}\n")
  endforeach()
endforeach()
expect("the summary" "${verdicts}" "window-k/top-k: holds")
expect("the summary" "${verdicts}" "window-k/alistarh: not applicable")

# The problem of one's own, with what is known of it.
step("list" ${program} list objectives)
expect("the list" "${output}" "pseudo-huber")
step("run" ${program} run ${SOURCES}/own_problem.toml --out ${FOLDER}/own --progress none)
file(READ ${FOLDER}/own/summary.json summary)
string(JSON gap GET "${summary}" groups 0 metrics final_loss_gap median)
if(gap LESS 0 OR gap GREATER 5)  # it begins at 100 (sqrt(2) - 1) = 41
  message(FATAL_ERROR "f - f* ends at ${gap}")
endif()

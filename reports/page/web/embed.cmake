# Writes page_assets.cc: the page's style sheet and script and, where npm has fetched it, the library
# that the script draws with. Each text goes with its SHA-256, by which the page's security policy
# lets it in.
#
#   cmake -DSOURCE=reports/page/web -DOUTPUT=page_assets.cc -P embed.cmake

# The modules of d3 that scales and shapes need, each after those that it uses.
set(modules d3-array d3-color d3-format d3-interpolate d3-time d3-time-format d3-scale d3-path d3-shape)

set(code "// Made by reports/page/web/embed.cmake.\n\n#include \"reports/page/html.h\"\n\nnamespace residuum::reports {\n")

function(add_asset name text)
  string(SHA256 hash "${text}")
  set(code "${code}\nAsset ${name}() {\n  return {R\"residuum(${text})residuum\",\n    \"${hash}\"};\n}\n"
      PARENT_SCOPE)
endfunction()

file(READ ${SOURCE}/page.css style)
file(READ ${SOURCE}/figures.js figures)
file(READ ${SOURCE}/page.js script)
set(library "")
set(licences "")
foreach(module ${modules})
  set(file ${SOURCE}/node_modules/${module}/dist/${module}.min.js)
  if(EXISTS ${file})
    file(READ ${file} text)
    file(READ ${SOURCE}/node_modules/${module}/LICENSE licence)
    string(APPEND library "${text}\n")
    string(APPEND licences "${module}\n${licence}\n")
  else()
    set(library "")
    set(licences "")
    break()
  endif()
endforeach()
add_asset(page_style "${style}")
add_asset(page_script "${figures}${script}")
add_asset(page_library "${library}")
add_asset(page_library_licences "${licences}")
file(WRITE ${OUTPUT} "${code}\n}  // namespace residuum::reports\n")

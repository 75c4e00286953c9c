# Read by cpack: without these programs it would make a package that depends on no library.
foreach(program dpkg-shlibdeps file)
  find_program(found_${program} ${program})
  if(NOT found_${program})
    message(FATAL_ERROR " cpack needs ${program}: install the Debian packages dpkg-dev and file")
  endif()
endforeach()

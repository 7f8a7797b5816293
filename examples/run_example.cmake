# Runs an example with a fresh directory and compares what it prints. Those that work on the files
# of write_files.c find them there.
cmake_minimum_required(VERSION 3.22)
set(on_files compact_files scan listener cancel)

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
if(NAME IN_LIST on_files)
  execute_process(COMMAND ${EMULATOR} ${PREPARE} ${WORK}/data RESULT_VARIABLE code
    OUTPUT_QUIET)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "write_files failed: ${code}")
  endif()
endif()
execute_process(COMMAND ${EMULATOR} ${PROGRAM} ${WORK}/data RESULT_VARIABLE code
  OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${NAME} ended with ${code}: ${errors}")
endif()
file(READ ${EXPECTED} wanted)
if(NOT output STREQUAL wanted)
  message(FATAL_ERROR "${NAME} printed\n${output}instead of\n${wanted}")
endif()

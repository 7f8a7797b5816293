# How rooms, the library, tests and programs are made.

# sinter_room(compact partition.c ...): one object library a room; paths relative to the caller.
function(sinter_room name)
  add_library(sinter_${name} OBJECT ${ARGN})
  target_include_directories(sinter_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  target_compile_definitions(sinter_${name} PRIVATE SINTER_BUILDING)
  target_link_libraries(sinter_${name} PRIVATE sinter_flags ${SINTER_DEPENDENCIES})
  set_target_properties(sinter_${name} PROPERTIES C_VISIBILITY_PRESET hidden
    POSITION_INDEPENDENT_CODE ON)
  set_property(GLOBAL APPEND PROPERTY SINTER_ROOMS sinter_${name})
endfunction()

# The shared and the static library, made of all rooms.
function(sinter_library)
  get_property(rooms GLOBAL PROPERTY SINTER_ROOMS)
  set(objects "")
  foreach(room ${rooms})
    list(APPEND objects $<TARGET_OBJECTS:${room}>)
  endforeach()
  foreach(kind shared static)
    string(TOUPPER ${kind} upper)
    add_library(sinter_${kind} ${upper} ${objects})
    add_library(sinter::sinter_${kind} ALIAS sinter_${kind})
    set_target_properties(sinter_${kind} PROPERTIES OUTPUT_NAME sinter LINKER_LANGUAGE C
      EXPORT_NAME sinter_${kind} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    target_include_directories(sinter_${kind} PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(sinter_${kind} PRIVATE ${SINTER_DEPENDENCIES})
    if(SINTER_SANITIZE)
      target_link_options(sinter_${kind} PUBLIC -fsanitize=${SINTER_SANITIZE})
    endif()
    if(SINTER_COVERAGE)
      target_link_options(sinter_${kind} PUBLIC --coverage)
    endif()
  endforeach()
  # src/sinter.map lists what is exported; everything else stays inside.
  set(map ${PROJECT_SOURCE_DIR}/src/sinter.map)
  if(NOT APPLE)
    target_link_options(sinter_shared PRIVATE -Wl,--version-script=${map})
    set_property(TARGET sinter_shared APPEND PROPERTY LINK_DEPENDS ${map})
    if(NOT SINTER_SANITIZE)
      target_link_options(sinter_shared PRIVATE -Wl,--no-undefined)
    endif()
  endif()
endfunction()

# sinter_test_bed(sst sst_support.c ...): what the tests of a room share, compiled once.
function(sinter_test_bed room)
  add_library(test_bed_${room} STATIC ${ARGN})
  sinter_test_options(test_bed_${room})
endfunction()

# What is tested keeps the flags of the build. Optimising the tests themselves takes longer than it
# saves when they run.
function(sinter_test_options target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE sinter_flags sinter_test_support sinter_static
    ${SINTER_CRITERION} ${SINTER_DEPENDENCIES})
  if(SINTER_SANITIZE MATCHES address)
    target_compile_options(${target} PRIVATE -O0)
  elseif(CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# sinter_test(sst_block test_block.c ...): a Criterion program that sees the inside of the library.
# SINTER_TEST_TIMEOUT is instead of every test's own; suites whose size SINTER_TEST_SCALE decides
# have no timeout of Criterion's. Runs under the label of its room (the part before the first "_")
# and, optionally, LABELS. Rooms that others' threads run in are tested under ThreadSanitizer too,
# but for tests with SINGLE_THREADED.
function(sinter_test name)
  cmake_parse_arguments(arg "SINGLE_THREADED" "TIMEOUT" "LABELS;ARGS" ${ARGN})
  add_executable(test_${name} ${arg_UNPARSED_ARGUMENTS})
  string(REGEX REPLACE "_.*" "" room ${name})
  if(TARGET test_bed_${room})
    target_link_libraries(test_${name} PRIVATE test_bed_${room})
  endif()
  sinter_test_options(test_${name})
  add_test(NAME ${name} COMMAND test_${name} ${arg_ARGS})
  if(room MATCHES "^(base|io)$" AND NOT arg_SINGLE_THREADED)
    list(APPEND arg_LABELS threads)
  endif()
  if("threads" IN_LIST arg_LABELS)
    add_dependencies(tests_with_threads test_${name})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(SINTER_TEST_TIMEOUT)
    set(arg_TIMEOUT ${SINTER_TEST_TIMEOUT})
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "unit;${room};${arg_LABELS}"
    TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${SINTER_TEST_ENVIRONMENT}")
endfunction()

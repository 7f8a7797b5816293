# Options, dependencies, and the flags that every target of this tree is built with.
option(SINTER_WERROR "Treat warnings as errors" OFF)
option(SINTER_BUILD_PROGRAM "Build the sinter program" ON)
option(SINTER_BUILD_TESTS "Build the tests and examples" ${PROJECT_IS_TOP_LEVEL})
option(SINTER_BUILD_BENCH "Build the benchmarks" OFF)
option(SINTER_FUZZING "Build fuzz targets with libFuzzer; checksums are not compared" OFF)
option(SINTER_COVERAGE "Count line coverage" OFF)
option(SINTER_CI "A tool that a test needs and that is missing is an error, not a test less" OFF)
set(SINTER_TEST_TIMEOUT "" CACHE STRING "Seconds, instead of each test's own timeout")
set(SINTER_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined")
option(SINTER_WITH_URING "Use io_uring" ON)
option(SINTER_WITH_LZ4 "Build the lz4 codec in" ON)
option(SINTER_WITH_SNAPPY "Build snappy in, for Avro files" ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Targets of dependencies are made global, so that a project which adds this one as a subdirectory
# can link the static library.
if(NOT TARGET Threads::Threads)
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)
  set_target_properties(Threads::Threads PROPERTIES IMPORTED_GLOBAL TRUE)
endif()
find_package(PkgConfig REQUIRED)
set(SINTER_DEPENDENCIES Threads::Threads ${CMAKE_DL_LIBS} m)
set(SINTER_PC_REQUIRES "")
set(SINTER_PKG_MODULES "")

# sinter_depend(ZSTD libzstd): a library found by pkg-config, also for those who link statically.
macro(sinter_depend name module)
  pkg_check_modules(${name} REQUIRED IMPORTED_TARGET GLOBAL ${module})
  list(APPEND SINTER_DEPENDENCIES PkgConfig::${name})
  string(APPEND SINTER_PC_REQUIRES " ${module}")
  string(APPEND SINTER_PKG_MODULES
    "pkg_check_modules(${name} REQUIRED IMPORTED_TARGET GLOBAL ${module})\n")
endmacro()

sinter_depend(ZSTD libzstd)
sinter_depend(ZLIB zlib)
sinter_depend(XXHASH libxxhash)
sinter_depend(JANSSON jansson)
# On x86-64 the library can choose AVX2 at run time, if it was built so: a third of the time.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::XXHASH)
check_c_source_compiles("#include <xxh_x86dispatch.h>
  int main(void) { return (int)XXH3_64bits_dispatch(\"\", 0); }" SINTER_XXHASH_DISPATCHES)
unset(CMAKE_REQUIRED_LIBRARIES)
if(SINTER_WITH_LZ4)
  sinter_depend(LZ4 liblz4)
endif()
if(SINTER_WITH_SNAPPY)
  sinter_depend(SNAPPY snappy)
endif()
if(SINTER_WITH_URING AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  sinter_depend(URING liburing)
endif()

add_library(sinter_flags INTERFACE)
target_compile_definitions(sinter_flags INTERFACE _GNU_SOURCE
  $<$<BOOL:${SINTER_WITH_LZ4}>:SINTER_HAVE_LZ4> $<$<BOOL:${URING_FOUND}>:SINTER_HAVE_URING>
  $<$<BOOL:${SINTER_WITH_SNAPPY}>:SINTER_HAVE_SNAPPY>
  $<$<BOOL:${SINTER_XXHASH_DISPATCHES}>:SINTER_XXHASH_DISPATCHES>
  $<$<BOOL:${SINTER_FUZZING}>:SINTER_FUZZING>)
target_compile_options(sinter_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion
  -Wcast-qual -Wundef -Wvla -Wformat=2 -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
  $<$<BOOL:${SINTER_WERROR}>:-Werror>)
if(SINTER_SANITIZE)
  target_compile_options(sinter_flags INTERFACE -fsanitize=${SINTER_SANITIZE}
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(sinter_flags INTERFACE -fsanitize=${SINTER_SANITIZE})
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # What gcc derives from value ranges is wrong in instrumented code; the other builds warn.
    target_compile_options(sinter_flags INTERFACE -Wno-format-truncation -Wno-stringop-overflow
      -Wno-maybe-uninitialized)
  endif()
endif()
if(SINTER_FUZZING)
  target_compile_options(sinter_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(SINTER_COVERAGE)
  target_compile_options(sinter_flags INTERFACE --coverage)
  target_link_options(sinter_flags INTERFACE --coverage)
endif()

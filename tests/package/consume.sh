#!/bin/sh
# consume.sh WAY SOURCE BUILD SCRATCH CC LIBDIR DOCDIR: build a program of somebody else, or the
# examples, against sinter in one of the ways that are promised, and run it.
set -eu
way=$1 source=$2 build=$3 scratch=$4 cc=$5 libdir=$6 docdir=$7
here=$source/tests/package/consumer

rm -rf "$scratch"
mkdir -p "$scratch"
if [ "$way" != add_subdirectory ]; then
    # Installed, then moved: nothing may depend on the prefix of the day of the build.
    cmake --install "$build" --prefix "$scratch/first" >"$scratch/install.log"
    mv "$scratch/first" "$scratch/prefix"
fi
PKG_CONFIG_PATH=$scratch/prefix/$libdir/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
LD_LIBRARY_PATH=$scratch/prefix/$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PKG_CONFIG_PATH
examples=$scratch/prefix/$docdir/examples

case $way in
find_package)
    cmake -S "$here" -B "$scratch/build" -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_PREFIX_PATH="$scratch/prefix" -DWAY=find_package
    cmake --build "$scratch/build"
    "$scratch/build/consumer_shared" "$scratch"
    "$scratch/build/consumer_static" "$scratch"
    ;;
add_subdirectory)
    # How it is linked is what matters here: not optimised, it is built in a fifth of the time.
    cmake -S "$here" -B "$scratch/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS_DEBUG=-O0 -DSINTER_BUILD_COLUMNAR=OFF -DWAY=add_subdirectory \
        -DSINTER_SOURCE="$source"
    cmake --build "$scratch/build" -j 2
    "$scratch/build/consumer_shared" "$scratch"
    "$scratch/build/consumer_static" "$scratch"
    ;;
pkg_config)
    # shellcheck disable=SC2046 # the flags are words
    "$cc" -o "$scratch/consumer" "$here/consumer.c" $(pkg-config --cflags --libs sinter)
    export LD_LIBRARY_PATH
    "$scratch/consumer" "$scratch"
    ;;
pkg_config_static)
    rm "$scratch/prefix/$libdir"/libsinter.so*
    # shellcheck disable=SC2046
    "$cc" -o "$scratch/consumer" "$here/consumer.c" $(pkg-config --static --cflags --libs sinter)
    "$scratch/consumer" "$scratch"
    ;;
examples_find_package)
    # What is installed is all there is: sources and expected output lie in the prefix too.
    cmake -S "$examples" -B "$scratch/build" -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_PREFIX_PATH="$scratch/prefix"
    cmake --build "$scratch/build"
    ctest --test-dir "$scratch/build" --output-on-failure --no-tests=error
    ;;
examples_pkg_config)
    export LD_LIBRARY_PATH
    for source in "$examples"/*.c; do
        name=$(basename "$source" .c)
        # shellcheck disable=SC2046
        "$cc" -std=c11 -Wall -Wextra -Werror -pthread -o "$scratch/$name" "$source" \
            $(pkg-config --cflags --libs sinter)
    done
    for source in "$examples"/*.c; do
        name=$(basename "$source" .c)
        cmake -DNAME="$name" -DPROGRAM="$scratch/$name" -DPREPARE="$scratch/write_files" \
            -DWORK="$scratch/run_$name" -DEXPECTED="$examples/expected/$name.txt" \
            -P "$examples/run_example.cmake"
    done
    ;;
*)
    echo "unknown way $way" >&2
    exit 2
    ;;
esac

#!/bin/sh
# Build the Debian package and the source archive into dist/, and look into both.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(sinter VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

mkdir -p dist
git archive --format=tar.gz --prefix="sinter-$version/" -o "dist/sinter-$version.tar.gz" HEAD
tar -tzf "dist/sinter-$version.tar.gz" "sinter-$version/CMakeLists.txt" >/dev/null

# No package of Debian's has Apache Arrow, which libsinter_columnar would depend on.
cmake --preset release -B build/dist -DSINTER_BUILD_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/usr \
    -DSINTER_BUILD_COLUMNAR=OFF
cmake --build build/dist -j "$(nproc)"
(cd build/dist && cpack -G DEB -B "$PWD/../../dist")
rm -rf dist/_CPack_Packages
for package in dist/*"_${version}_"*.deb; do
    dpkg-deb --info "$package"
    dpkg-deb --contents "$package" >build/dist/contents
    for file in bin/sinter include/sinter/sinter.h pkgconfig/sinter.pc sinterConfig.cmake; do
        grep -q "/$file$" build/dist/contents || {
            echo "dist: $package lacks $file" >&2
            exit 1
        }
    done
done
ls -l dist

# Cross-building for 64-bit ARM with Debian's compiler. Libraries come from the folder that
# tools/aarch64.sh fills; programs are static, so that qemu-user needs nothing else.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(SINTER_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-libraries/root)

set(CMAKE_FIND_ROOT_PATH ${SINTER_SYSROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${SINTER_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${SINTER_SYSROOT})
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)

find_program(SINTER_QEMU NAMES qemu-aarch64-static qemu-aarch64 REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR ${SINTER_QEMU})

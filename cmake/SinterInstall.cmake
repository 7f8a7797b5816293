# What `cmake --install` puts where, and the packages that `make dist` builds.
include(CMakePackageConfigHelpers)

install(TARGETS sinter_shared sinter_static EXPORT sinterTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/sinter DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/sinter/version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sinter)
if(TARGET sinter)
  install(TARGETS sinter RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# find_package(sinter)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sinter)
install(EXPORT sinterTargets NAMESPACE sinter:: DESTINATION ${package_dir})
configure_package_config_file(cmake/sinterConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/sinterConfig.cmake INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/sinterConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/sinterConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/sinterConfigVersion.cmake DESTINATION ${package_dir})

# pkg-config: the prefix follows from where the file lies, so that it is right wherever the tree
# was installed or moved.
file(RELATIVE_PATH SINTER_PC_PREFIX /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
string(REGEX REPLACE "/$" "" SINTER_PC_PREFIX "${SINTER_PC_PREFIX}")
configure_file(cmake/sinter.pc.in ${PROJECT_BINARY_DIR}/sinter.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sinter.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Documents, examples, man pages, completions.
install(FILES README.md CHANGELOG.md THIRD_PARTY.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.md" PATTERN "plan.md" EXCLUDE)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR}) # a project of its own there
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.[1-8])
foreach(page ${pages})
  string(REGEX MATCH "[1-8]$" section ${page})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
if(EXISTS ${PROJECT_SOURCE_DIR}/completions/sinter.bash)
  install(FILES completions/sinter.bash RENAME sinter
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/completions/_sinter)
  install(FILES completions/_sinter DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/completions/sinter.fish)
  install(FILES completions/sinter.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# The Debian package, of `cpack -G DEB`.
set(CPACK_PACKAGE_NAME sinter)
set(CPACK_PACKAGE_VENDOR "The sinter authors")
set(CPACK_PACKAGE_CONTACT "The sinter authors <sinter@packages.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "LSM compaction engine: library and program")
set(CPACK_PACKAGE_DESCRIPTION "sinter takes sorted files that overlap, decides the least work that
 restores order, does it, and says exactly what changed. This package holds the
 library, its headers and the sinter program.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS
  "libzstd-dev, liblz4-dev, libxxhash-dev, libjansson-dev, liburing-dev, zlib1g-dev, libsnappy-dev")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
include(CPack)

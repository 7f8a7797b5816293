# What `cmake --install` puts where.
install(TARGETS sinter_shared sinter_static EXPORT sinterTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/sinter DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/sinter/version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sinter)

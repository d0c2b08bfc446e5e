# SQLite inside our programs where its archive is installed, so that they run on hosts without it.
option(GRADWATT_STATIC_SQLITE "Link SQLite's archive where it is installed" ON)
find_library(GRADWATT_SQLITE_ARCHIVE libsqlite3.a)
mark_as_advanced(GRADWATT_SQLITE_ARCHIVE)
if(GRADWATT_STATIC_SQLITE AND GRADWATT_SQLITE_ARCHIVE)
  set(SQLite3_LIBRARY ${GRADWATT_SQLITE_ARCHIVE} CACHE FILEPATH "SQLite as an archive" FORCE)
endif()
find_package(SQLite3 REQUIRED)
if(GRADWATT_STATIC_SQLITE AND GRADWATT_SQLITE_ARCHIVE)
  # The archive calls libm, and dlopen and threads where libc does not hold them.
  target_link_libraries(SQLite::SQLite3 INTERFACE m Threads::Threads ${CMAKE_DL_LIBS})
endif()

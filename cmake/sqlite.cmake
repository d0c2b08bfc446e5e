# SQLite inside our programs where its archive is installed, so that they run on hosts without it.
find_library(GRADWATT_SQLITE_ARCHIVE libsqlite3.a)
if(GRADWATT_SQLITE_ARCHIVE AND NOT SQLite3_LIBRARY)
  set(SQLite3_LIBRARY ${GRADWATT_SQLITE_ARCHIVE} CACHE FILEPATH "SQLite as an archive")
endif()
find_package(SQLite3 REQUIRED)
if(GRADWATT_SQLITE_ARCHIVE)
  # The archive calls the mathematical functions of libm, and dlopen and threads where libc does not hold them.
  target_link_libraries(SQLite::SQLite3 INTERFACE m Threads::Threads ${CMAKE_DL_LIBS})
endif()

# zlib inside our programs where its archive is installed, so that they run on hosts without it.
find_library(GRADWATT_ZLIB_ARCHIVE libz.a)
mark_as_advanced(GRADWATT_ZLIB_ARCHIVE)
if(GRADWATT_ZLIB_ARCHIVE)
  set(ZLIB_LIBRARY_RELEASE ${GRADWATT_ZLIB_ARCHIVE} CACHE FILEPATH "zlib as an archive" FORCE)
endif()
find_package(ZLIB REQUIRED)

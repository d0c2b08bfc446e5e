# pugixml inside our programs where its archive is installed, so that they run on hosts without it.
find_package(pugixml REQUIRED)
add_library(gradwatt_pugixml INTERFACE)
add_library(gradwatt::pugixml ALIAS gradwatt_pugixml)
if(TARGET pugixml::static)
  target_link_libraries(gradwatt_pugixml INTERFACE pugixml::static)
else()
  target_link_libraries(gradwatt_pugixml INTERFACE pugixml::pugixml)
endif()

# The target warpalign_opencv_core: OpenCV's matrices, for one example and one test. It exists only
# if they are installed. (Debian's libopencv-core-dev has no CMake package.)
find_path(WARPALIGN_OPENCV_INCLUDE opencv2/core.hpp PATH_SUFFIXES opencv4)
find_library(WARPALIGN_OPENCV_CORE opencv_core)
if(WARPALIGN_OPENCV_INCLUDE AND WARPALIGN_OPENCV_CORE)
  add_library(warpalign_opencv_core INTERFACE)
  target_include_directories(warpalign_opencv_core SYSTEM INTERFACE ${WARPALIGN_OPENCV_INCLUDE})
  target_link_libraries(warpalign_opencv_core INTERFACE ${WARPALIGN_OPENCV_CORE})
endif()

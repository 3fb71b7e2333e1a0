# For CMake: Debian's own compiler for one of its architectures, this machine's or another one, whose packages
# `deploy/setup.sh build ARCHITECTURE` installs. protoc and gRPC's plug-in stay this machine's.
#
#   cmake --preset release --toolchain deploy/debian.cmake -DTRELU_ARCHITECTURE=arm64
set(TRELU_ARCHITECTURE "" CACHE STRING "As Debian calls it: amd64 or arm64; empty: this machine's")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TRELU_ARCHITECTURE)
if(TRELU_ARCHITECTURE STREQUAL amd64)
  set(CMAKE_SYSTEM_PROCESSOR x86_64)
elseif(TRELU_ARCHITECTURE STREQUAL arm64)
  set(CMAKE_SYSTEM_PROCESSOR aarch64)
elseif(TRELU_ARCHITECTURE)
  message(FATAL_ERROR "TRELU_ARCHITECTURE is ${TRELU_ARCHITECTURE}, expected amd64 or arm64")
endif()
if(CMAKE_SYSTEM_PROCESSOR)
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_CXX_COMPILER ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-g++)
  # gRPC's package file looks for one library by pkg-config alone.
  set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu/pkgconfig:/usr/share/pkgconfig)
endif()

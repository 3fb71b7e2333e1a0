# trelu-server in an image that holds the server, the trelu command, the libraries they load, the licences of all of it,
# and nothing else: no shell, no package manager. Builds with docker (BuildKit) or podman. deploy/check_image.sh checks it.
#
#   docker build -t trelu .
#   docker run --rm --stop-timeout 30 -p 8001:8001 -p 8002:8002 --read-only --cap-drop ALL trelu
#
# Another architecture (amd64, arm64) is compiled for crosswise, so that nothing is emulated:
#
#   docker build --platform linux/arm64 -t trelu .
#   podman build --platform linux/arm64 --build-arg BUILDPLATFORM=linux/amd64 -t trelu .    # podman 4 sets none itself
#
# A release passes the base by digest: --build-arg BASE=debian:bookworm-slim@sha256:...
ARG BASE=debian:bookworm-slim
# The project's version in CMakeLists.txt; the build compares them.
ARG VERSION=0.1.0

FROM --platform=$BUILDPLATFORM ${BASE} AS build
ARG TARGETARCH
WORKDIR /src
# First what seldom changes, so that a change of source does not install packages again.
COPY deploy/apt-packages.txt deploy/setup.sh deploy/
RUN deploy/setup.sh build $TARGETARCH && rm -rf /var/lib/apt/lists/*
COPY CMakeLists.txt CMakePresets.json ./
COPY core core
COPY proto proto
COPY server server
COPY client client
COPY deploy/debian.cmake deploy/
ARG VERSION
RUN grep -q "^project(trelu VERSION $VERSION " CMakeLists.txt \
      || { echo "VERSION is $VERSION, which is not that of CMakeLists.txt" >&2; exit 1; }; \
    cmake --preset release -DTRELU_BUILD_TESTS=OFF \
      --toolchain deploy/debian.cmake -DTRELU_ARCHITECTURE=$TARGETARCH \
    && cmake --build --preset release --target trelu-server trelu_command \
    && for component in server client; do \
         DESTDIR=/out cmake --install build/release --prefix /usr/local --component $component --strip || exit; \
       done \
    && rm -r build
COPY LICENSE ./
COPY deploy/shipped.py deploy/image_root.py deploy/sbom.py deploy/
# The time that the bill of materials says it was made at; left out: now.
ARG SOURCE_DATE_EPOCH
RUN deploy/image_root.py /image /out/usr/local/bin/* \
    && mkdir /image/usr/share/doc/trelu \
    && cp LICENSE /image/usr/share/doc/trelu/ \
    && deploy/sbom.py --version "$VERSION" --as /usr/local/bin --package base-files --package ca-certificates \
         --binary /image/usr/local/bin/trelu-server --binary /image/usr/local/bin/trelu \
         > /image/usr/share/doc/trelu/trelu.spdx.json

FROM scratch AS runtime
# First: older podman takes what comes before it from its cache, whatever the platform.
COPY --from=build /image/ /
ARG VERSION
LABEL org.opencontainers.image.title="trelu" \
      org.opencontainers.image.description="ONNX ThresholdedRelu as a network service" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.licenses="Apache-2.0"
# A number: Kubernetes cannot tell whether a name is root.
USER 65532:65532
EXPOSE 8001 8002
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["/usr/local/bin/trelu", "health", "--quiet", "--timeout", "2"]
ENTRYPOINT ["/usr/local/bin/trelu-server"]

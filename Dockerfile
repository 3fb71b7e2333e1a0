# trelu-server in an image that holds the server, the trelu command, the libraries they load, and nothing else: no
# shell, no package manager. Builds with docker or podman.
#
#   docker build -t trelu .
#   docker run --rm -p 8001:8001 -p 8002:8002 --read-only --cap-drop ALL trelu
#
# A release passes the base by digest: --build-arg BASE=debian:bookworm-slim@sha256:...
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS build
WORKDIR /src
# First what seldom changes, so that a change of source does not install packages again.
COPY deploy/apt-packages.txt deploy/setup.sh deploy/
RUN deploy/setup.sh build && rm -rf /var/lib/apt/lists/*
COPY . .
RUN cmake --preset release -DTRELU_BUILD_TESTS=OFF \
    && cmake --build --preset release --target trelu-server trelu_command \
    && for component in server client; do \
         DESTDIR=/out cmake --install build/release --prefix /usr/local --component $component --strip || exit; \
       done

# The image's root: our programs; every library that the loader opens, at the loader's own paths; the resolver's
# plug-ins, which no ldd shows; an account; the authorities that a TLS client trusts; and dpkg's entries, which
# image scanners read.
RUN set -eu; \
    libraries=/lib/$(gcc -print-multiarch); \
    for program in /out/usr/local/bin/*; do ldd "$program" | grep -oE '/[^ ]+'; done | sort -u > /closure; \
    for name in libnss_files.so.2 libnss_dns.so.2 libresolv.so.2; do echo "$libraries/$name"; done >> /closure; \
    while read -r file; do install -D "$(realpath "$file")" "/image$file"; done < /closure; \
    cp -a /out/. /image; \
    cd /image; \
    mkdir -p etc/ssl/certs tmp proc sys dev run var/lib/dpkg/status.d; \
    chmod 1777 tmp; \
    cp /etc/ssl/certs/ca-certificates.crt etc/ssl/certs/; \
    echo 'trelu:x:65532:65532::/nonexistent:/sbin/nologin' > etc/passwd; \
    echo 'trelu:x:65532:' > etc/group; \
    echo 'hosts: files dns' > etc/nsswitch.conf; \
    while read -r file; do dpkg -S "$(realpath "$file")" 2> /dev/null || dpkg -S "$file" 2> /dev/null || true; done \
      < /closure | cut -d: -f1 | sort -u \
      | while read -r package; do dpkg -s "$package" > "var/lib/dpkg/status.d/$package"; done

FROM scratch AS runtime
COPY --from=build /image/ /
# A number: Kubernetes cannot tell whether a name is root.
USER 65532:65532
EXPOSE 8001 8002
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["/usr/local/bin/trelu", "health", "--quiet", "--timeout", "2"]
ENTRYPOINT ["/usr/local/bin/trelu-server"]

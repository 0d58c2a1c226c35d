# alphorn in a container, from the release archive:
#
#     docker build --tag alphorn .
#     docker run --rm --volume "$PWD:/data" alphorn FILE.smt2 --model
#
# The first stage builds and tries the archive; the second has nothing but it.
FROM rust:1.88-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends python3 python3-pip python3-venv binutils \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /alphorn
COPY . .
RUN scripts/release --out /release && mkdir /unpacked \
    && tar --extract --file /release/alphorn-*.tar.gz --directory /unpacked --strip-components 1

FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends libstdc++6 && rm -rf /var/lib/apt/lists/*
COPY --from=build /unpacked /opt/alphorn
RUN ln -s /opt/alphorn/alphorn /usr/local/bin/alphorn && alphorn /opt/alphorn/examples/vinta-fig2a-safe.smt2
WORKDIR /data
ENTRYPOINT ["alphorn"]

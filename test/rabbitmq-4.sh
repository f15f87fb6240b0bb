#!/usr/bin/env bash
# RabbitMQ 4.3 beside the installed one, for the tests (AMQP_URL_4): `test/rabbitmq-4.sh start DIR`, `test/rabbitmq-4.sh stop DIR`.
# The first start installs it with Debian's next release in DIR, in a minute; later ones take seconds. Needs root and Debian.
# RABBITMQ_4_PORT is the port of AMQP (5674), and with a 1 before it that of the management API.
set -euo pipefail
dir=${2:?the directory of the installation}
port=${RABBITMQ_4_PORT:-5674}
root=$dir/forky
node=rabbit-$port@localhost

# The name of the other node is not for this one.
in_root() { env -u RABBITMQ_NODENAME chroot "$root" "$@"; }

mounted() { mountpoint -q "$root/$1" || mount "${@:2}" "$root/$1"; }

mount_all() {
  mounted proc -t proc proc
  mounted dev --bind /dev
}

install_all() {
  export DEBIAN_FRONTEND=noninteractive
  if ! command -v debootstrap >/dev/null; then
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
  fi
  local mirror
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -m 1 '/debian/*$')
  # What an earlier try left. Its /dev is that of the machine: it must not be removed with it.
  umount "$root/dev" "$root/proc" 2>/dev/null || true
  rm -rf --one-file-system "${root:?}"
  mkdir -p "$root"
  # An older debootstrap does not know the release by name.
  debootstrap --variant=minbase forky "$root" "$mirror" /usr/share/debootstrap/scripts/sid
  mount_all
  cp /etc/resolv.conf "$root/etc/"
  echo '127.0.0.1 localhost' >"$root/etc/hosts"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # starts no service
  chmod +x "$root/usr/sbin/policy-rc.d"
  in_root apt-get install -y -qq --no-install-recommends rabbitmq-server
}

start() {
  mkdir -p "$dir"
  [ -f "$root/installed" ] || { install_all >"$dir.log" 2>&1 && touch "$root/installed"; } || { tail -n 5 "$dir.log" >&2; return 1; }
  mount_all
  printf '%s\n' "listeners.tcp.default = 127.0.0.1:$port" "management.tcp.ip = 127.0.0.1" "management.tcp.port = 1$port" >"$root/etc/rabbitmq/rabbitmq.conf"
  printf '%s\n' "NODENAME=$node" "DIST_PORT=$((port + 20000))" >"$root/etc/rabbitmq/rabbitmq-env.conf"
  echo '[rabbitmq_management].' >"$root/etc/rabbitmq/enabled_plugins"
  in_root rabbitmq-server -detached
  # It cannot be asked before it has a name on this machine.
  local left=60
  until in_root rabbitmqctl -q -n "$node" await_startup --timeout 120 2>/dev/null; do
    ((left -= 1)) || { echo "RabbitMQ does not start; see $root/var/log/rabbitmq" >&2; return 1; }
    sleep 1
  done
  echo "RabbitMQ $(in_root rabbitmqctl -q -n "$node" version) at port $port"
}

stop() { in_root rabbitmqctl -q -n "$node" stop; }

case $1 in
  start | stop) "$1" ;;
  *) echo 'start or stop' >&2 && exit 64 ;;
esac

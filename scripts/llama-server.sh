#!/usr/bin/env bash
# Unpacks Debian's llama.cpp server into a folder, once, with the libraries that it
# needs, libc included: nothing is installed, no root is needed, and any Linux will
# do. Tests of model/openai and model/anthropic call that server: it is a program
# that we did not write, and speaks their wires. Where it cannot be fetched this
# script says so and goes on; those tests then check what they can without, except
# in CI, where they fail.
set -euo pipefail

dir=${1:?usage: scripts/llama-server.sh DIR}

# Debian 12 and 13 have no llama.cpp yet, so it comes from the release after them.
suite=forky
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
packages=(llama.cpp-tools libllama0 libggml0 libc6 libgcc-s1 libstdc++6 libgomp1 libssl3t64 libzstd1 zlib1g)
keys=/usr/share/keyrings/debian-archive-keyring.gpg

if [ -x "$dir/llama-server" ]; then
  exit 0
fi

give_up() {
  echo "llama-server: $1; the tests go on without it" >&2
  exit 0
}

case $(uname -sm) in
  "Linux x86_64") arch=amd64 triplet=x86_64-linux-gnu loader=ld-linux-x86-64.so.2 ;;
  "Linux aarch64") arch=arm64 triplet=aarch64-linux-gnu loader=ld-linux-aarch64.so.1 ;;
  *) give_up "there is none for $(uname -sm)" ;;
esac
for tool in curl xz dpkg-deb sha256sum awk; do
  command -v "$tool" >/dev/null || give_up "$tool is not installed"
done

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
scratch=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# fetch PATH FILE gets a file from the mirror.
fetch() {
  curl -fsS --retry 2 --max-time 300 -o "$2" "$mirror/$1"
}

# check SUM FILE ends the script if a file is not the one that was promised.
check() {
  if ! echo "$1  $2" | sha256sum -c --quiet >/dev/null 2>&1; then
    echo "llama-server: error: $(basename "$2") is not the file that Debian has" >&2
    exit 1
  fi
}

echo "llama-server: fetching Debian's llama.cpp (20 MB) into $dir" >&2
index=main/binary-$arch/Packages.xz
fetch "dists/$suite/InRelease" "$scratch/InRelease" || give_up "$mirror does not answer"
# The signature is what makes the sums worth checking. Where there are no keys to
# check it with, the way to the mirror must be safe.
if command -v gpgv >/dev/null && [ -f "$keys" ]; then
  if ! gpgv -q --keyring "$keys" "$scratch/InRelease" 2>/dev/null; then
    echo "llama-server: error: Debian did not sign what $mirror sent" >&2
    exit 1
  fi
elif [ "${mirror#https://}" = "$mirror" ]; then
  give_up "there is no gpgv with Debian's keys to check it; set DEBIAN_MIRROR to an https address"
fi
sum=$(awk -v name="$index" '/^SHA256:/ { on = 1; next } /^[^ ]/ { on = 0 } on && $3 == name { print $1 }' "$scratch/InRelease")
fetch "dists/$suite/$index" "$scratch/Packages.xz" || give_up "$mirror has no $index"
check "$sum" "$scratch/Packages.xz"
xz -dc "$scratch/Packages.xz" >"$scratch/Packages"

mkdir "$scratch/root"
for package in "${packages[@]}"; do
  read -r path sum < <(awk -v want="$package" '
    /^Package: / { on = $2 == want }
    on && /^Filename: / { path = $2 }
    on && /^SHA256: / { sum = $2 }
    END { print path, sum }' "$scratch/Packages")
  [ -n "$path" ] || give_up "Debian $suite has no $package"
  fetch "$path" "$scratch/package.deb" || give_up "$mirror has no $path"
  check "$sum" "$scratch/package.deb"
  dpkg-deb -x "$scratch/package.deb" "$scratch/root"
done

# The server looks for its backends beside the running program, which is the loader
# here.
lib=usr/lib/$triplet
(cd "$scratch/root/$lib" && ln -sf ggml/backends0/*.so .)
rm -rf "$dir/root"
mv "$scratch/root" "$dir/root"

# This comes last: with it the folder is whole, should this be cut short.
cat >"$scratch/llama-server" <<WRAPPER
#!/bin/sh
root=\$(cd "\$(dirname "\$0")" && pwd)/root
lib=\$root/$lib
exec "\$lib/$loader" --library-path "\$lib:\$lib/llama" "\$root/usr/bin/llama-server" "\$@"
WRAPPER
chmod +x "$scratch/llama-server"
mv "$scratch/llama-server" "$dir/llama-server"

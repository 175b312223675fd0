#!/usr/bin/env bash
# Runs script/release with stand-ins for the scripts that build: their files are collected,
# identical in a second run, and if one of them fails nothing is published.
#
#   check_release_parts.sh SOURCE WORK
set -euo pipefail
source=$1
work=$2
rm -rf "$work"
mkdir -p "$work/tmp"
export TMPDIR=$work/tmp
git clone -q "$source" "$work/clone"
cd "$work/clone"

stand_in() {
  printf '#!/usr/bin/env bash\nset -e\n%s\n' "$2" >"script/$1"
}
stand_in package 'mkdir -p build/packages
echo package >build/packages/part_1_amd64.deb
echo {} >build/warpalign.spdx.json
printf "file(WRITE \${CMAKE_INSTALL_PREFIX}/done yes)\n" >build/cmake_install.cmake
echo "$@" >>'"$work/options"
stand_in python-test 'mkdir -p build-python/dist
echo wheel >build-python/dist/part-1-py3-none-any.whl'
stand_in docs 'test -e "$2/done"
mkdir -p build/docs/sub
echo page >build/docs/index.html
echo page >build/docs/sub/page.html'
commit() {
  git -c user.name=test -c user.email=test@localhost commit -qam "$1"
}
commit "stand-ins"

umask 022
WARPALIGN_CMAKE_OPTIONS="-DONE=1 -DTWO=2" script/release HEAD "$work/first" >/dev/null
umask 077
script/release HEAD "$work/second" >/dev/null
umask 022
cmp "$work/first/SHA256SUMS" "$work/second/SHA256SUMS"
[ "$(wc -l <"$work/first/SHA256SUMS")" -eq 5 ]
(cd "$work/first" && sha256sum --quiet -c SHA256SUMS)
head -n 1 "$work/options" | grep -q -- '-DWARPALIGN_CUDA_ARCHITECTURES=released -DONE=1 -DTWO=2$'
tar -tzf "$work"/first/*-documentation.tar.gz | grep -q 'documentation/sub/page.html$'

# A part that is skipped without an error, for example because PyPI is not reachable, prevents a
# release.
stand_in python-test 'echo "skipped: python-test"'
commit "no wheel"
if script/release HEAD "$work/third" >/dev/null 2>&1; then
  echo "a release without its wheel is no failure" >&2
  exit 1
fi
[ ! -e "$work/third/SHA256SUMS" ]
[ -z "$(ls -A "$TMPDIR")" ]

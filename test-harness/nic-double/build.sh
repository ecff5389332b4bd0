# shellcheck shell=bash
# What the builds of the doubles share: sourced by each double's `build`, which has set
#   double   its name
#   here     its folder
#   header   a header that its libraries need, below /usr/include, and `package`, which has it
# and defines
#   make_libraries DIR  builds into DIR/lib and DIR/bin by `compile`
# and calls build_double with its own arguments.

shared=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# The sources that every double's libibverbs is made of, beside its own.
shared_sources=()
for part in wire settings process pairs regions rings copying devices loader; do
  shared_sources+=("$shared/src/main/c/$part.c")
done
tool_sources=("$shared/src/main/c/wire-tool.c" "$shared/src/main/c/wire.c")
# What probes of libfabric's providers are made of, beside the double's own and its tables.c.
fact_sources=("$shared"/src/test/c/{facts,fabric,plays-*}.c "$shared/src/main/c/wire.c")
case_sources=("$shared"/src/test/c/{cases,checks,peers}.c)

say() { printf '%s: %s\n' "$double" "$*" >&2; }
fail() {
  say "$*"
  exit 1
}

compile() {
  gcc -std=gnu17 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wshadow -Werror \
    "-I$here/src/main/c" "-I$shared/src/main/c" "-I$shared/src/test/c" "$@"
}

# One file for each device of /sys: its driver, its place on the bus, its NUMA node.
#   make_sys DIR DRIVER NAME...  the devices' names, in their order
make_sys() {
  local sys=$1 driver=$2 i=0 pci name
  shift 2
  mkdir -p "$sys/class/infiniband_verbs" "$sys/class/infiniband" "$sys/bus/pci/drivers/$driver" "$sys/bus/pci/devices"
  echo 1 >"$sys/class/infiniband_verbs/abi_version"
  for name in "$@"; do
    pci=devices/pci0000:$((i / 4 * 8))0/$(printf '0000:%d0:%02x.0' $((i / 4 * 8)) $((6 + i)))
    mkdir -p "$sys/$pci" "$sys/class/infiniband/$name"
    echo $((i / 4)) >"$sys/$pci/numa_node"
    ln -s "../../../bus/pci/drivers/$driver" "$sys/$pci/driver"
    ln -s "../../../$pci" "$sys/class/infiniband/$name/device"
    ln -s "../../../$pci" "$sys/bus/pci/devices/${pci##*/}"
    i=$((i + 1))
  done
}

# The scripts and sources that a build is of.
inputs() { printf '%s\n' "$here/build" "$shared/build.sh" "$here"/src/*/c/* "$shared"/src/*/c/*; }

is_stale() {
  local files
  mapfile -t files < <(inputs)
  [[ ! -e $into/built ]] || [[ -n $chosen && -n $(find "${files[@]}" -newer "$into/built" -print -quit) ]]
}

build_double() {
  into=
  chosen=
  case ${1:-} in
    --into)
      (($# == 2)) || fail '--into needs a folder'
      into=$2
      chosen=yes
      ;;
    -h | --help)
      sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$here/build"
      exit 0
      ;;
    '') ;;
    *) fail "unknown argument: $1" ;;
  esac
  if [[ -z $into ]]; then
    [[ -n ${XDG_CACHE_HOME:-}${HOME:-} ]] || fail 'neither HOME nor XDG_CACHE_HOME is set; give --into DIR'
    # One for each state of the sources, and never changed: trees are tested beside each other, and processes start from it.
    into=${XDG_CACHE_HOME:-$HOME/.cache}/jofi/$double/$({
      ls /usr/include/rdma/fabric.h 2>&1 || :
      inputs | xargs -d '\n' cat
    } | sha256sum | cut -c1-12)
  fi
  mkdir -p "$into"
  into=$(cd "$into" && pwd -P)
  command -v gcc >/dev/null || fail 'gcc is missing (Debian: apt-get install gcc libc6-dev)'
  [[ -e /usr/include/$header ]] || fail "the header $header is missing (Debian: apt-get install $package)"
  exec 9>"$into.lock"
  flock 9
  if is_stale; then
    [[ -e $into/built || -z $(ls -A "$into") ]] || fail "$into holds something else; give --into an empty folder"
    say "building the $what in $into"
    work=$(mktemp -d "$into.XXXXXX")
    trap 'rm -rf -- "$work"' EXIT
    mkdir -p "$work/lib" "$work/bin"
    make_libraries "$work"
    compile -o "$work/bin/$double-wire" "${tool_sources[@]}" "$here/src/main/c/tables.c" -lpthread
    touch "$work/built"
    rm -rf -- "$into"
    mv "$work" "$into"
  fi
  printf '%s\n' "$into"
}

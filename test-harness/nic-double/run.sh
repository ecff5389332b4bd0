# shellcheck shell=bash
# What the doubles' `run` share: sourced by each, which has set
#   double   its name
#   here     its folder
#   valued   its options that have a value, one a line, each a setting of the double but --wire
# and defines
#   usage        prints its help
#   own_option   takes one of its other options; 1: it has none of that name
# and calls run_on_double with its own arguments.

prefix=${double^^}
prefix=${prefix//-/_}

fail() {
  printf 'run: %s; run --help tells more\n' "$*" >&2
  exit 2
}

# Sets command to what starts it on libfabric 2.1, whose C library is its own: its programs are started by its loader,
# which does not look at LD_LIBRARY_PATH.
on_libfabric_2_1() {
  local libraries=$1 cache
  shift
  cache=$("$here/../libfabric-2.1/fetch")
  export JOFI_LIBRARY_PATH=$libraries
  if [[ -x $cache/root/usr/bin/$1 ]]; then
    command=("$cache/ld.so" --library-path "$libraries:$cache/lib" "$cache/root/usr/bin/$1" "${@:2}")
  elif [[ $1 == *jofi ]]; then
    export JAVA_HOME=$cache/jdk JOFI_LIBFABRIC=$cache/lib/libfabric.so.1
    # java.home of that JVM is the JDK that it is made from, so ranks have to be told.
    export JOFI_JAVA_OPTS="-Djofi.java=$JAVA_HOME/bin/java${JOFI_JAVA_OPTS:+ $JOFI_JAVA_OPTS}"
    [[ -x $JAVA_HOME/bin/javac ]] || fail 'there is no JDK for libfabric 2.1 yet: test-harness/libfabric-2.1/fetch --jdk JDK'
  fi
}

run_on_double() {
  local wire=run-$$ new_libfabric='' status='' name
  while (($# > 0)); do
    case $1 in
      --libfabric-2.1) new_libfabric=yes && shift ;;
      --trace) export "${prefix}_TRACE=1" && shift ;;
      --status) status=yes && shift ;;
      -h | --help) usage && exit 0 ;;
      --) shift && break ;;
      --*)
        if grep -qxF -e "$1" <<<"$valued"; then
          (($# > 1)) || fail "$1 needs a value"
          name=${1#--}
          name=${name//-/_}
          if [[ $name == wire ]]; then wire=$2; else export "${prefix}_${name^^}=$2"; fi
          shift 2
        else
          own_option "$1" || fail "unknown option: $1"
          shift
        fi
        ;;
      -*) fail "unknown option: $1" ;;
      *) break ;;
    esac
  done
  (($# > 0)) || fail 'there is no command'
  [[ $wire != */* && -n $wire ]] || fail "'$wire' cannot be the name of a wire"

  local double_folder
  double_folder=$("$here/build")
  export "${prefix}_WIRE=$wire"
  export LD_LIBRARY_PATH=$double_folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  command=("$@")
  if [[ -n $new_libfabric ]]; then on_libfabric_2_1 "$double_folder/lib" "$@"; fi

  violations=$(mktemp)
  export "${prefix}_VIOLATIONS=$violations"
  trap 'rm -f -- "$violations"' EXIT
  if [[ -n $status ]]; then
    # The wire is gone with its last process otherwise.
    coproc HOLD { exec "$double_folder/bin/$double-wire" "$wire" hold; }
    exec 8>&"${HOLD[1]}"
    read -r _ <&"${HOLD[0]}"
  fi
  local code=0
  "${command[@]}" 8>&- || code=$?
  if [[ -n $status ]]; then
    "$double_folder/bin/$double-wire" "$wire" status >&2 || :
    exec 8>&-
  fi
  if [[ -s $violations ]]; then
    printf 'run: the command broke rules of the NIC:\n' >&2
    sort "$violations" | uniq -c >&2
    exit 99
  fi
  exit "$code"
}

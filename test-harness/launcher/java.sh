# shellcheck shell=bash disable=SC2034,SC2154 # variables of the launcher, set here or there
# Finds Java 25, and runs it on jofi's modules. Sourced by the launcher, and by the one that is published with the command
# line: so it may use bash alone, and what is beside Java on any Linux.

# shellcheck source=test-harness/launcher/start-cache.sh
source "${BASH_SOURCE[0]%/*}/start-cache.sh"

# The feature version of the JDK in a folder: from its release file, or else by asking it.
feature_version() {
  local home=$1 line version=
  if [[ -r $home/release ]]; then
    while IFS= read -r line; do
      if [[ $line == JAVA_VERSION=* ]]; then version=${line#JAVA_VERSION=}; fi
    done <"$home/release"
    version=${version//\"/}
  fi
  if [[ -z $version ]]; then
    line=$("$home/bin/java" -version 2>&1 || true)
    if [[ $line =~ \"([^\"]+)\" ]]; then version=${BASH_REMATCH[1]}; fi
  fi
  printf '%s' "${version%%[.+-]*}"
}

# Sets jdk if the folder holds a JDK 25, or a run-time environment where runtime_will_do is set; otherwise notes in
# rejected why not.
try_jdk() {
  local origin=$1 home=$2 feature
  if [[ ! -x $home/bin/java ]]; then
    rejected+=("$origin: $home has no bin/java")
    return 1
  fi
  feature=$(feature_version "$home")
  if [[ $feature != 25 ]]; then
    rejected+=("$origin: $home is Java ${feature:-of an unknown version}")
    return 1
  fi
  if [[ -z ${runtime_will_do:-} && ! -x $home/bin/javac ]]; then
    rejected+=("$origin: $home is a run-time environment, without javac")
    return 1
  fi
  jdk=$home
}

# Sets jdk, or leaves in rejected what was found in its place.
find_jdk() {
  local home on_path=
  jdk=
  rejected=()
  if [[ -n ${JAVA_HOME:-} ]] && try_jdk JAVA_HOME "$JAVA_HOME"; then return; fi
  for home in "$jvm_dir"/*/; do
    [[ -x ${home}bin/java ]] || continue
    if try_jdk "$jvm_dir" "${home%/}"; then return; fi
  done
  on_path=$(command -v java) && on_path=$(readlink -f "$on_path") &&
    try_jdk PATH "$(dirname "$(dirname "$on_path")")"
}

# Sets options to those that jofi's modules run with.
collect_options() {
  local jar native=''
  options=(-p "$modules" --add-modules ALL-MODULE-PATH)
  for jar in "$modules"/*.jar; do
    case ${jar##*/} in
      jofi-libfabric-bindings-* | jofi-cuda-bindings-*) ;;
      jofi-libfabric-*) native+=,org.jofi.libfabric,org.jofi.libfabric.bindings ;;
      jofi-simulated-*) native+=,org.jofi.simulated ;;
      jofi-cuda-*) native+=,org.jofi.cuda,org.jofi.cuda.bindings ;;
      jofi-rdma-protocol-*) native+=,org.jofi.rdma ;;
    esac
  done
  if [[ -n $native ]]; then options+=("--enable-native-access=${native#,}"); fi
}

# Runs java on jofi's modules; the arguments say what. Options in early give way to the user's.
run_java() {
  local options more
  collect_options
  read -r -a more <<<"${JOFI_JAVA_OPTS:-}"
  exec "$jdk/bin/java" "${options[@]}" ${early[@]+"${early[@]}"} ${more[@]+"${more[@]}"} "$@"
}

# Runs jofi's command line.
run_command_line() {
  local early
  hasten "$@"
  run_java -m org.jofi.cli/org.jofi.cli.Jofi "$@"
}

# shellcheck shell=bash disable=SC2154 # variables of the launcher, set there
# The start cache of the command line (Java's AOT cache, JEP 483): classes as a JVM has them once they are loaded and linked,
# from which it and the ranks that it starts begin in about half the time. It is made of a training run, lies beside the
# modules, and is for one Java and these very files. A JVM that finds it unfit starts without it: all that can be lost is
# time. Sourced by java.sh.

readonly start_cache=${modules%/*}/start

# Whether the last attempt to make one was for this Java, in this place, and is younger than all jars. It may have failed.
start_cache_is_current() {
  local key='' jar
  [[ -r $start_cache/key ]] || return 1
  read -r key <"$start_cache/key" || true
  [[ $key == "$jdk in $modules" ]] || return 1
  for jar in "$modules"/*.jar; do
    if [[ $jar -nt $start_cache/key ]]; then return 1; fi
  done
}

# Whether the user's options have one among them that a cache may not go with. With some, the JVM ends in place of doing
# without it: those for other archives of classes, such as -Xshare:off, and a first heap whose old generation is too small
# for the objects in the cache, or a heap of a few MiB. What is in a file of options is not known. The plugin of NCCL's knows
# the same words.
forgoes_start_cache() {
  local words='AOT|-Xshare|Shared|Archive|DynamicDump|LoadedClassList|-Xms|-Xmn|NewSize|OldSize|HeapSize|NewRatio|Percentage'
  words+='|-Xmx[0-9]+([kK ]|$)|-Xmx[0-9][mM]|(^| )@|Flags=|OptionsFile='
  [[ "${JOFI_JAVA_OPTS:-} ${JAVA_TOOL_OPTIONS:-} ${JDK_JAVA_OPTIONS:-} ${_JAVA_OPTIONS:-}" =~ $words ]]
}

# Java on jofi's modules in an environment of its own, which says nothing of ranks: so that what the user does at the time
# leaves no trace in the cache.
run_for_cache() {
  local variables=("PATH=$PATH" "HOME=${HOME:-/}") name
  for name in LD_LIBRARY_PATH JOFI_LIBFABRIC TMPDIR LANG; do
    if [[ -n ${!name:-} ]]; then variables+=("$name=${!name}"); fi
  done
  # What the JVM says of each class that it leaves out is nobody's business.
  ${gently[@]+"${gently[@]}"} timeout -k 5 600 env -i "${variables[@]}" "$jdk/bin/java" "${options[@]}" -XX:+UseSerialGC \
    -Xlog:disable -Xlog:all=error:stderr "$@" -m org.jofi.cli/org.jofi.cli.StartTraining
}

# Makes one unless it is there, or is being made. What is unfinished has another name.
make_start_cache() {
  local options scratch=$start_cache/scratch jar code=0
  mkdir -p "$start_cache" && exec 7>"$start_cache/lock" && flock -n 7 || return 1
  if start_cache_is_current; then return 0; fi
  rm -rf "$scratch" && mkdir "$scratch" && touch "$scratch/begun" || return 1
  collect_options
  rm -f "$start_cache/jofi.aot"
  {
    # Profiles for the JIT compiler (JEP 515) cost a command more than they bring.
    run_for_cache -XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-AOTRecordTraining -XX:AOTMode=record \
      "-XX:AOTConfiguration=$scratch/configuration" &&
      run_for_cache -XX:AOTMode=create "-XX:AOTConfiguration=$scratch/configuration" "-XX:AOTCache=$scratch/jofi.aot"
  } </dev/null >"$start_cache/making.log" 2>&1 7>&- || code=$?
  # That it took too long, or was ended, says nothing of the next attempt.
  case $code in
    124 | 130 | 137 | 143)
      rm -rf "$scratch"
      return 1
      ;;
  esac
  for jar in "$modules"/*.jar; do
    # Built anew meanwhile, or gone: it is for others.
    if [[ ! -e $jar || $jar -nt $scratch/begun ]]; then
      rm -rf "$scratch"
      return 1
    fi
  done
  # One that cannot be made is not tried again and again.
  printf '%s\n' "$jdk in $modules" >"$scratch/key"
  if ((code == 0)); then mv -f "$scratch/jofi.aot" "$start_cache/jofi.aot" || code=1; fi
  mv -f "$scratch/key" "$start_cache/key"
  rm -rf "$scratch"
  return "$code"
}

# Makes one where it is missing, in the background, once this process has ended, which becomes the command: so that no
# command waits for it, and none measures beside it. Not where another program starts ranks, which may end what they leave.
make_start_cache_later() {
  # A JDK of files without an image has no classes in an archive.
  [[ -f $jdk/lib/modules && -w ${modules%/*} ]] || return 0
  [[ -z ${SLURM_PROCID:-}${OMPI_COMM_WORLD_RANK:-}${PMI_RANK:-}${RANK:-} ]] || return 0
  if start_cache_is_current; then return 0; fi
  (
    trap '' HUP INT
    gently=(nice -n 19)
    # Ten minutes at most: the next start comes, too.
    for ((left = 1200; left > 0; left--)); do
      if ! kill -0 $$ 2>/dev/null; then
        make_start_cache
        break
      fi
      sleep 0.5
    done
  ) </dev/null >/dev/null 2>&1 7>&- 8>&- 9>&- &
}

# Sets early to the options with which a command starts sooner: the user's come after them.
hasten() {
  early=()
  # What is over before HotSpot's second compiler pays.
  case ${1:-} in
    -* | info | doctor | stat) early+=(-XX:TieredStopAtLevel=1) ;;
  esac
  if [[ -r $start_cache/jofi.aot ]] && start_cache_is_current && ! forgoes_start_cache; then
    # Why it does not fit, the JVM would say on standard output.
    early+=("-XX:AOTCache=$start_cache/jofi.aot" '-Xlog:aot*=off,cds*=off')
  fi
}

# Makes one now, and says why if it cannot.
provide_start_cache() {
  local line=''
  if start_cache_is_current && [[ -r $start_cache/jofi.aot ]]; then return 0; fi
  rm -f "$start_cache/key" 2>/dev/null || true
  if make_start_cache; then return 0; fi
  if [[ -r $start_cache/making.log ]]; then while read -r line; do :; done <"$start_cache/making.log"; fi
  printf 'jofi: no start cache could be made in %s: %s\n' "$start_cache" "${line:-it is not writable, or one is being made}" >&2
  return 1
}

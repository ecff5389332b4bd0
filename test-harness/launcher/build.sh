# shellcheck shell=bash disable=SC2034,SC2154 # variables of the launcher, set here or there
# Builds what is stale, shows where the build is, and says in one line why a download failed.
# Sourced by the launcher.

# True when a source file, a folder of sources (something was removed) or a pom is newer than the last build's start.
stale() {
  [[ -f $stamp && -d $modules ]] || return 0
  [[ -n $(find "$root" -mindepth 1 \( -name target -o -name '.?*' -o -path '*/src/test' \) -prune \
    -o \( -name pom.xml -o -path '*/src/main*' \) -newer "$stamp" -print -quit) ]]
}

lock_build() {
  if ! mkdir -p "$state" 2>/dev/null || [[ ! -w $state ]]; then
    if [[ -d $modules ]]; then
      fail 1 "cannot build: $root is not writable; JOFI_NO_BUILD=1 runs what was built last"
    fi
    fail 1 "cannot build: $root is not writable; its owner has to, once; then JOFI_NO_BUILD=1 runs what was built"
  fi
  exec 9>"$state/lock"
  if ! flock -n 9; then
    say 'waiting for another build to end'
    flock -w 1800 9 || fail 1 "another build has held $state/lock for 30 minutes; end it and try again"
  fi
}

unlock_build() { exec 9>&-; }

# Maven on the JDK that was found. The two options only keep Maven's own libraries from warning about themselves.
run_maven() {
  JAVA_HOME=$jdk JOFI_NO_BUILD=1 \
    MAVEN_OPTS="--sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED ${MAVEN_OPTS:-}" \
    "$maven" -B -f "$root/pom.xml" "$@" 9>&-
}

# Builds if that is still needed: whoever held the lock may have done it meanwhile.
build() {
  lock_build
  if stale; then
    local log=$state/build.log started=$SECONDS first=
    if [[ ! -d $modules ]]; then first='; the first time this takes a few minutes'; fi
    say "building$first; log: $log"
    touch "$state/started"
    # One thread for each processor; modules wait for those that they depend on.
    # Maven lives for seconds here: HotSpot's second compiler costs more than it brings.
    if ! MAVEN_OPTS="-XX:TieredStopAtLevel=1 ${MAVEN_OPTS:-}" run_maven -T 1C -Dstyle.color=never -pl test-harness/cli -am \
      -Dmaven.test.skip=true -Dspotless.check.skip=true package </dev/null 2>&1 | follow_build "$log"; then
      explain_failure "$log"
      exit 1
    fi
    mv "$state/started" "$stamp"
    say "built in $((SECONDS - started)) s"
  fi
  unlock_build
}

# --- Where the build is -----------------------------------------------------------------------------------------------

# Copies Maven's output into the log and shows on standard error where it is: in one line that is rewritten on a
# terminal; elsewhere in a line for each module, and one after 30 seconds without.
follow_build() {
  local log=$1 part line='' code terminal='' module='' shown='' said=$SECONDS began=$SECONDS downloaded=0
  if [[ -t 2 ]]; then terminal=yes; fi
  exec 8>"$log"
  while :; do
    code=0
    IFS= read -r -t 1 part || code=$?
    # After a time-out, part holds the beginning of a line whose end is still to come.
    line+=$part
    if ((code == 0)); then
      printf '%s\n' "$line" >&8
      if [[ $line =~ ^\[INFO\]\ Building\ ([^ ]+)\ .*\[([0-9]+)/([0-9]+)\]$ ]]; then
        module="module ${BASH_REMATCH[2]} of ${BASH_REMATCH[3]}, ${BASH_REMATCH[1]}"
      elif [[ $line == '[INFO] Downloaded from '* ]]; then
        downloaded=$((downloaded + 1))
      fi
      line=
    elif ((code <= 128)); then
      printf '%s' "$line" >&8
      break
    fi
    show_progress
  done
  if [[ -n $terminal && -n $shown ]]; then printf '\r\e[K' >&2; fi
}

show_progress() {
  local seconds=$((SECONDS - began))
  if [[ -n $terminal ]]; then
    if [[ $shown == "$seconds $module" ]]; then return; fi
    shown="$seconds $module"
    printf '\r\e[K%s' "$(progress)" >&2
  elif [[ $shown != "$module" ]] || ((SECONDS - said >= 30)); then
    shown=$module
    said=$SECONDS
    say "$(progress)"
  fi
}

# Short enough for a terminal of 80 columns, as a longer line could not be rewritten.
progress() {
  local files=
  if ((downloaded > 0)); then files=", $downloaded files downloaded"; fi
  printf '%s%s, %s s' "${module:-starting Maven}" "$files" "$seconds"
}

# --- Why it failed ----------------------------------------------------------------------------------------------------

# A failed download in one line with its cause and what to do; the errors themselves, of any other kind.
explain_failure() {
  local log=$1 line download=()
  # Maven 3.8 and 3.9: "… from/to central (URL): cause -> [Help 1]"; without the arrow it is often said without its cause.
  local transfer='Could not transfer [a-z]+ ([^ ]+) from/to ([^ ]+) \([^)]*\): (.*)$'
  local offline='Cannot access ([^ ]+) \([^)]*\) in offline mode'
  while IFS= read -r line; do
    if [[ $line == *'No space left on device'* ]]; then
      fail 1 "the build failed: no space left on a disk that it writes to ($root, ${HOME:-/root}/.m2, /tmp)"
    fi
    if [[ $line != '[ERROR]'* ]]; then continue; fi
    if [[ $line =~ $offline ]]; then
      fail 1 "Maven is set to work offline, and not all that the build needs was ever downloaded: take <offline> out" \
        "of $(maven_settings), and -o out of MAVEN_ARGS"
    fi
    if [[ $line =~ $transfer && (${#download[@]} -eq 0 || $line == *' -> '*) ]]; then
      download=("${BASH_REMATCH[@]:1}")
      if [[ $line == *' -> '* ]]; then break; fi
    fi
  done <"$log"
  if ((${#download[@]} > 0)); then
    explain_download "${download[@]}"
    return
  fi
  show_errors "$log" >&2
  say "the build failed; all of its output: $log"
}

maven_settings() { printf '%s' "${HOME:-/root}/.m2/settings.xml"; }

explain_download() {
  local artifact=$1 repository=$2 cause=${3%% -> *} settings advice
  settings=$(maven_settings)
  if [[ $cause =~ ^transfer\ failed\ for\ [^\ ]+(\ @\ line\ [0-9]+,\ column\ [0-9]+)?:?\ (.+)$ ]]; then
    cause=${BASH_REMATCH[2]}
  fi
  shopt -s nocasematch
  case $cause in
    *pkix* | *certificate* | *trustanchors* | *ssl* | *tls*) advice=$(trust_advice) ;;
    *proxy* | *407*) advice="name the proxy, with its user, under <proxies> in $settings" ;;
    *'unknown host'* | *'name resolution'* | *'name or service'* | *'not resolve'* | *unresolved*)
      advice="see whether this machine reaches the network; behind a proxy, name it under <proxies> in $settings"
      ;;
    *refused* | *'timed out'* | *timeout* | *unreachable* | *'no route'* | *reset* | *'connect to'*)
      advice="try again; behind a proxy, name it under <proxies> in $settings"
      ;;
    *40[13]* | *forbidden* | *unauthorized*)
      advice="see whether this network asks for a mirror of its own: name it under <mirrors> in $settings"
      ;;
    *) advice='try again' ;;
  esac
  shopt -u nocasematch
  say "a download failed: $artifact from $repository: $cause. What to do: $advice. Log: $log"
}

# A JDK of Debian's packages trusts what the system trusts; any other has a list of its own.
trust_advice() {
  if [[ $(readlink -f "$jdk/lib/security/cacerts") == /etc/ssl/certs/java/cacerts ]]; then
    printf '%s' "let this machine trust the certificate authority of this network: copy it to" \
      " /usr/local/share/ca-certificates/NAME.crt and run update-ca-certificates, as root"
  else
    printf '%s' "let the JDK trust the certificate authority of this network:" \
      " $jdk/bin/keytool -importcert -cacerts -alias network -file CA.crt"
  fi
}

# The errors and warnings of a build, once each, with the lines that the compiler adds to them.
show_errors() {
  local line keep='' seen=$'\n' count=0
  while IFS= read -r line; do
    case $line in
      '[INFO]'*) keep= ;;
      '[ERROR]'*'[Help '* | '[ERROR] To see the full'* | '[ERROR] Re-run Maven'* | '[ERROR] For more information'* | \
        '[ERROR] After correcting'* | '[ERROR]   mvn '* | '[ERROR] ') keep= ;;
      '[ERROR]'* | '[WARNING] /'*) keep=yes ;;
      '['[A-Z]*']'*) keep= ;;
    esac
    if [[ -z $keep || $seen == *$'\n'"$line"$'\n'* ]]; then continue; fi
    seen+=$line$'\n'
    printf '%s\n' "$line"
    count=$((count + 1))
    if ((count == 100)); then break; fi
  done <"$1"
  # A Maven that cannot even start writes no such lines.
  if ((count == 0)); then tail -n 20 "$1"; fi
}

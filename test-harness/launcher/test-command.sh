# shellcheck shell=bash
# `jofi test`. The launcher sources this file; what is not assigned here is assigned there.
# shellcheck disable=SC2154

test_help() {
  cat <<'HELP'
usage: jofi test [TARGET ...] [--all] [--changed] [--times[=N]] [MAVEN OPTION ...]

Sets up the machine for tests, runs them, and counts them. Without a target it runs the tests of every module.

  TARGET       a module, by its folder or artifact: mr-cache, providers/libfabric, jofi-cli
               or a test class, with a method if only that is wanted: KillTest, KillTest#theSurvivorReportsAndEnds
  --all        also what is long by nature: many seeds, many kills, every case on libfabric 2.1, soak, ranks that Slurm,
               Open MPI and MPICH start
  --changed    the tests that reach what the working tree changes against HEAD, nearest first, about a minute's worth
  --times[=N]  name the N slowest classes and the N slowest tests at the end; 15 if N is not given

Other options that begin with - are handed to Maven, and those with -D to the tests as well: -o, -X, -Djofi.seeds=5000,
-Djofi.libfabric=/opt/amazon/efa/lib64/libfabric.so.1

The short run tests every rule on a provider of the system's libfabric, and some on libfabric 2.1; it takes ten minutes on
two processors. A module's tests run beside another's; what is tagged alone runs at the end, with nothing beside it. What
tests print is in .jofi/tests, in a file for each module.

exit codes: 0 all passed, 1 a test failed or none ran, 2 wrong usage, 3 something is missing on this machine
HELP
}

# Sets second_library to the folder of libfabric 2.1, or says in a line why nothing is tested on it.
find_second_library() {
  local version argument
  for argument in "$@"; do
    if [[ $argument == -Djofi.libfabric=* ]]; then
      pass_omitted='no second pass on libfabric 2.1: -Djofi.libfabric chooses the library'
      return
    fi
  done
  version=$(dpkg-query -W -f '${Version}' libfabric1 2>/dev/null || true)
  if [[ -n $version ]] && dpkg --compare-versions "$version" ge 2.1; then
    pass_omitted="no second pass on libfabric 2.1: the system's own is $version already"
    return
  fi
  if second_library=$("$root/test-harness/libfabric-2.1/fetch" --jdk "$jdk"); then return; fi
  second_library=
  if in_ci; then fail "$environment_missing" 'the tests need libfabric 2.1 as well, and it could not be fetched'; fi
  pass_omitted='no second pass on libfabric 2.1: it could not be fetched, see above'
}

# --- What is to be tested ---------------------------------------------------------------------------------------------

# Folders of modules that hold tests, below a folder of the project.
modules_with_tests() {
  local pom
  while IFS= read -r pom; do
    if [[ -d ${pom%/pom.xml}/src/test/java ]]; then printf '%s\n' "${pom%/pom.xml}"; fi
  done < <(find "$1" -name target -prune -o -name pom.xml -print)
}

# Test classes below a folder, by their full names.
classes_below() {
  local file
  while IFS= read -r file; do
    file=${file##*/src/test/java/}
    file=${file%.java}
    printf '%s\n' "${file//\//.}"
  done < <(find "$1/src/test/java" \( -name '*Test.java' -o -name '*Properties.java' \))
}

choose_module() {
  if [[ " ${chosen_modules[*]-} " != *" $1 "* ]]; then chosen_modules+=("$1"); fi
}

# A module is named by its path, by its folder's name, or by its artifact, which is jofi- and that name.
add_modules() {
  local name=${1%/} module class found=1
  while IFS= read -r module; do
    if [[ $module == "$root/$name" || $module == "$root/$name"/* || ${module##*/} == "${name#jofi-}" ]]; then
      choose_module "${module#"$root"/}"
      while IFS= read -r class; do chosen_tests+=("$class"); done < <(classes_below "$module")
      found=0
    fi
  done < <(modules_with_tests "$root")
  return "$found"
}

# A class is named by its simple or its full name; # and a method may follow.
add_class() {
  local name=${1%%#*} method='' module class found=1
  if [[ $1 == *'#'* ]]; then method="#${1#*#}"; fi
  while IFS= read -r module; do
    while IFS= read -r class; do
      if [[ $class == "$name" || ${class##*.} == "$name" ]]; then
        choose_module "${module#"$root"/}"
        chosen_tests+=("$class$method")
        found=0
      fi
    done < <(classes_below "$module")
  done < <(modules_with_tests "$root")
  return "$found"
}

# Says what there is whose name is like that, and ends.
no_such_target() {
  local name=${1%%#*} module class like=()
  shopt -s nocasematch
  while IFS= read -r module; do
    if [[ ${module##*/} == *"$name"* ]]; then like+=("${module#"$root"/}"); fi
    while IFS= read -r class; do
      if [[ $class == *"$name"* ]]; then like+=("${class##*.}"); fi
    done < <(classes_below "$module")
  done < <(modules_with_tests "$root")
  shopt -u nocasematch
  if ((${#like[@]} > 0)); then say "no module and no test class is named $name. Did you mean: ${like[*]}"; fi
  if ((${#like[@]} == 0)); then
    say "no module and no test class is named $name. The modules with tests are:"
    while IFS= read -r module; do say "  ${module#"$root"/}"; done < <(modules_with_tests "$root")
  fi
  exit "$wrong_usage"
}

join_by_comma() {
  local IFS=,
  printf '%s' "$*"
}

# --- The run ----------------------------------------------------------------------------------------------------------

# Takes the command line apart.
parse_test_arguments() {
  local argument
  for argument in "$@"; do
    case $argument in
      -h | --help)
        test_help
        exit 0
        ;;
      --changed) changed=yes ;;
      --all) run_arguments+=(--all) ;;
      --times) run_arguments+=(--times=15) ;;
      --times=*)
        [[ ${argument#*=} =~ ^[1-9][0-9]*$ ]] || fail "$wrong_usage" "--times takes a number of rows, not '${argument#*=}'"
        run_arguments+=("$argument")
        ;;
      -D*)
        maven_arguments+=("$argument")
        run_arguments+=("$argument")
        ;;
      -*) maven_arguments+=("$argument") ;;
      *) add_modules "$argument" || add_class "$argument" || no_such_target "$argument" ;;
    esac
  done
}

# True when anything that tests are built from is newer than the start of a build, whose stamp is given.
tests_stale() {
  [[ -f $1 ]] || return 0
  [[ -n $(find "$root" -mindepth 1 \( -name target -o -name '.?*' \) -prune \
    -o \( -name pom.xml -o -path '*/src' -o -path '*/src/*' \) -newer "$1" -print -quit) ]]
}

# For a text that may be longer than a file's name.
checksum() {
  local sum=0 at code
  for ((at = 0; at < ${#1}; at++)); do
    printf -v code %d "'${1:at:1}"
    sum=$(((sum * 31 + code) & 0xffffffffffffff))
  done
  printf %x "$sum"
}

# Builds all modules, or the chosen ones and what they need, with their tests and the program that runs these.
build_tests() {
  local log=$state/build.log whole=$state/tests-built built=$state/tests-built some=()
  if ((${#chosen_modules[@]} > 0)); then
    built+=.$(checksum "${chosen_modules[*]}")
    some=(-pl "$(join_by_comma "${chosen_modules[@]}" test-harness/runner)" -am)
  fi
  if ! tests_stale "$whole" || ! tests_stale "$built"; then return; fi
  say "building; log: $log"
  touch "$state/started"
  # HotSpot's second compiler costs more than it brings, as in build.
  if ! MAVEN_OPTS="-XX:TieredStopAtLevel=1 ${MAVEN_OPTS:-}" run_maven -ntp -T 1C -Dstyle.color=never -DskipTests \
    ${some[@]+"${some[@]}"} package ${maven_arguments[@]+"${maven_arguments[@]}"} </dev/null 2>&1 | follow_build "$log"; then
    explain_failure "$log"
    exit 1
  fi
  if [[ $built == "$whole" && -d $modules ]]; then touch -r "$state/started" "$stamp"; fi
  mv "$state/started" "$built"
}

# Chooses the tests for what has changed. What reaches what is read from class files, so something must be built.
choose_changed() {
  local chosen module class
  if [[ ! -f $state/tests-built ]]; then build_tests; fi
  chosen=$("$jdk/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$(runner_class_path)" org.jofi.runner.Changes "$root") ||
    fail 1 'what has changed cannot be told, see above'
  while read -r module class; do
    if [[ -z $class ]]; then continue; fi
    choose_module "$module"
    chosen_tests+=("$class")
  done <<<"$chosen"
  if ((${#chosen_tests[@]} == 0)); then
    printf 'nothing to test: no test reaches a change\n'
    exit 0
  fi
}

run_tests() {
  local changed='' chosen_modules=() chosen_tests=() maven_arguments=() run_arguments=()
  local second_library='' pass_omitted='' code=0 began built_at
  local wanted=("${build_packages[@]}" "${test_packages[@]}")
  # In ms, whatever the locale's decimal point is.
  began=${EPOCHREALTIME/[^0-9]/}
  began=${began%???}
  parse_test_arguments "$@"
  if ((EUID == 0)); then
    wanted+=("${rail_packages[@]}")
    if [[ " ${run_arguments[*]-} " == *" --all "* ]]; then wanted+=("${job_packages[@]}"); fi
  fi
  if ! provide_packages "${wanted[@]}"; then
    if in_ci; then fail "$environment_missing" 'with CI=true every package must be there'; fi
  fi
  find_second_library ${maven_arguments[@]+"${maven_arguments[@]}"}
  if [[ -n $pass_omitted ]]; then say "$pass_omitted"; fi
  lock_build
  built_at=$SECONDS
  if [[ -n $changed ]]; then choose_changed; fi
  build_tests
  run_arguments+=("--root=$root" "--started=$began" "--built=$((SECONDS - built_at))")
  if [[ -n $second_library ]]; then run_arguments+=("--libfabric-2.1=$second_library"); fi
  if [[ -t 1 ]]; then export JOFI_TERMINAL=yes; fi
  "$jdk/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$(runner_class_path)" org.jofi.runner.TestRun \
    "${run_arguments[@]}" ${chosen_tests[@]+"${chosen_tests[@]}"} || code=$?
  if [[ -n $pass_omitted ]]; then say "$pass_omitted"; fi
  # Not earlier: a run that waits for this one overwrites the logs.
  unlock_build
  exit "$code"
}

runner_class_path() {
  printf '%s:%s' "$root/test-harness/runner/target/classes" "$(<"$root/test-harness/runner/target/test-class-path.txt")"
}

# shellcheck shell=bash
# `jofi test`. The launcher sources this file; what is not assigned here is assigned there.
# shellcheck disable=SC2154

test_help() {
  cat <<'HELP'
usage: jofi test [TARGET ...] [--all] [--times[=N]] [MAVEN OPTION ...]

Sets up the machine for tests, runs them, and counts them. Without a target it runs the tests of every module.

  TARGET       a module, by its folder or artifact: mr-cache, providers/libfabric, jofi-cli
               or a test class, with a method if only that is wanted: KillTest, KillTest#theSurvivorReportsAndEnds
  --all        also what is long by nature: many seeds, many kills, every case on libfabric 2.1, soak
  --times[=N]  name the N slowest classes and the N slowest tests at the end; 15 if N is not given

Options that begin with - are handed to Maven: -o, -X, -Djofi.seeds=5000, -Djofi.libfabric=/opt/amazon/efa/lib64/libfabric.so.1

The short run tests every rule on every provider of the system's libfabric, and some on libfabric 2.1. Reports are in
MODULE/target/surefire-reports, and those of libfabric 2.1 in MODULE/target/surefire-reports-libfabric-2.1.

exit codes: 0 all passed, 1 a test failed or none ran, 2 wrong usage, 3 something is missing on this machine
HELP
}

# The arguments for Maven that add the second pass of the tests, on libfabric 2.1; a line on why not, otherwise.
second_pass() {
  local version folder argument
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
  if folder=$("$root/test-harness/libfabric-2.1/fetch" --jdk "$jdk"); then
    pass_arguments=("-Djofi.libfabric-2.1=$folder")
    return
  fi
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

# A module is named by its path, by its folder's name, or by its artifact, which is jofi- and that name.
add_modules() {
  local name=${1%/} module class found=1
  while IFS= read -r module; do
    if [[ $module == "$root/$name" || $module == "$root/$name"/* || ${module##*/} == "${name#jofi-}" ]]; then
      chosen_modules+=("${module#"$root"/}")
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
        chosen_modules+=("${module#"$root"/}")
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
      --all) maven_arguments+=(-Djofi.test.all) ;;
      --times) summary_arguments=(--times 15) ;;
      --times=*)
        [[ ${argument#*=} =~ ^[1-9][0-9]*$ ]] || fail "$wrong_usage" "--times takes a number of rows, not '${argument#*=}'"
        summary_arguments=(--times "${argument#*=}")
        ;;
      -*) maven_arguments+=("$argument") ;;
      *) add_modules "$argument" || add_class "$argument" || no_such_target "$argument" ;;
    esac
  done
  if ((${#chosen_tests[@]} > 0)); then
    maven_arguments+=(-pl "$(join_by_comma "${chosen_modules[@]}")" -am "-Dtest=$(join_by_comma "${chosen_tests[@]}")")
  fi
}

run_tests() {
  local chosen_modules=() chosen_tests=() maven_arguments=() summary_arguments=()
  local pass_arguments=() pass_omitted='' code=0 counted=0 started=$SECONDS took
  local wanted=("${build_packages[@]}" "${test_packages[@]}")
  parse_test_arguments "$@"
  if ((EUID == 0)); then wanted+=("${rail_packages[@]}"); fi
  if ! provide_packages "${wanted[@]}"; then
    if in_ci; then fail "$environment_missing" 'with CI=true every package must be there'; fi
  fi
  second_pass ${maven_arguments[@]+"${maven_arguments[@]}"}
  if [[ -n $pass_omitted ]]; then say "$pass_omitted"; fi
  lock_build
  touch "$state/started"
  # The count at the end is of this run alone.
  find "$root" -path '*/target/surefire-reports*' -name 'TEST-*.xml' -delete
  run_maven -ntp -fae -Dsurefire.failIfNoSpecifiedTests=false \
    ${pass_arguments[@]+"${pass_arguments[@]}"} verify ${maven_arguments[@]+"${maven_arguments[@]}"} || code=$?
  if ((code == 0 && $# == 0)) && [[ -d $modules ]]; then mv "$state/started" "$stamp"; fi
  # Maven leaves the terminal's reset sequence behind, on a line that it does not end.
  printf '\n'
  if [[ -n $pass_omitted ]]; then say "$pass_omitted"; fi
  took=$((SECONDS - started))
  printf 'building and testing took %d min %d s\n' $((took / 60)) $((took % 60))
  "$jdk/bin/java" "$root/test-harness/launcher/src/main/java/org/jofi/launcher/TestSummary.java" \
    ${summary_arguments[@]+"${summary_arguments[@]}"} "$root" || counted=$?
  if ((code != 0)); then say "the build failed, and what it did not come to is not counted: see [ERROR] above"; fi
  if ((code == 0 && counted != 0)); then code=1; fi
  # Not earlier: a run that waits for this one deletes the reports.
  unlock_build
  exit "$code"
}

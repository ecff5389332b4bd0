# shellcheck shell=bash
# `jofi publish`. The launcher sources this file; what is not assigned here is assigned there.
# shellcheck disable=SC2154

publish_help() {
  cat <<'HELP'
usage: jofi publish --local DIR [MAVEN OPTION ...]

Builds all that is published of jofi, and lays it out in a folder, which is a Maven repository then: the jars with their
sources, Javadoc, bills of materials and poms, the BOM jofi-bom, the command line as a tar.gz, and the folder of NCCL's
plugin as a zip. Nothing is sent anywhere, and nothing is signed. It takes a few minutes.

  --local DIR  the folder; it is made if there is none. What it has of other versions stays; a version that it has already
               is refused, unless that is a snapshot

Other options that begin with - are handed to Maven: -o, -X

A project takes jofi from there by a repository whose url is file:// and the folder's path. RELEASING.md says what else a
release needs.

exit codes: 0 done, 1 failed, 2 wrong usage, 3 something is missing on this machine
HELP
}

# Sets folder and maven_arguments.
parse_publish_arguments() {
  while (($# > 0)); do
    case $1 in
      -h | --help)
        publish_help
        exit 0
        ;;
      --local=*) folder=${1#*=} ;;
      --local)
        (($# > 1)) || fail "$wrong_usage" 'publish --local takes a folder: jofi publish --local DIR'
        folder=$2
        shift
        ;;
      -*) maven_arguments+=("$1") ;;
      *) fail "$wrong_usage" "publish takes no '$1': jofi publish --local DIR" ;;
    esac
    shift
  done
  [[ -n $folder ]] || fail "$wrong_usage" 'publish lays out a local folder and does nothing else: jofi publish --local DIR'
  # A path may hold a colon; what has :// is some place else.
  [[ $folder != *://* ]] ||
    fail "$wrong_usage" "publish sends nothing anywhere, and $folder is no folder. Give it one: jofi publish --local DIR"
}

# The text of the first element of that name in a pom; nothing if there is none.
pom_text() {
  if [[ $2 != *"<$1>"* ]]; then return; fi
  local text=${2#*"<$1>"}
  printf '%s' "${text%%</"$1">*}"
}

# Sets version and baseline, and published to the folders of modules whose poms say that they are.
find_published() {
  local file pom
  pom=$(<"$root/pom.xml")
  version=$(pom_text version "$pom")
  baseline=$(pom_text jofi.last-release "$pom")
  published=()
  while IFS= read -r file; do
    if [[ $(<"$file") == *'<maven.deploy.skip>false<'* ]]; then
      file=${file#"$root"/}
      published+=("${file%/pom.xml}")
    fi
  done < <(find "$root" -mindepth 1 \( -name target -o -name src -o -name '.?*' \) -prune -o -name pom.xml -print)
}

# Makes the folder's path whole, and ends the program if nothing can be laid out there.
check_folder() {
  local there
  mkdir -p "$folder" 2>/dev/null && [[ -d $folder && -w $folder ]] ||
    fail 1 "cannot write to $folder: name a folder that you may write to"
  folder=$(readlink -f "$folder")
  if [[ $version == *-SNAPSHOT ]]; then return; fi
  if [[ ! -d $folder/org/jofi ]]; then return; fi
  there=$(find "$folder/org/jofi" -mindepth 2 -maxdepth 2 -type d -name "$version" -print -quit)
  [[ -z $there ]] || fail 1 "$folder has version $version already, and a version does not change once it is published." \
    "Name another folder, or remove what is there: $there and those beside it"
}

# A path as a part of an address.
as_address() {
  local LC_ALL=C path=$1 address='' character i
  for ((i = 0; i < ${#path}; i++)); do
    character=${path:i:1}
    case $character in
      [A-Za-z0-9/._~-]) address+=$character ;;
      *) printf -v character '%%%02X' "'$character" && address+=$character ;;
    esac
  done
  printf '%s' "$address"
}

# What was laid out since a file was made: a line for each artifact, with its files by what tells them apart.
list_laid_out() {
  local since=$1 bytes path artifact name tail total=0 files=0
  local -A kinds=() sizes=()
  while read -r bytes path; do
    case $path in
      *.md5 | *.sha1 | *.sha256 | *.sha512 | */maven-metadata*.xml) continue ;;
    esac
    name=${path##*/}
    artifact=${path#org/jofi/}
    artifact=${artifact%%/*}
    tail=${name#"$artifact"-}
    # The version, and of a snapshot the time and the number of the build.
    if [[ $tail =~ ^[0-9][0-9.]*(-[0-9]{8}\.[0-9]{6}-[0-9]+|-SNAPSHOT)?[-.](.*)$ ]]; then tail=${BASH_REMATCH[2]}; fi
    kinds[$artifact]+="${kinds[$artifact]:+, }$tail"
    sizes[$artifact]=$((${sizes[$artifact]:-0} + bytes))
    total=$((total + bytes))
    files=$((files + 1))
  done < <(find "$folder/org/jofi" -type f -newer "$since" -printf '%s org/jofi/%P\n' | sort -k2)
  ((files > 0)) || fail 1 "Maven ended well and laid out nothing in $folder; its output: $log"
  while IFS= read -r artifact; do
    printf '%-26s %7s KiB  %s\n' "$artifact" "$(((${sizes[$artifact]} + 1023) / 1024))" "${kinds[$artifact]}"
  done < <(printf '%s\n' "${!kinds[@]}" | sort)
  printf '%d files of version %s, %d KiB, in %s\n' "$files" "$version" "$(((total + 1023) / 1024))" "$folder"
}

publish() {
  local folder='' maven_arguments=() published version baseline log=$state/publish.log began=$SECONDS modules_list
  parse_publish_arguments "$@"
  [[ -z ${JOFI_NO_BUILD:-} ]] || fail 1 'publish builds, which JOFI_NO_BUILD forbids: unset it'
  find_published
  check_folder
  provide_packages "${build_packages[@]}" "${compiler_packages[@]}" ||
    fail "$environment_missing" "without a C compiler there is no plugin of NCCL's to publish"
  lock_build
  printf -v modules_list '%s,' "${published[@]}"
  say "building version $version to publish it; this takes a few minutes; log: $log"
  if [[ -n $baseline ]]; then
    say "comparing the API with version $baseline"
    maven_arguments+=("-Djofi.baseline=$baseline")
  else
    say 'the API is compared with nothing: there is no release yet'
  fi
  touch "$state/started"
  # All is laid out at the end, or nothing is; and nothing in Maven's own repository, where other builds would find it.
  # HotSpot's second compiler costs more than it brings, as in build.
  if ! MAVEN_OPTS="-XX:TieredStopAtLevel=1 ${MAVEN_OPTS:-}" run_maven -ntp -T 1C -Dstyle.color=never -Prelease \
    -pl "${modules_list%,}" -am -Dmaven.test.skip=true -Dmaven.install.skip=true -DdeployAtEnd=true \
    -DaltDeploymentRepository="jofi-publish::file://$(as_address "$folder")" deploy \
    ${maven_arguments[@]+"${maven_arguments[@]}"} </dev/null 2>&1 | follow_build "$log"; then
    explain_failure "$log"
    exit 1
  fi
  list_laid_out "$state/started"
  # The program that the launcher runs was built, too.
  mv "$state/started" "$stamp"
  unlock_build
  say "published into $folder in $((SECONDS - began)) s"
}

# shellcheck shell=bash disable=SC2034,SC2154 # variables of the launcher, set here or there
# What jofi needs of the machine: looks whether it is there, and installs it as root, or prints the one line to type.
# Sourced by the launcher.

# What a build cannot do without, and what it can; the packages bear Debian's names.
readonly jdk_package=openjdk-25-jdk-headless
readonly build_packages=("$jdk_package" maven)
readonly compiler_packages=(gcc libc6-dev)
readonly libfabric_packages=(libfabric1)

# shellcheck source=test-harness/launcher/java.sh
source "${BASH_SOURCE[0]%/*}/java.sh"

# --- What is there ----------------------------------------------------------------------------------------------------

# Sets maven.
find_maven() {
  maven=
  if [[ -n ${MAVEN_HOME:-} && -x $MAVEN_HOME/bin/mvn ]]; then
    maven=$MAVEN_HOME/bin/mvn
  else
    maven=$(command -v mvn)
  fi
}

have_libfabric() {
  local folders folder
  IFS=: read -r -a folders <<<"${LD_LIBRARY_PATH:-}"
  for folder in ${folders[@]+"${folders[@]}"}; do
    if [[ -e $folder/libfabric.so.1 ]]; then return 0; fi
  done
  [[ $(PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null || true) == *libfabric.so.1* ]]
}

# The path of a command of Open MPI. On Debian the plain name may be another MPI's, elsewhere there is no other.
open_mpi() { command -v "$1.openmpi" || command -v "$1"; }

have_package() {
  case $1 in
    "$jdk_package") find_jdk ;;
    maven) find_maven ;;
    libfabric1) have_libfabric ;;
    libfabric-dev) [[ -r /usr/include/rdma/fabric.h ]] ;;
    libfabric-bin) command -v fi_pingpong >/dev/null ;;
    libibverbs-dev) [[ -r /usr/include/infiniband/efadv.h ]] ;;
    librdmacm-dev) [[ -r /usr/include/rdma/rdma_cma.h ]] ;;
    gcc) command -v gcc >/dev/null ;;
    libc6-dev) gcc -E -x c -include stdio.h /dev/null >/dev/null 2>&1 ;;
    openmpi-bin) [[ $("$(open_mpi mpirun)" --version 2>/dev/null) == *open-mpi.org* ]] ;;
    libopenmpi-dev) [[ $("$(open_mpi mpicc)" -E -dM -x c -include mpi.h /dev/null 2>/dev/null) == *OMPI_MAJOR_VERSION* ]] ;;
    python3) command -v python3 >/dev/null ;;
    iproute2) command -v ip >/dev/null && command -v tc >/dev/null ;;
    iptables) command -v iptables >/dev/null ;;
    mpich) [[ $(mpirun.mpich --version 2>/dev/null) == HYDRA* ]] ;;
    munge) command -v munged >/dev/null ;;
    slurm-wlm) command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v srun >/dev/null ;;
  esac
}

# Sets missing to those of the given packages that are not there.
find_missing() {
  local package
  missing=()
  hash -r
  for package in "$@"; do
    if ! have_package "$package"; then missing+=("$package"); fi
  done
}

is_missing() { [[ " ${missing[*]-} " == *" $1 "* ]]; }

# --- Installing -------------------------------------------------------------------------------------------------------

has_apt() { command -v apt-get >/dev/null; }

may_install() { [[ $EUID -eq 0 && -z ${JOFI_NO_INSTALL:-} ]] && has_apt; }

# Whether apt's package lists name a package that can be installed.
apt_offers() { [[ $(LC_ALL=C apt-cache policy "$1" 2>/dev/null || true) =~ Candidate:\ [^\(] ]]; }

apt_offers_all() {
  local package
  for package in "$@"; do
    apt_offers "$package" || return 1
  done
}

ask_apt() {
  LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" </dev/null 2>&1
}

# Runs apt-get; its output is left in apt_output, and in the log where there can be one.
run_apt() {
  local code=0
  apt_output=$(ask_apt "$@") || code=$?
  if mkdir -p "$state" 2>/dev/null && [[ -w $state ]]; then
    printf '# apt-get %s\n%s\n' "$*" "$apt_output" >>"$state/apt.log"
  fi
  return "$code"
}

# The line of apt's output that tells best why it failed.
apt_cause() {
  local line failed='' error=''
  while IFS= read -r line; do
    case $line in
      [WE]:' Failed to fetch '*) failed=${failed:-${line#??}} ;;
      E:*) error=${error:-${line#??}} ;;
    esac
  done <<<"$apt_output"
  line=${failed:-${error:- no cause given}}
  printf '%s' "${line# }"
}

# What apt says that packages cost; nothing if it does not say.
size_of() {
  local answer download='' disk=''
  answer=$(ask_apt install --print-uris -y --no-install-recommends "$@") || return 0
  if [[ $answer =~ Need\ to\ get\ ([0-9.,]+\ [kMG]?B) ]]; then download=${BASH_REMATCH[1]}; fi
  if [[ $answer =~ After\ this\ operation,\ ([0-9.,]+\ [kMG]?B)\ of\ additional ]]; then disk=${BASH_REMATCH[1]}; fi
  printf '%s' "${download:+$download to download}${disk:+, $disk on disk}"
}

purpose_of() {
  case $1 in
    "$jdk_package") printf 'the JDK 25 that builds jofi and runs it' ;;
    maven) printf 'builds jofi' ;;
    libfabric1) printf 'libfabric' ;;
    libfabric-dev) printf "libfabric's headers, for the tests" ;;
    libfabric-bin) printf "libfabric's programs, for the tests" ;;
    libibverbs-dev) printf "the headers of RDMA devices, for the tests" ;;
    librdmacm-dev) printf "the headers of RDMA connections, for the tests" ;;
    gcc) printf "compiles NCCL's plugin" ;;
    libc6-dev) printf 'the headers that gcc needs' ;;
    openmpi-bin) printf 'Open MPI, whose mpirun starts ranks, and to compare with' ;;
    libopenmpi-dev) printf "Open MPI's headers" ;;
    python3) printf 'reads the results of comparisons' ;;
    iproute2) printf 'lays rails between network namespaces, for the tests of rails that fail' ;;
    iptables) printf 'loses packets of such rails' ;;
    mpich) printf 'MPICH, whose mpirun starts ranks of the tests' ;;
    munge) printf 'by which the parts of Slurm know each other' ;;
    slurm-wlm) printf 'Slurm, which starts ranks of the tests' ;;
  esac
}

update_lists() {
  say "reading apt's package lists (apt-get update)"
  run_apt update
}

# Installs what is missing, one package after the other, so that each is announced with what it really adds. Says why
# if it cannot.
install_missing() {
  local package size started=$SECONDS updated=
  if ! apt_offers_all "${missing[@]}"; then
    # A fresh image carries no package lists. What failed matters only if a package stays unknown.
    updated=yes
    update_lists || true
    if is_missing "$jdk_package" && ! apt_offers "$jdk_package" && apt_offers maven; then return; fi
    if ! apt_offers_all "${missing[@]}" && [[ $apt_output == *[WE]:\ * ]]; then
      say "apt-get update failed: $(apt_cause)"
      return
    fi
  fi
  if ((${#missing[@]} > 1)); then
    size=$(size_of "${missing[@]}")
    say "installing ${#missing[@]} packages that jofi needs${size:+: at most $size}"
  fi
  for package in "${missing[@]}"; do
    size=$(size_of "$package")
    say "installing $package ($(purpose_of "$package"))${size:+: $size}"
    if run_apt install -y --no-install-recommends "$package"; then continue; fi
    if [[ -z $updated ]]; then
      # Old lists name files that are gone from the mirror.
      updated=yes
      update_lists || true
      if run_apt install -y --no-install-recommends "$package"; then continue; fi
    fi
    say "could not install $package: $(apt_cause)"
    return
  done
  say "installed in $((SECONDS - started)) s"
}

# --- The one line -----------------------------------------------------------------------------------------------------

thing_of() {
  case $1 in
    "$jdk_package") printf 'a JDK 25' ;;
    maven) printf 'Maven 3.8.7 or newer' ;;
    libfabric1) printf 'libfabric 1.17 or newer' ;;
    libfabric-dev) printf "libfabric's headers" ;;
    libfabric-bin) printf "libfabric's programs" ;;
    libibverbs-dev) printf "libibverbs' headers" ;;
    librdmacm-dev) printf "librdmacm's headers" ;;
    libc6-dev) printf "the C library's headers" ;;
    openmpi-bin) printf 'Open MPI' ;;
    libopenmpi-dev) printf "Open MPI's headers" ;;
    mpich) printf 'MPICH' ;;
    slurm-wlm) printf 'Slurm' ;;
    *) printf '%s' "$1" ;;
  esac
}

# What to do where no package holds a JDK 25.
readonly unpack_jdk="unpack a JDK 25 for Linux (Eclipse Temurin, for one) into a folder of $jvm_dir, or set JAVA_HOME to it"

# The command that installs packages, for whoever reads it.
install_command() {
  local sudo=
  if ((EUID != 0)); then sudo='sudo '; fi
  # Without package lists nothing can be told about the packages, nor installed.
  if ! apt_offers "$1"; then printf '%sapt-get update && ' "$sudo"; fi
  printf '%sapt-get install -y %s' "$sudo" "$*"
}

# Names all that is missing, and what to type, in one line.
name_missing() {
  local package rest=() things='' reason
  for reason in ${rejected[@]+"${rejected[@]}"}; do
    if is_missing "$jdk_package"; then say "not a JDK 25: $reason"; fi
  done
  for package in "${missing[@]}"; do
    things+=${things:+, }$(thing_of "$package")
    if [[ $package != "$jdk_package" ]]; then rest+=("$package"); fi
  done
  if ! has_apt; then
    say "missing: $things. There is no apt-get here: install them by this system's own means"
  elif ! is_missing "$jdk_package" || apt_offers "$jdk_package"; then
    say "missing: ${missing[*]}. Type:  $(install_command "${missing[@]}")"
  elif ! apt_offers maven; then
    say "missing: ${missing[*]}. Type:  $(install_command "${missing[@]}")" \
      "  (where apt has no $jdk_package, as on Debian 12: $unpack_jdk)"
  elif ((${#rest[@]} == 0)); then
    say "missing: a JDK 25, of which apt has no package here: $unpack_jdk"
  elif may_install; then
    say "missing: a JDK 25, of which apt has no package here: $unpack_jdk; then run this again, which installs" \
      "the rest (${rest[*]})"
  else
    say "missing: a JDK 25, of which apt has no package here: $unpack_jdk; and ${rest[*]}. Type:  $(install_command "${rest[@]}")"
  fi
}

# Installs what is missing of the given packages, or prints the one line to type. Ends the program if JDK or Maven
# stays missing, and fails if anything else does.
provide_packages() {
  local missing
  find_missing "$@"
  if ((${#missing[@]} > 0)) && may_install; then
    install_missing
    find_missing "$@"
  fi
  if ((${#missing[@]} == 0)); then return 0; fi
  name_missing
  if is_missing "$jdk_package" || is_missing maven; then exit "$environment_missing"; fi
  return 1
}

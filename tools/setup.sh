#!/usr/bin/env bash
# Sets up a development environment in one go: Java 17+, a virtual environment, the pinned dependencies.
# usage: tools/setup.sh VENV
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${1:?usage: tools/setup.sh VENV}
python=${PYTHON:-python3}

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

java_major() {
    local java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
    command -v "$java" >/dev/null 2>&1 || return 1
    "$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1
}

have_java() { local major; major=$(java_major) && [ -n "$major" ] && [ "$major" -ge 17 ]; }

install() {  # PACKAGE...
    local sudo=""
    command -v apt-get >/dev/null 2>&1 || return 1
    if [ "$(id -u)" -ne 0 ]; then
        sudo -n true >/dev/null 2>&1 || return 1
        sudo="sudo -n"
    fi
    say "installing $* with apt-get"
    $sudo apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    fail "Python 3.11 or newer is needed: install it, or name it with PYTHON=/path/to/python3.11"
have_java || { install default-jre-headless && have_java; } ||
    fail "Java 17 or newer is needed: install a JDK (on Debian: apt-get install default-jre-headless) or set JAVA_HOME"
have_browser() { command -v chromium >/dev/null 2>&1 && command -v chromedriver >/dev/null 2>&1; }
have_browser || { install chromium chromium-driver && have_browser; } ||
    say "without a browser the tests of the dashboard fail: install chromium and chromium-driver"

[ -x "$venv/bin/python" ] || { say "creating $venv"; "$python" -m venv "$venv"; }
say "installing dependencies (a minute or two the first time)"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
touch "$venv/.ready"
say "ready"

# shellcheck shell=bash disable=SC2034
# System packages for the other scripts; sourced, never run.
#
# On Debian and its relatives a missing package is installed, if the script may. Everywhere else, and
# where it may not, it says what is missing and goes on: what needs it will name it when it fails.

say() { printf '== %s\n' "$*"; }
warn() { printf '!! %s\n' "$*" >&2; }

# Runs a command as root: as we are, or through a sudo that asks for no password.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

may_install() {
    command -v apt-get >/dev/null || return 1
    [ "$(id -u)" -eq 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# need_packages WHAT_FOR PACKAGE...: status 1 when something stays missing.
need_packages() {
    local what_for=$1 package missing=()
    shift
    if ! command -v dpkg-query >/dev/null; then
        warn "no dpkg here; $what_for needs what Debian calls: $*"
        return 1
    fi
    for package; do
        installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if ! may_install; then
        warn "missing for $what_for, and neither root nor password-less sudo to install it:"
        warn "    apt-get install ${missing[*]}"
        return 1
    fi
    say "installing for $what_for: ${missing[*]}"
    local attempt
    for attempt in 1 2 3; do
        if as_root apt-get -qq update && as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get -qq -y --no-install-recommends install "${missing[@]}" </dev/null >/dev/null; then
            return 0
        fi
        warn "apt-get failed (attempt $attempt of 3)"
        [ "$attempt" -eq 3 ] || sleep $((attempt * 5))
    done
    return 1
}

# Whether the Vulkan loader and a driver for it are here.
have_vulkan() {
    ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1' || return 1
    [ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ] && return 0
    local folder
    for folder in /usr/share/vulkan/icd.d /usr/local/share/vulkan/icd.d /etc/vulkan/icd.d \
        "${XDG_DATA_HOME:-$HOME/.local/share}/vulkan/icd.d"; do
        compgen -G "$folder/*.json" >/dev/null && return 0
    done
    return 1
}

# Mesa's choice of a device asks Wayland, which without a runtime folder prints "error: ..." about
# something that is none. The program keeps it quiet itself; tests that draw in their own process
# can't.
quiet_mesa() {
    if [ -z "${XDG_RUNTIME_DIR:-}${MESA_VK_DEVICE_SELECT:-}" ]; then
        export NODEVICE_SELECT=1
    fi
}

# The Vulkan loader and Mesa's drivers, the software one among them.
VULKAN_PACKAGES=(libvulkan1 mesa-vulkan-drivers)
# What a window loads at run time.
WINDOW_PACKAGES=(libx11-6 libx11-xcb1 libxcb1 libxcursor1 libxi6 libxkbcommon0 libxkbcommon-x11-0
    libxrandr2)

# Prints a python3 that has numpy, which the script behind the built-in characters needs. The one of
# the distribution is asked last, because its package is the one that can be installed.
python_with_numpy() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import numpy' 2>/dev/null; then
            echo "$python"
            return 0
        fi
    done
    return 1
}

# cargo and the compilers that the build calls.
need_toolchain() {
    [ -n "${CARGO_HOME:-}" ] || PATH="$HOME/.cargo/bin:$PATH"
    if ! command -v cargo >/dev/null; then
        warn 'no cargo: install the stable Rust toolchain from https://rustup.rs'
        exit 1
    fi
    if ! command -v c++ >/dev/null; then
        need_packages 'the C++ parts of the build' g++ || exit 1
    fi
}

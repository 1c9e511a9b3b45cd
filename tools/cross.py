"""Builds the project for other machines with Debian's cross compilers, and runs its tests under qemu.

    ./dev cross aarch64 [--opt-level N] [--test [ARG ...]]      ARGs go to pytest, without the Rust tests
    ./dev cross windows
    ./dev cross musl

aarch64 is compiled and linked; `--test` then runs the Rust tests, and the Python tests with Debian's Python for arm64, which is
unpacked below target/cross and not installed. For windows and musl, the sources are checked, together with a standard
library that is compiled for the purpose. A warning is an error. All of it is compiled by Debian's rustc: rustup's compiler
and what it has built are not touched.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "cross"
RUSTC = Path("/usr/bin/rustc")


class Target(NamedTuple):
    triple: str
    packages: tuple[str, ...]


TARGETS = {
    "aarch64": Target(
        "aarch64-unknown-linux-gnu",
        (
            "rustc-web",
            "libstd-rust-web-dev:arm64",
            "gcc-aarch64-linux-gnu",
            "libc6-dev-arm64-cross",
            "qemu-user-static",
        ),
    ),
    "windows": Target("x86_64-pc-windows-gnu", ("rustc-web", "rust-web-src", "binutils-mingw-w64-x86-64")),
    "musl": Target("x86_64-unknown-linux-musl", ("rustc-web", "rust-web-src")),
}

#: Python for arm64 and the libraries that its modules need.
PYTHON_VERSION = "3.11"
PYTHON_PACKAGES = (
    "python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 libgcc-s1 libstdc++6 libcrypt1 zlib1g libbz2-1.0 liblzma5 "
    "libexpat1 libffi8 libssl3 libsqlite3-0 libuuid1 libreadline8 libncursesw6 libtinfo6 libdb5.3 libnsl2 libtirpc3"
)
#: The tags of wheels that run there.
PLATFORMS = ("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64")
#: Requirements of development that no test uses.
WITHOUT = ("maturin", "mypy", "ruff")


def stop(sentence: str) -> NoReturn:
    print(f"dev: {sentence}", file=sys.stderr)
    sys.exit(1)


def run(*argv: str | Path, cwd: Path = ROOT, variables: Mapping[str, str] | None = None) -> None:
    """Runs a command with more environment variables, and ends the script with its exit code if it fails."""
    print("+", *(Path(word).name if isinstance(word, Path) else word for word in argv), flush=True)
    code = subprocess.run([str(word) for word in argv], cwd=cwd, env=environment() | dict(variables or {})).returncode
    if code:
        sys.exit(128 - code if code < 0 else code)


def environment() -> dict[str, str]:
    """The variables of child processes: Debian's compiler, and PyO3 without a Python of the target, which the stable ABI allows."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYO3_PYTHON", "RUSTUP_TOOLCHAIN")}
    return env | {"RUSTC": str(RUSTC), "PYO3_NO_PYTHON": "1"}


def missing_packages(packages: Sequence[str]) -> list[str]:
    if not shutil.which("dpkg-query"):
        return list(packages)
    ask = ["dpkg-query", "--show", "--showformat=${db:Status-Status}"]
    answers = {name: subprocess.run([*ask, name], capture_output=True, text=True).stdout for name in packages}
    return [name for name, answer in answers.items() if answer != "installed"]


def need_packages(name: str) -> None:
    packages = TARGETS[name].packages
    missing = missing_packages(packages)
    if missing:
        before = "dpkg --add-architecture arm64 && " if any(package.endswith(":arm64") for package in missing) else ""
        stop(
            f"cross {name} needs Debian's packages {', '.join(missing)}: "
            f"{before}apt-get update && apt-get install --no-install-recommends {' '.join(missing)}"
        )


def check(target: Target) -> None:
    """Checks the sources for a target whose standard library is not packaged: it is compiled from its sources, too."""
    options = ["--workspace", "--lib", "--tests", "--profile", "quick", "--target", target.triple]
    # A stable compiler may compile its own standard library if it is told so. A module for Python is a dynamic library,
    # which musl has only if it is not linked statically.
    flags = "-Dwarnings" + (" -Ctarget-feature=-crt-static" if "musl" in target.triple else "")
    variables = {"RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": flags}
    build_std = "-Zbuild-std=std,panic_unwind,test"
    run("cargo", "check", *options, "--target-dir", str(FOLDER), build_std, variables=variables)


class Arm:
    """The build for aarch64 and its sysroot."""

    def __init__(self, opt_level: str) -> None:
        self.triple = TARGETS["aarch64"].triple
        self.folder = FOLDER / f"opt{opt_level}"
        self.sysroot = FOLDER / "aarch64-sysroot"
        self.site = FOLDER / "aarch64-site"
        self.package = self.folder / "package"
        # Cargo starts everything over when a flag changes: each level has a folder of its own.
        self.options = ["--profile", "quick", "--config", f"profile.quick.opt-level={opt_level}"]
        self.options += ["--target", self.triple, "--target-dir", str(self.folder)]
        variable = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_"
        self.variables = {
            f"{variable}LINKER": "aarch64-linux-gnu-gcc",
            f"{variable}RUNNER": "qemu-aarch64-static -L /usr/aarch64-linux-gnu",
            f"{variable}RUSTFLAGS": "-Dwarnings",
        }

    def build(self) -> None:
        run("cargo", "build", "-p", "strided-py", *self.options, variables=self.variables)

    def rust_tests(self) -> None:
        run("cargo", "test", "--workspace", "--all-targets", *self.options, variables=self.variables)

    def python_tests(self, args: Sequence[str]) -> None:
        python = self.unpack_python()
        self.install_wheels()
        shutil.rmtree(self.package, ignore_errors=True)
        shutil.copytree(ROOT / "python", self.package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        shutil.copy2(self.folder / self.triple / "quick/lib_strided.so", self.package / "strided/_strided.abi3.so")
        path = os.pathsep.join(map(str, (self.package, self.site)))
        variables = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        options = ["-q", "-p", "no:cacheprovider", "--numprocesses=auto", "--dist=worksteal"]
        run(python, "-m", "pytest", *options, *args, variables=variables)

    def unpack_python(self) -> Path:
        """Unpacks Python and its libraries. Returns a script that runs it under qemu, also as `sys.executable`: the kernel cannot
        start a program for arm64 by itself.
        """
        python = self.sysroot / "usr/bin/python"
        if not python.exists():
            packed = FOLDER / "packages"
            packed.mkdir(parents=True, exist_ok=True)
            run("apt-get", "download", *(f"{name}:arm64" for name in PYTHON_PACKAGES.split()), cwd=packed)
            for file in sorted(packed.glob("*.deb")):
                run("dpkg-deb", "--extract", file, self.sysroot)
            real = self.sysroot / f"usr/bin/python{PYTHON_VERSION}"
            python.write_text(f'#!/bin/sh\nexec qemu-aarch64-static -L "{self.sysroot}" -0 "$0" "{real}" "$@"\n')
            python.chmod(0o755)
        return python

    def install_wheels(self) -> None:
        """Installs the wheels for arm64 of the packages that the tests use."""
        lines = (ROOT / "tools/requirements.txt").read_text().splitlines()
        wanted = [line for line in lines if "==" in line and line.partition("==")[0] not in WITHOUT]
        stamp = self.site / "requirements"
        if stamp.exists() and stamp.read_text() == "\n".join(wanted):
            return
        shutil.rmtree(self.site, ignore_errors=True)
        platforms = [word for platform in PLATFORMS for word in ("--platform", platform)]
        python = ["--python-version", PYTHON_VERSION, "--implementation", "cp", "--only-binary=:all:"]
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        run(*pip, "--target", str(self.site), *platforms, *python, *wanted)
        stamp.write_text("\n".join(wanted))


def arguments() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(prog="./dev cross", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--test", action="store_true", help="aarch64: also run the tests, under qemu")
    parser.add_argument("--rust", action="store_true", help="aarch64: the Rust tests, too")
    parser.add_argument("--opt-level", default="1", help="aarch64: 1 unless given; 3 as in a wheel")
    return parser.parse_known_args()


def main() -> None:
    args, rest = arguments()
    if rest and not args.test:
        stop(f"cross takes arguments of pytest, such as {rest[0]}, after aarch64 --test only.")
    need_packages(args.target)
    if args.target != "aarch64":
        check(TARGETS[args.target])
        return
    arm = Arm(args.opt_level)
    arm.build()
    if args.rust:
        arm.rust_tests()
    if args.test:
        arm.python_tests(rest)


if __name__ == "__main__":
    main()

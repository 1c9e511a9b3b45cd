"""Runs tests under AddressSanitizer, and looks for races between threads.

    ./dev sanitize                      everything below
    ./dev sanitize address [NAME ...]   the Rust tests, and the fuzz families (or those named) for SECONDS each
    ./dev sanitize threads              the Rust tests of the thread pool and of storages

AddressSanitizer needs a nightly toolchain of rustup, which is used if it is there and never installed. Python itself has no
sanitizer: the runtime library is loaded before it, and finds the errors of the extension module.

Races are found by ThreadSanitizer, with which the standard library must be compiled, too. Its sources are the component rust-src
of the nightly toolchain, or Debian's package rust-web-src, for Debian's rustc and the runtime library of the toolchain. Without
either, valgrind's DRD stands in. tools/races.tsan and tools/races.supp say to them what is no error.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import fuzz

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "sanitize"
SECONDS = 15
#: Options of cargo. Compiling takes half as long at opt-level 1. Debug assertions check pointers, too.
SETTINGS = ("opt-level=1", "debug-assertions=true", "debug=1")
OPTIONS = ("--profile", "quick", *(word for text in SETTINGS for word in ("--config", f"profile.quick.{text}")))
DEBIAN_RUSTC = Path("/usr/bin/rustc")
DEBIAN_SOURCES = Path("/usr/lib/rustlib/src/rust/library/std")
#: The tests in which threads meet.
THREADED = ("threads::", "storage::", "alloc::")


def stop(sentence: str) -> NoReturn:
    print(f"dev: {sentence}", file=sys.stderr)
    sys.exit(1)


def run(*argv: str | Path, variables: Mapping[str, str] | None = None) -> None:
    """Runs a command with more environment variables, and ends the script with its exit code if it fails."""
    print("+", *(Path(word).name if isinstance(word, Path) else word for word in argv), flush=True)
    code = subprocess.run([str(word) for word in argv], cwd=ROOT, env=os.environ | dict(variables or {})).returncode
    if code:
        sys.exit(128 - code if code < 0 else code)


def output(*argv: str | Path) -> str:
    return subprocess.run([str(word) for word in argv], cwd=ROOT, capture_output=True, text=True, check=True).stdout


class Nightly:
    """The nightly toolchain. Its builds are kept apart, by what they are compiled with."""

    def __init__(self) -> None:
        toolchains = output("rustup", "toolchain", "list").split() if shutil.which("rustup") else []
        self.name = next((name for name in toolchains if name.startswith("nightly")), None)
        self.host = self.folder = None
        if self.name:
            version = output("rustup", "run", self.name, "rustc", "-vV").splitlines()
            self.host = next(line.split()[1] for line in version if line.startswith("host:"))
            self.folder = Path(output("rustup", "run", self.name, "rustc", "--print", "target-libdir").strip())

    def runtime(self, sanitizer: str) -> Path | None:
        """The static library of a sanitizer."""
        return next(self.folder.glob(f"librustc*_rt.{sanitizer}.a"), None) if self.folder else None

    def has_sources(self) -> bool:
        """Whether the standard library can be compiled."""
        return self.folder is not None and (self.folder.parents[1] / "src/rust/library/std").exists()

    def cargo(self, sanitizer: str, *words: str, variables: Mapping[str, str] | None = None) -> None:
        """Runs cargo with a sanitizer."""
        assert self.name and self.host
        options = [*OPTIONS, "--target", self.host, "--target-dir", str(FOLDER / sanitizer)]
        flags = {"RUSTFLAGS": f"-Zsanitizer={sanitizer}"}
        command = ["rustup", "run", self.name, "cargo", words[0], *options, *words[1:]]
        run(*command, variables=flags | dict(variables or {}))


def shared_runtime(static: Path) -> Path:
    """The runtime of AddressSanitizer as a library that can be preloaded. Rust has it for executables only."""
    copy, shared = FOLDER / "runtime.a", FOLDER / "libruntime.so"  # it refuses to run under the name libasan
    shutil.copy2(static, copy)
    # What a library may not have: functions that run before those of all libraries.
    run("ar", "d", copy, "asan_preinit.cpp.o")
    whole = ["-Wl,--whole-archive", str(copy), "-Wl,--no-whole-archive"]
    run("cc", "-shared", "-o", shared, *whole, "-lpthread", "-ldl", "-lm", "-lrt")
    return shared


def address(nightly: Nightly, families: list[str]) -> None:
    static = nightly.runtime("asan")
    if static is None:
        stop("AddressSanitizer needs a nightly toolchain of rustup: rustup toolchain install nightly --profile minimal")
    # A request that no machine can meet returns null, as without a sanitizer. Leaks are not looked for: Python has many.
    options = {
        "ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=1"
    }
    nightly.cargo("address", "test", "--workspace", "--all-targets", variables=options)
    nightly.cargo("address", "build", "-p", "strided-py")
    package = FOLDER / "package"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "python", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    module = FOLDER / f"address/{nightly.host}/quick/lib_strided.so"
    shutil.copy2(module, package / "strided/_strided.abi3.so")
    options |= {"PYTHONPATH": str(package), "LD_PRELOAD": str(shared_runtime(static))}
    for name in families or fuzz.FAMILIES:
        run(sys.executable, "tools/fuzz.py", name, "--minutes", str(SECONDS / 60), variables=options)


def test_executable() -> Path:
    """Builds the unit tests of the core without a sanitizer. Returns the path of the executable."""
    command = ["cargo", "test", "--profile", "quick", "--workspace", "--lib", "--no-run", "--message-format=json"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    built = [message for message in messages if message.get("target", {}).get("name") == "strided_core"]
    return next(Path(message["executable"]) for message in built if message.get("executable"))


def thread_sanitizer(nightly: Nightly) -> tuple[list[str], dict[str, str]] | None:
    """Cargo with ThreadSanitizer: its command and environment variables. None if the standard library cannot be compiled."""
    runtime = nightly.runtime("tsan")
    if not runtime or not nightly.name:
        return None
    if nightly.has_sources():
        return ["rustup", "run", nightly.name, "cargo"], {"RUSTFLAGS": "-Zsanitizer=thread"}
    if not (DEBIAN_SOURCES.exists() and DEBIAN_RUSTC.exists()):
        return None
    link = f"-Zpre-link-args=-Wl,--whole-archive {runtime} -Wl,--no-whole-archive"
    flags = ["-Zsanitizer=thread", "-Zexternal-clangrt", link]
    # The separator is not a space, which is part of an argument.
    variables = {"CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags), "RUSTC": str(DEBIAN_RUSTC), "RUSTC_BOOTSTRAP": "1"}
    return ["cargo"], variables


def threads(nightly: Nightly) -> None:
    found = thread_sanitizer(nightly)
    if found and nightly.host:
        cargo, variables = found
        variables["TSAN_OPTIONS"] = f"allocator_may_return_null=1:suppressions={ROOT / 'tools/races.tsan'}"
        options = ["-Zbuild-std", *OPTIONS, "--target", nightly.host, "--target-dir", str(FOLDER / "thread")]
        run(*cargo, "test", *options, "-p", "strided-core", "--lib", "--", *THREADED, variables=variables)
    elif shutil.which("valgrind"):
        print("rust-src and Debian's rust-web-src are missing: valgrind instead of ThreadSanitizer", flush=True)
        options = [
            "--tool=drd",
            "--error-exitcode=9",
            "--fair-sched=yes",
            f"--suppressions={ROOT / 'tools/races.supp'}",
        ]
        run("valgrind", "-q", *options, test_executable(), "--test-threads=1", *THREADED)
    else:
        stop("a search for races needs a nightly toolchain with rust-src (rustup component add rust-src), or valgrind")


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev sanitize", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", nargs="?", choices=("address", "threads"))
    parser.add_argument("families", nargs="*", metavar="NAME", help="fuzz families, all unless named")
    args = parser.parse_args()
    unknown = [name for name in args.families if name not in fuzz.FAMILIES]
    if unknown:
        stop(f"there is no fuzz family {unknown[0]}; there are {', '.join(fuzz.FAMILIES)}.")
    nightly = Nightly()
    FOLDER.mkdir(parents=True, exist_ok=True)
    if args.part != "threads":
        address(nightly, args.families)
    if args.part != "address":
        threads(nightly)


if __name__ == "__main__":
    main()

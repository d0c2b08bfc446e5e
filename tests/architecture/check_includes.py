"""Compares the real includes with the list of allowed ones in ARCHITECTURE.md.

The list is the fenced block that follows the line "allowed includes": `module -> module module … [library …]`.
Exit status 1 and one line for each include that points the wrong way.
"""
import pathlib
import re
import sys

# Third-party headers and the name that the list gives their library; a header of none of these is the standard
# library's or the operating system's.
LIBRARIES = {
    "sqlite3.h": "SQLite", "fmt/": "fmt", "tl/expected": "expected", "toml++/": "toml++", "nlohmann/": "nlohmann-json",
    "CLI/": "CLI11", "simdjson": "simdjson", "pugixml": "XML", "zlib.h": "zlib", "hdf5": "HDF5", "H5": "HDF5",
    "Eigen/": "Eigen", "torch/": "LibTorch", "ATen/": "LibTorch", "c10/": "LibTorch", "jpeglib.h": "libjpeg-turbo", "netcdf": "netCDF", "mpi.h": "MPI", "simgrid/": "SimGrid",
    "httplib": "HTTP",
}
EVERYWHERE = {"fmt", "expected"}


def allowed_table(root):
    text = (root / "ARCHITECTURE.md").read_text()
    block = re.search(r"allowed includes.*?```\n(.*?)```", text, re.S | re.I)
    if not block:
        sys.exit("ARCHITECTURE.md has no block of allowed includes")
    table = {}
    for line in block.group(1).splitlines():
        match = re.match(r"([\w/*, ]+?)\s*->\s*([^\[]*)(?:\[(.*)\])?\s*$", line)
        if not match:
            continue
        libraries = {word.strip() for word in (match.group(3) or "").split(",") if word.strip()}
        for name in match.group(1).split(","):
            table[name.strip()] = (set(match.group(2).split()), libraries)
    return table


def module_of(path, source):
    parts = path.relative_to(source).parts
    if parts[0] == "backends":
        return "backends/" + parts[1]
    return parts[0]


def main():
    root = pathlib.Path(sys.argv[1])
    source = root / "src" / "gradwatt"
    table = allowed_table(root)
    wrong = []
    for path in sorted(source.rglob("*.[ch]pp")) + sorted(source.rglob("*.h")):
        module = module_of(path, source)
        name = module if module in table else "backends/*" if module.startswith("backends/") else module
        if name not in table:
            wrong.append(f"{path.relative_to(root)}: module {module} is not in ARCHITECTURE.md's list")
            continue
        modules, libraries = table[name]
        is_test = path.stem.endswith("_test")
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            include = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
            if not include:
                continue
            target = include.group(1)
            if target.startswith("gradwatt/"):
                parts = target.split("/")
                other = "backends/" + parts[2] if parts[1] == "backends" else parts[1]
                if other != module and other not in modules and not is_test:
                    wrong.append(f"{path.relative_to(root)}:{number}: {module} must not include {other}")
                continue
            for prefix, library in LIBRARIES.items():
                if target.startswith(prefix) and library not in libraries | EVERYWHERE and not is_test:
                    wrong.append(f"{path.relative_to(root)}:{number}: {library} is not for {module}")
    print("\n".join(wrong) or "includes follow ARCHITECTURE.md")
    sys.exit(1 if wrong else 0)


main()

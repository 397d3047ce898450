#!/usr/bin/env python3
"""Makes the built-in characters: assets/humanoid.glb and assets/quadruped.glb.

The same input gives the same bytes. Needs numpy and nothing else. See docs/CHARACTERS.md.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from characters import humanoid, quadruped

ASSETS = pathlib.Path(__file__).resolve().parent.parent / "assets"
BUILDERS = {"humanoid": humanoid.build, "quadruped": quadruped.build}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="humanoid, quadruped; all by default")
    parser.add_argument("--check", action="store_true", help="compare with assets/, write nothing")
    parser.add_argument("--out", type=pathlib.Path, default=ASSETS, help="folder to write to")
    options = parser.parse_args()
    unknown = [n for n in options.names if n not in BUILDERS]
    if unknown:
        parser.error(f"no character is called {unknown[0]}; there are {', '.join(BUILDERS)}")
    differ = False
    for name in options.names or BUILDERS:
        data = BUILDERS[name]()
        path = options.out / f"{name}.glb"
        if options.check:
            same = path.is_file() and path.read_bytes() == data
            differ |= not same
            print(f"{path}: {'same' if same else 'DIFFERENT'}")
        else:
            path.write_bytes(data)
            print(f"{path}: {len(data)} bytes")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())

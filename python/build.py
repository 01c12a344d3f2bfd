# build.py abi FILE: only the table of functions, pons/_abi.py, for a package that has the library elsewhere.
# build.py LIBPONS OUT: the wheel pons-VERSION-py3-none-PLATFORM.whl in the folder OUT.
#
#   include/pons/*.h ──gcc -E──► declarations ──cffi──► pons/_abi.py      (never written by hand: they are
#   python/pons/                                                          what the library was built from)
#   LIBPONS and the libraries that it needs beyond the C library ──► pons/_lib/
#
# The declarations are compiled to a Python table here, so an import parses nothing and needs no
# compiler; the wheel fits every CPython 3, on machines whose C library is at least this one's.
import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import cffi

HERE = Path(__file__).resolve().parent
HEADERS = ["pons/functional.h", "pons/graph.h", "pons/items.h", "pons/plan.h", "pons/store.h"]
C_HEADERS = ["jansson.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "string.h", "stdio.h", "stdlib.h", "math.h"]
SYSTEM = re.compile(r"^(linux-vdso|ld-linux.*|libc|libm|libdl|libpthread|libgcc_s|librt)\.so")


def declarations():
    with tempfile.TemporaryDirectory() as fake:
        for name in C_HEADERS:
            Path(fake, name).touch()
        text = "".join(f'#include "{h}"\n' for h in HEADERS)
        flags = ["-nostdinc", "-D__attribute__(x)=", f"-I{fake}", f"-I{HERE.parent / 'include'}"]
        out = subprocess.run(["gcc", "-E", "-P", "-xc", *flags, "-"], input=text, text=True, check=True, capture_output=True)
    out = "typedef struct json_t json_t;\nvoid free(void *);\n" + out.stdout
    kept, depth, skip = [], 0, False  # without the bodies of inline functions, and those functions
    for line in out.splitlines():
        if depth == 0 and line.startswith("static inline"):
            skip = True
        if not skip:
            kept.append(line)
        depth += line.count("{") - line.count("}")
        if skip and depth == 0 and "}" in line:
            skip = False
    return "\n".join(line for line in kept if "va_list" not in line and "pons__absent" not in line)


def triplet():
    """Of the machine that it is for: CROSS, such as aarch64-linux-gnu, else this one."""
    return os.environ.get("CROSS") or subprocess.run(["gcc", "-dumpmachine"], text=True, check=True, capture_output=True).stdout.strip()


def needed(library):
    """The libraries that it needs, and that they need, beyond the system's: read from the files, of whichever machine."""
    found, left = {}, [library]
    for path in left:
        for name in re.findall(r"\(NEEDED\).*\[(.+)\]", subprocess.run(["readelf", "-dW", path], text=True, check=True, capture_output=True).stdout):
            if not SYSTEM.match(name) and name not in found:
                found[name] = next(p for p in (Path(d, triplet(), name) for d in ("/usr/lib", "/lib")) if p.exists())
                left.append(found[name])
    return sorted(found.items())


def version():
    return re.search(r"project\(pons VERSION ([\d.]+)", (HERE.parent / "CMakeLists.txt").read_text())[1]


def table(path):
    ffi = cffi.FFI()
    ffi.cdef(declarations())
    ffi.set_source("pons._abi", None)
    ffi.emit_python_code(str(path))


def wheel(library, out):
    with tempfile.TemporaryDirectory() as work:
        table(Path(work, "_abi.py"))
        files = {"pons/_abi.py": Path(work, "_abi.py").read_bytes()}
        small = Path(work, "libpons.so.0")
        subprocess.run([f"{triplet()}-strip", "--strip-unneeded", "-o", small, library], check=True)
        files["pons/_lib/libpons.so.0"] = small.read_bytes()
    for path in sorted((HERE / "pons").rglob("*.py")):
        files[str(path.relative_to(HERE))] = path.read_bytes()
    for name, path in needed(library):
        files[f"pons/_lib/{name}"] = Path(path).read_bytes()
    machine = f"manylinux_{platform.libc_ver()[1].replace('.', '_')}_{triplet().split('-')[0]}"
    tag, info = f"py3-none-{machine}", f"pons-{version()}.dist-info"
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: pons\nVersion: {version()}\nRequires-Python: >=3.10\nRequires-Dist: cffi>=1.15\n"
        "Summary: Durable graphs of Python nodes on the engine of pons\nDescription-Content-Type: text/markdown\n\n"
        + (HERE.parent / "docs/reference/python.md").read_text()
    ).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: pons\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, f"pons-{version()}-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in files.items():  # the same input gives the same bytes
            z.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return path


if __name__ == "__main__":
    if sys.argv[1] == "abi":
        table(sys.argv[2])
    else:
        print(wheel(sys.argv[1], sys.argv[2]))

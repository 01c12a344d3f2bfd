#!/usr/bin/env python3
"""Python packages of interfaces that no wheel has, for rclpy: make_interfaces.py OUT TEXTS… [-- pkg/kind/Name…]

TEXTS hold interfaces after lines "=== pkg/kind/Name", as config/ros2/*.msgs do; without names all of them are made. Run by a
Python with rclpy and ROS's generators in it (requirements-rclpy.txt), which are called one by one: the command `rosidl` of these
wheels finds a generator twice. The code goes to OUT/PKG with one library; PYTHONPATH=OUT and LD_LIBRARY_PATH=OUT/lib find them.
Nothing is made twice: OUT/PKG/.made has the sum of what it was made from.
"""
import hashlib, os, pathlib, re, shutil, subprocess, sys, sysconfig

SUPPORTS = ["rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c"]  # what rmw_fastrtps asks for


def read(files, wanted):
    """{package: {kind/Name: text}}"""
    found = {}
    for name in files:
        with open(name) as f:
            parts = re.split(r"^=== *(\w+)/(msg|srv|action)/(\w+) *\n", f.read(), flags=re.M)[1:]
        for package, kind, x, text in zip(*(parts[i::4] for i in range(4))):
            if not wanted or f"{package}/{kind}/{x}" in wanted:
                found.setdefault(package, {})[f"{kind}/{x}"] = text
    return found


def generate(package, interfaces, out, share):
    from rosidl_adapter.action import convert_action_to_idl
    from rosidl_adapter.msg import convert_msg_to_idl
    from rosidl_adapter.srv import convert_srv_to_idl
    from rosidl_generator_c.cli import GenerateC
    from rosidl_generator_py.cli import GeneratePython
    from rosidl_generator_type_description.cli import HashTypeDescription
    from rosidl_typesupport_c.cli import GenerateCTypesupport
    from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport
    from rosidl_typesupport_introspection_c.cli import GenerateIntrospectionCTypesupport
    convert = {"action": convert_action_to_idl, "msg": convert_msg_to_idl, "srv": convert_srv_to_idl}
    files = []
    for name, text in interfaces.items():
        kind = name.split("/")[0]
        source = out / f"{name}.{kind}"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
        files.append(f"{out}:{convert[kind](out, package, source.relative_to(out), source.parent).relative_to(out)}")
    hashes = HashTypeDescription("hash").generate_type_hashes(package, files, [str(share)], out)
    GenerateC("c").generate(package, files, [str(share)], out, hashes)
    for g in (GenerateFastRTPSCTypesupport("fast"), GenerateCTypesupport("c", typesupport_implementations=SUPPORTS),
              GeneratePython("py", typesupport_implementations=["rosidl_typesupport_c"])):
        g.generate(package, files, [str(share)], out)
    # Its files have names of the first one's.
    GenerateIntrospectionCTypesupport("look").generate(package, files, [str(share)], out / "introspection" / package)


def compile_all(package, out):
    import numpy
    prefix = pathlib.Path(sys.prefix)
    objects, running = [], []
    # The templates of these wheels look for what they generate at PKG/…, and Python does too.
    flags = ["-O0", "-fPIC", "-w", f"-I{out.parent}", f"-I{out}/introspection", f"-I{sysconfig.get_path('include')}", f"-I{numpy.get_include()}", f"-I{prefix}/include"]
    flags += [f"-I{d}" for d in sorted((prefix / "include").iterdir()) if d.is_dir()]
    for source in sorted([*out.rglob("*.c"), *out.rglob("*.cpp")]):
        objects.append(str(source) + ".o")
        running.append(subprocess.Popen([os.environ.get("CC", "cc"), *flags, *(["-std=c++17"] if source.suffix == ".cpp" else []), "-c", str(source), "-o", objects[-1]]))
        if len(running) >= (os.cpu_count() or 1):
            assert running.pop(0).wait() == 0, "a generated file does not compile"
    assert all(p.wait() == 0 for p in running), "a generated file does not compile"
    needs = [str(lib) for kind in ("rosidl_generator_c", "rosidl_generator_py", "rosidl_typesupport_c", *SUPPORTS)
             for lib in sorted((prefix / "lib").glob(f"lib*_*__{kind}.so"))]
    needs += [str(prefix / "lib" / f"lib{x}.so") for x in ("rosidl_runtime_c", "rosidl_typesupport_c", "rosidl_typesupport_fastrtps_c",
                                                           "rosidl_typesupport_fastrtps_cpp", "rosidl_typesupport_introspection_c", "fastcdr", "rcutils", "rmw")]
    subprocess.run(["c++", "-shared", "-o", str(out / f"{package}_s__rosidl_typesupport_c.so"), *objects, "-Wl,--as-needed", *needs,
                    f"-Wl,-rpath-link,{prefix}/lib"], check=True)
    (out.parent / "lib").mkdir(exist_ok=True)
    for kind in SUPPORTS:
        name = out.parent / "lib" / f"lib{package}__{kind}.so"
        name.unlink(missing_ok=True)
        name.symlink_to(f"../{package}/{package}_s__rosidl_typesupport_c.so")


def main():
    os.environ["AMENT_PREFIX_PATH"] = sys.prefix
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    root, texts, wanted = pathlib.Path(words[0]).absolute(), words[1:cut], words[cut + 1:]
    for package, interfaces in read(texts, wanted).items():
        out = root / package
        stamp = hashlib.sha256((repr(sorted(interfaces.items())) + pathlib.Path(__file__).read_text() + sys.prefix).encode()).hexdigest()
        if (out / ".made").exists() and (out / ".made").read_text() == stamp:
            continue
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        generate(package, interfaces, out, pathlib.Path(sys.prefix) / "share")
        (out / "__init__.py").touch()
        compile_all(package, out)
        (out / ".made").write_text(stamp)


main()

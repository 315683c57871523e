# mypy: ignore-errors
"""Starts a Python client again and again by forking a process that has imported it once.

It stands alone: it runs in the interpreter of the client, which need not have this package. It
reads a line of JSON for each run, and writes one when that begins and one when it ends.
"""

import ast
import atexit
import json
import os
import runpy
import select
import signal
import sys
import threading
import traceback

# Modules that nearly every client needs, and the shim.
_OFTEN = ("asyncio", "datetime", "decimal", "hashlib", "http.client", "socket", "urllib.request")
_HERE = os.path.dirname(os.path.abspath(__file__))
_MARK = "CROSSCHAIN_MOCK_STARTED_BY"


def command_of(words):
    """Return what a Python command runs: its kind and the rest; None where it cannot be forked."""
    rest = list(words)
    if not rest or rest[0] == "-" or not rest[0]:
        return None
    if rest[0] == "-m" and len(rest) > 1:
        return {"kind": "module", "name": rest[1], "argv": rest[1:]}
    if rest[0] == "-c" and len(rest) > 1:
        return {"kind": "code", "name": rest[1], "argv": ["-c", *rest[2:]]}
    if rest[0].startswith("-"):
        return None
    return {"kind": "script", "name": rest[0], "argv": rest}


def play(order):
    """Run a client's program in this process, as the interpreter would; return its exit code."""
    kind, name = order["kind"], order["name"]
    sys.argv = list(order["argv"])
    try:
        if kind == "module":
            sys.path[0] = os.getcwd()
            runpy.run_module(name, run_name="__main__", alter_sys=True)
            return 0
        if kind == "code":
            sys.path[0], text, place = "", name, "<string>"
        else:
            # As the interpreter has it, `__file__` is absolute, and the first word is not.
            place = os.path.abspath(name)
            sys.path[0] = os.path.dirname(place)
            with open(place, "rb") as file:
                text = file.read()
            if text.startswith(b"PK"):
                runpy.run_path(name, run_name="__main__")
                return 0
        main = type(sys)("__main__")
        main.__builtins__ = __builtins__
        if kind == "script":
            main.__file__ = place
        sys.modules["__main__"] = main
        exec(compile(text, place, "exec"), vars(main))  # noqa: S102 (the user's command)
    except SystemExit as ended:
        return exit_code(ended)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def exit_code(ended):
    """Return the exit code of a SystemExit, whose text is printed as the interpreter does."""
    if ended.code is None:
        return 0
    if isinstance(ended.code, int):
        return ended.code & 255
    print(ended.code, file=sys.stderr)
    return 1


def become(order, run):
    """Be the client, in a freshly forked process, and never return."""
    code = 1
    try:
        _prepare(order)
        code = run(order)
        threading._shutdown()
        atexit._run_exitfuncs()
    except SystemExit as ended:
        code = exit_code(ended)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
        os._exit(code)


def _prepare(order):
    """Give a freshly forked process the surroundings of the client that it is to be."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.set_wakeup_fd(-1)
    _streams(order["out"])
    _show(order["env"].get(_MARK, ""))
    os.environ.clear()
    os.environ.update(order["env"])
    if order.get("cwd"):
        os.chdir(order["cwd"])
    if order["env"].get("CROSSCHAIN_MOCK_CLOCK"):
        _shim()


def _show(mark):
    """Let the system show a mark in the environment of this process, and of all that it forks."""
    # A daemon that only forks, and closes all files, is found by nothing else. The variable has
    # room for it (`processes.with_room`); the length of its text stays.
    try:
        import ctypes

        find = ctypes.CDLL(None).getenv
        find.restype = ctypes.c_void_p
        place = find(_MARK.encode())
        size = len(ctypes.string_at(place)) if place else 0
        if len(mark.encode()) <= size:
            ctypes.memmove(place, mark.encode().ljust(size), size)
    except (ImportError, OSError, AttributeError):
        # No such system: what stays in the session of the client is found.
        pass


def _streams(out):
    """Read nothing, and write all to one file."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    written = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number, source in ((0, nothing), (1, written), (2, written)):
        os.dup2(source, number)
    sys.stdin = open(0, closefd=False)
    sys.stdout = open(1, "w", buffering=1, closefd=False, errors="backslashreplace")
    sys.stderr = open(2, "w", buffering=1, closefd=False, errors="backslashreplace")


def _shim():
    """Move the world in place of sleeping."""
    sys.path.insert(1, os.path.join(_HERE, "shims", "python"))
    import crosschain_timeshim

    del sys.path[1]
    crosschain_timeshim.install(os.environ["CROSSCHAIN_MOCK_CLOCK"])


def serve(orders, answers, run):
    """Fork a client for each line that comes, and tell when each begins and ends.

    `orders` and `answers` are file descriptors. Without `run`, this returns in each fork, which
    then goes on as the client that was started.
    """
    # A child that ends wakes the loop, which otherwise waits for orders.
    awake, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    waiting, kept = {}, b""
    while True:
        ready, _, _ = select.select([orders, awake], [], [])
        if awake in ready:
            os.read(awake, 4096)
        _reap(waiting, answers)
        if orders not in ready:
            continue
        came = os.read(orders, 65536)
        if not came:
            for pid in waiting:
                _kill(pid)
            return False
        *lines, kept = (kept + came).split(b"\n")
        for line in lines:
            order = json.loads(line)
            pid = os.fork()
            if not pid:
                for number in (orders, answers, awake, waking):
                    os.close(number)
                if run is None:
                    _prepare(order)
                    return True
                become(order, run)
            waiting[pid] = order["run"]
            _tell(answers, {"run": order["run"], "pid": pid})


def _reap(waiting, answers):
    for pid in list(waiting):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            # What the client has left behind ends with it.
            left = _kill(pid)
            _tell(answers, {"run": waiting.pop(pid), "code": code, "left": left})


def _kill(pid):
    """Kill a process group, and tell whether there was anything to kill."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        return False
    return True


def _tell(answers, message):
    os.write(answers, json.dumps(message).encode() + b"\n")


def imports_of(script):
    """Return the modules that a script imports, by itself and through files beside it."""
    folder, seen, waiting, names = os.path.dirname(os.path.abspath(script)), set(), [script], []
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        try:
            with open(path, "rb") as file:
                tree = ast.parse(file.read())
        except (OSError, SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported = [node.module]
            for name in imported:
                own = os.path.join(folder, name.partition(".")[0])
                if os.path.isfile(own + ".py"):
                    waiting.append(own + ".py")
                elif not os.path.isdir(own):
                    names.append(name)
    return names


def main():
    """Import what the client needs, and then fork a client for each line."""
    orders, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    names = ["ctypes", *(name for script in sys.argv[1:] for name in imports_of(script))]
    for name in dict.fromkeys([*_OFTEN, *names]):
        try:
            __import__(name)
        except Exception:
            pass
    serve(orders, answers, play)


if __name__ == "__main__":
    main()

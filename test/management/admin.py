# Runs commands of rabbitmqadmin, which is loaded once: a list of arguments a line in, [exit code, stdout, stderr] a line out.
import contextlib, io, json, os, sys, traceback

program = sys.argv[1]
admin = {'__name__': 'rabbitmqadmin'}
with open(program) as file:
    exec(compile(file.read(), program, 'exec'), admin)

for line in iter(sys.stdin.readline, ''):
    if os.fork() > 0:  # a process of its own, because the program keeps its options in globals
        os.wait()
        continue
    sys.argv = [program, *json.loads(line)]
    code, out, err = 0, io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            admin['main']()
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            code = 1
            traceback.print_exc()
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
    os._exit(0)

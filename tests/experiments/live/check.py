"""The trainings of tests/experiments/live/run, and what must be true of them: check.py RESIDUUM SCRATCH [CASE...]."""

import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import warnings

import numpy
import torch

import residuum

PROGRAM, SCRATCH = sys.argv[1], pathlib.Path(sys.argv[2])
TRAINING = pathlib.Path(__file__).with_name("training.py")

SHADOW = """schema = 1
name = "live"
[sparsifier]
kind = "top-k"
density = 0.1
[probes]
times = false
[sweep]
"aggregator.kind" = ["gtopk-tree", "allgather"]
"""
DENSE = """schema = 1
name = "live"
[sparsifier]
kind = "none"
[aggregator]
kind = "dense"
[step]
value = "live"
[probes]
times = false
"""


def train(name, size, study=SHADOW, **settings):
    """Trains on `size` ranks; returns the exit codes and what they printed."""
    folder = SCRATCH / name
    folder.mkdir(exist_ok=True)
    (folder / "live.toml").write_text(study)
    store = folder / f"store-{len(list(folder.iterdir()))}"
    settings = {"model": "mlp", "steps": 6, "study": str(folder / "live.toml"), "out": str(folder / "results"), "store": str(store),
                "own": str(folder / "own"), **settings}
    (folder / "settings.json").write_text(json.dumps(settings))
    ranks = [subprocess.Popen([sys.executable, TRAINING, folder / "settings.json"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(size)}) for rank in range(size)]
    printed = [rank.communicate(timeout=200)[0] for rank in ranks]
    return folder, [rank.returncode for rank in ranks], printed


def tables(results):
    """The rows of all runs by the words that tell methods apart, without their ids."""
    found = {}
    for run in sorted((results / "runs").iterdir()):
        method = json.loads((run / "config.json").read_text())["config"]["aggregator"]["kind"]
        for table in ("iterations.csv", "checks.csv"):
            rows = list(csv.reader((run / table).open()))
            found[method, table] = [row[1:] for row in rows]
    return found


def run_recorded(folder, study, size, steps):
    gradients = numpy.stack([numpy.load(folder / f"own-{rank}.npy") for rank in range(size)], axis=1)
    numpy.save(folder / "gradients.npy", gradients)
    text = study + f'[objective]\nkind = "recorded"\ndata = "{folder / "gradients.npy"}"\n[workers]\ncount = {size}\n[budget]\niterations = {steps}\n'
    (folder / "recorded.toml").write_text(text)
    subprocess.run([PROGRAM, "run", folder / "recorded.toml", "--out", folder / "recorded", "--progress", "none"], check=True, stdout=subprocess.DEVNULL)


def expect(condition, what, printed=()):
    if not condition:
        print("\n".join(printed))
        raise AssertionError(what)


def recorded_and_live_are_equal():
    cases = [("mlp", 1, {}), ("mlp", 2, {"bucket_mb": 0.0001}), ("transformer", 2, {}), ("transformer", 4, {"bucket_mb": 0.001}),
             ("unused", 2, {}), ("mlp", 3, {"accumulate": 2})]
    for model, size, settings in cases:
        name = f"equal-{model}-{size}-{'-'.join(settings)}"
        folder, codes, printed = train(name, size, model=model, **settings)
        expect(codes == [0] * size, f"{name}: {codes}", printed)
        run_recorded(folder, SHADOW, size, 6)
        live, recorded = tables(folder / "results"), tables(folder / "recorded")
        expect(len(live) == 4 and live == recorded, f"{name}: the tables differ", printed)
        # The training has the bits of one without a study.
        alone = train(name + "-alone", size, model=model, attach=False, **settings)[0]
        for rank in range(size):
            weights = [numpy.load(where / f"own-weights-{rank}.npy") for where in (folder, alone)]
            expect(weights[0].tobytes() == weights[1].tobytes(), f"{name}: the weights of rank {rank} differ")


def a_model_of_many_blocks_is_measured():
    for size in (2, 3):
        folder, codes, printed = train(f"wide-{size}", size, model="wide", steps=2)
        expect(codes == [0] * size, f"wide: {codes}", printed)
        expect(all(len(rows) > 2 for rows in tables(folder / "results").values()), "both steps have rows", printed)


def dense_apply_is_the_training():
    folder, codes, printed = train("apply", 3, study=DENSE, apply=True)
    expect(codes == [0, 0, 0], f"apply: {codes}", printed)
    alone = train("apply-alone", 3, attach=False)[0]
    for rank in range(3):
        applied, plain = (numpy.load(where / f"own-weights-{rank}.npy") for where in (folder, alone))
        # Sums of three float32 in another order, in six steps of 0.1.
        numpy.testing.assert_allclose(applied, plain, rtol=0, atol=6 * 0.1 * 4 * 2.0**-24 * 3)
        expect(not numpy.array_equal(plain, numpy.load(alone / "own-0.npy")[0]), "the weights are weights")


def a_restart_goes_on():
    whole, codes, printed = train("whole", 2, steps=8)
    expect(codes == [0, 0], "whole", printed)
    checkpoint = str(SCRATCH / "restart" / "checkpoint.pt")
    folder, codes, printed = train("restart", 2, steps=8, save_at=5, stop_at=7, checkpoint=checkpoint)
    expect(codes == [0, 0] and os.path.exists(checkpoint), "stopped", printed)
    folder, codes, printed = train("restart", 2, steps=8, checkpoint=checkpoint)
    expect(codes == [0, 0], "restarted", printed)
    expect(tables(whole / "results") == tables(folder / "results"), "the tables of a restart differ", printed)


def bad_input_is_one_line():
    def refused(name, size, words, ranks=None, **settings):
        _, codes, printed = train(name, size, **settings)
        for rank in ranks if ranks is not None else range(size):
            lines = [line for line in printed[rank].splitlines() if "ResiduumError" in line or "the study has stopped" in line]
            expect(lines and all(word in lines[-1] for word in words), f"{name}: rank {rank} said {lines}", printed)
        return codes

    refused("two-methods", 1, ["2 runs", "apply"], apply=True)
    refused("unknown-key", 2, ["'step.valeu'", "'step.value'"], study=SHADOW + "[step]\nvaleu = 1\n")
    refused("other-model", 2, ["layers of the model", "rank 1"], other_model="transformer")
    codes = refused("nan", 2, ["worker 1", "iteration 2", "0.weight"], nan_at=2)
    expect(codes == [0, 0], "the training goes on after a gradient that is not finite")
    refused("no-folder", 1, ["/dev/null/results"], out="/dev/null/results")
    refused("step-of-T", 1, ["T, the number of iterations"], study=SHADOW + '\n[step]\nvalue = "1/sqrt(T)"\n')
    folder, codes, printed = train("dies", 2, die_at=3)
    expect(codes[1] == 9 and codes[0] != 0, f"a rank that dies: {codes}", printed)
    for run in (folder / "results" / "runs").iterdir():
        expect('"state": "interrupted"' in (run / "status.json").read_text(), f"what was measured before a rank died can go on: {run}")
        expect(len((run / "iterations.csv.part").read_text().splitlines()) > 1, f"and its rows are there: {run}")
    watched = subprocess.run([PROGRAM, "watch", "--once", str(folder / "results")], capture_output=True, text=True, check=True).stdout
    expect("interrupted" in watched, watched)
    refused("iterations-of-local", 1, ["'protocol.kind'", "bsp"], study=SHADOW + '\n[protocol]\nkind = "local"\nperiod = 2\n')


def several_workers_of_one_process():
    torch.manual_seed(3)
    model = torch.nn.Linear(4, 2)
    folder = SCRATCH / "workers"
    folder.mkdir()
    (folder / "live.toml").write_text(SHADOW)
    rows = torch.randn(5, 3, 10)
    with residuum.attach(model, folder / "live.toml", folder / "results", workers=3) as monitor:
        for row in rows:
            monitor.step([[one[:8].reshape(2, 4), one[8:]] for one in row], lr=0.5, loss=1.25)
        for wrong in (rows[0][:2], [[rows[0][0][:8]]] * 3, list(rows[0][:, :9])):
            try:
                monitor.step(wrong)
                raise AssertionError("a step of another shape was taken")
            except residuum.ResiduumError as error:
                expect("step 5" in str(error), str(error))
    for rank in range(3):
        numpy.save(folder / f"own-{rank}.npy", rows[:, rank].numpy())
    run_recorded(folder, SHADOW, 3, 5)
    expect(tables(folder / "results") == tables(folder / "recorded"), "the tables of three workers differ")
    notes = list(csv.reader((folder / "results" / "training.csv").open()))
    expect(notes[0] == ["step", "learning_rate", "loss"] and notes[-1] == ["4", "0.5", "1.25"] and len(notes) == 6, notes)
    for study, words in ((SHADOW, "already holds"), (SHADOW + "[workers]\ncount = 4\n", "the training has 3 workers")):
        (folder / "live.toml").write_text(study)
        try:
            residuum.attach(model, folder / "live.toml", folder / "results", workers=3)
            raise AssertionError("attached to " + words)
        except residuum.ResiduumError as error:
            expect(words in str(error), str(error))


def what_ends_one_study_ends_no_other():
    model = torch.nn.Linear(3, 1, bias=False)
    folder = SCRATCH / "ends"
    folder.mkdir()
    (folder / "live.toml").write_text(DENSE)
    try:
        with residuum.attach(model, folder / "live.toml", folder / "first") as monitor:
            monitor.step(torch.ones(3))
            raise KeyError("the training fails")
    except KeyError:
        pass
    monitor = residuum.attach(model, folder / "live.toml", folder / "second")
    monitor.load_state_dict(monitor.state_dict())  # nothing yet
    monitor.step([torch.ones(1, 3)], lr=0.0)  # a warm-up begins
    monitor.step([torch.ones(1, 3)], lr=0.5)
    monitor.note(2.5)
    for wrong in ([torch.ones(3, 1)], [torch.ones(2)]):
        try:
            monitor.step(wrong)
            raise AssertionError("a gradient of another shape was taken")
        except residuum.ResiduumError as error:
            expect("shape" in str(error) and "weight" in str(error), str(error))
    child = os.fork()
    if child == 0:
        sys.exit(0)  # the inherited close at exit has no threads to wait for
    expect(os.waitpid(child, 0)[1] == 0, "a fork ends")
    monitor.close()
    expect(not (folder / "first" / "runs.csv").exists() and (folder / "second" / "runs.csv").exists(), "tables of the second study")
    expect((folder / "second" / "training.csv").read_text().splitlines()[-1] == "0,0.5,2.5", (folder / "second" / "training.csv").read_text())


def bfloat16_and_scale():
    model = torch.nn.Linear(3, 1, bias=False)
    folder = SCRATCH / "half"
    folder.mkdir()
    (folder / "live.toml").write_text(DENSE)
    gradient = torch.tensor([[1.0, -2.5, 0.125]], dtype=torch.bfloat16)
    with residuum.attach(model, folder / "live.toml", folder / "results", apply=True) as monitor:
        update = monitor.step([gradient], lr=0.25)
        expect(torch.equal(update, gradient.float().reshape(-1)), f"the update is the gradient: {update}")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            expect(torch.equal(monitor.step([None], lr=0.25), torch.zeros(3)), "no gradient is 0")
            update = monitor.step([gradient.float().to_sparse()], lr=0.25)
            expect(torch.equal(update, gradient.float().reshape(-1)), f"a sparse gradient is what it stands for: {update}")


def gradients_on_a_device_stay_there():
    """The stand-in of a device has the tensors; pairs and norms are copied from there, and at the end the residuals."""
    model, folder = torch.nn.Linear(30, 20), SCRATCH / "device"
    folder.mkdir()
    on_device = '[workers]\ndevice = "auto"\n'
    study = SHADOW.split("[sweep]")[0].replace("density = 0.1", "k = 5").replace("times = false", "names = []")
    rows = torch.randn(6, 620)
    for name, text, device in (("host", study, None), ("there", study + on_device, "stand-in"), ("unasked", study, "stand-in")):
        (folder / "live.toml").write_text(text)
        with residuum.attach(model, folder / "live.toml", folder / name, apply=True, device=device) as monitor:
            updates = [monitor.step(row, lr=0.5) for row in rows]
        first = updates if name == "host" else first
        expect(all(torch.equal(one, other) for one, other in zip(updates, first)), f"{name}: the updates differ")
        run, = (folder / name / "runs").iterdir()
        record = json.loads((run / "status.json").read_text())["provenance"].get("worker_memory")
        expect((record is not None) == (name == "there"), f"{name}: {record}")
        if record is not None:
            pairs = 6 * (5 * 8 + 3 * 8)
            expect(pairs <= record["to_host_bytes"] <= pairs + 4 * 620, record)
            expect(record["to_device_bytes"] < 4 * 620, record)


def a_last_step_that_fails_is_told():
    model = torch.nn.Linear(3, 1, bias=False)
    folder = SCRATCH / "last"
    folder.mkdir()
    (folder / "live.toml").write_text(DENSE)
    monitor = residuum.attach(model, folder / "live.toml", folder / "results")
    monitor.step(torch.ones(3), lr=0.5)
    monitor.step(torch.full((3,), float("nan")), lr=0.5)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        monitor.close()
    expect("not finite at iteration 1" in monitor.stopped, f"stopped: {monitor.stopped}")
    expect(any("the study has stopped" in str(one.message) for one in told), [str(one.message) for one in told])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        expect(monitor.state_dict() == {}, "a study that has stopped has no state")
    expect(any("needs another folder" in str(one.message) for one in told), [str(one.message) for one in told])


def nothing_else_is_exported():
    names = subprocess.run(["nm", "-D", "--defined-only", os.environ["RESIDUUM_LIBRARY"]], capture_output=True, text=True, check=True).stdout
    functions = sorted(line.split()[-1] for line in names.splitlines())
    expect(functions == sorted("residuum_" + name for name in "open takes_device_memory step note save load close last_error".split()), functions[:20])
    needed = subprocess.run(["ldd", os.environ["RESIDUUM_LIBRARY"]], capture_output=True, text=True, check=True).stdout
    expect("libtorch" not in needed, needed)


def the_library_is_found_or_asked_for():
    """Beside residuum.py, in build/release of the sources, in lib of an installation; else one line says what to do."""
    folder = SCRATCH / "places"
    script = "import residuum\ntry:\n    print(residuum._find_library())\nexcept residuum.ResiduumError as error:\n    print(error)"
    source = pathlib.Path(residuum.__file__)
    environment = {name: value for name, value in os.environ.items() if name not in ("RESIDUUM_LIBRARY", "PYTHONPATH", "LD_LIBRARY_PATH")}

    def found(root, place):
        (root / place).mkdir(parents=True)
        shutil.copy(source, root / place)
        return lambda: subprocess.run([sys.executable, "-c", script], cwd=root / place, env=environment, capture_output=True, text=True).stdout.strip()

    sources, installed = folder / "sources", folder / "installed"
    in_sources, in_installation = found(sources, "experiments/live"), found(installed, "share/residuum/python")
    answer = in_sources()
    expect("libresiduum_live.so is not there" in answer and "cmake --build build/release --target residuum_live" in answer, answer)
    expect(len(answer.splitlines()) == 1, answer)
    for library, look in ((sources / "build/release", in_sources), (installed / "lib/x86_64-linux-gnu", in_installation)):
        library.mkdir(parents=True)
        (library / "libresiduum_live.so").touch()
        expect(pathlib.Path(look()).resolve() == (library / "libresiduum_live.so").resolve(), look())


def devices_without_a_type_in_dlpack_are_taken_for_the_cpu():
    meta = [torch.empty(2, device="meta"), torch.empty(3, device="meta")]
    expect(residuum._device_of(meta) == (residuum._CPU, 0), "a meta tensor is on no CUDA device")
    expect(residuum._device_of([torch.empty(2), *meta]) == (residuum._CPU, 0), "parameters on two devices are the host's")


CASES = [devices_without_a_type_in_dlpack_are_taken_for_the_cpu, nothing_else_is_exported, the_library_is_found_or_asked_for, several_workers_of_one_process, what_ends_one_study_ends_no_other, bfloat16_and_scale, gradients_on_a_device_stay_there, a_last_step_that_fails_is_told, recorded_and_live_are_equal, a_model_of_many_blocks_is_measured, dense_apply_is_the_training,
         a_restart_goes_on, bad_input_is_one_line]
for case in CASES:
    if not sys.argv[3:] or case.__name__ in sys.argv[3:]:
        case()
        print(case.__name__, "passed", flush=True)

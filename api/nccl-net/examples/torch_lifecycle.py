#!/usr/bin/env python3
"""What a training does with its network besides moving bytes fast, on one machine with two GPUs, over jofi and over
NCCL's own Socket transport.

    torch_lifecycle.py --plugin DIR [--networks net,shm,Socket] [--parts types,training,groups,death,first] [--times N]

DIR is what `jofi nccl-plugin --output DIR` laid out. The parts, each in two new processes for each network:

  types     all_reduce, all_gather, broadcast, reduce_scatter and all_to_all, exact in float32, float16 and bfloat16
  training  a small model under DistributedDataParallel: its losses must be those over the first network, bit for bit
  groups    process groups made and destroyed --times times, each with an all_reduce; the process's memory meanwhile
  death     a rank is killed by SIGKILL amid a long all_reduce; how long until the other one gets an error
  first     the time from init_process_group to the end of the first all_reduce, --times times at most 5; over jofi
            with the plugin's start cache and without

It exits with 0 if all held, with 1 if something did not, and with 3 if there are not two GPUs, or no PyTorch.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from torch_collectives import network_environment

BOUND_SECONDS = 240
DEATH_BOUND_SECONDS = 30


def memory():
    """Resident memory of this process, in MiB."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) // 1024


def join(arguments, name):
    import datetime

    import torch.distributed as dist

    store = dist.FileStore(os.path.join(arguments.store, name), 2)
    dist.init_process_group(
        "nccl", store=store, rank=arguments.rank, world_size=2, timeout=datetime.timedelta(seconds=BOUND_SECONDS)
    )


def types(arguments, torch, dist, device):
    join(arguments, "types")
    rank = arguments.rank
    for kind in (torch.float32, torch.float16, torch.bfloat16):
        for count in (1, 1000, 100_003, 4_000_000):

            def values(seed, elements=count):
                generator = torch.Generator().manual_seed(seed)
                return torch.randint(-100, 100, (elements,), generator=generator).to(kind).to(device)

            def check(name, got, expected):
                if not torch.equal(got, expected):
                    raise SystemExit(f"rank {rank}: {name} of {count} {kind} is wrong")

            own = [values(r) for r in range(2)]
            wide = [values(10 + r, 2 * count) for r in range(2)]
            x = own[rank].clone()
            dist.all_reduce(x)
            check("all_reduce", x, own[0] + own[1])
            gathered = torch.empty(2 * count, dtype=kind, device=device)
            dist.all_gather_into_tensor(gathered, own[rank])
            check("all_gather", gathered, torch.cat(own))
            x = own[rank].clone()
            dist.broadcast(x, src=1)
            check("broadcast", x, own[1])
            part = torch.empty(count, dtype=kind, device=device)
            dist.reduce_scatter_tensor(part, wide[rank])
            check("reduce_scatter", part, (wide[0] + wide[1])[rank * count : (rank + 1) * count])
            swapped = torch.empty_like(wide[rank])
            dist.all_to_all_single(swapped, wide[rank])
            check("all_to_all", swapped, torch.cat([w[rank * count : (rank + 1) * count] for w in wide]))
    dist.destroy_process_group()
    print("types exact")


def training(arguments, torch, dist, device):
    join(arguments, "training")
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    model = torch.nn.Sequential(
        torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 10)
    ).to(device)
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[arguments.rank], bucket_cap_mb=2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    generator = torch.Generator().manual_seed(2)
    data = torch.randn(40, 2, 128, 512, generator=generator)
    labels = torch.randint(0, 10, (40, 2, 128), generator=generator)
    losses = []
    for step in range(40):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(
            model(data[step, arguments.rank].to(device)), labels[step, arguments.rank].to(device)
        )
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        losses.append((mean / 2).item().hex())
    dist.destroy_process_group()
    print("losses " + " ".join(losses))


def groups(arguments, torch, dist, device):
    x = torch.ones(1 << 18, device=device)
    seen = []
    for each in range(arguments.times):
        join(arguments, f"group-{each}")
        dist.all_reduce(x)
        torch.cuda.synchronize()
        dist.destroy_process_group()
        if each % max(1, arguments.times // 8) == 0 or each == arguments.times - 1:
            seen.append(f"{each + 1}: {memory()} MiB, {len(os.listdir('/proc/self/fd'))} files, "
                        f"{len(os.listdir('/proc/self/task'))} threads")
        x.fill_(1)
    print("groups " + "; ".join(seen))


def death(arguments, torch, dist, device):
    join(arguments, "death")
    x = torch.ones(64 << 20, device=device)
    for _ in range(3):
        dist.all_reduce(x)
    torch.cuda.synchronize()
    if arguments.rank == 1:
        threading.Timer(0.5, lambda: (print(f"killed {time.time()}", flush=True), os.kill(os.getpid(), signal.SIGKILL))).start()
    try:
        while True:
            dist.all_reduce(x, async_op=True).wait()
            torch.cuda.synchronize()
    except Exception as error:  # Whatever PyTorch makes of it.
        print(f"error {time.time()} {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)
        os._exit(9)


def first(arguments, torch, dist, device):
    x = torch.ones(1 << 18, device=device)
    torch.cuda.synchronize()
    # Both processes begin at once: what one waits for the other's import is not the network's.
    open(os.path.join(arguments.store, f"ready-{arguments.rank}"), "w").close()
    while not all(os.path.exists(os.path.join(arguments.store, f"ready-{r}")) for r in range(2)):
        time.sleep(0.001)
    began = time.perf_counter()
    join(arguments, "first")
    dist.all_reduce(x)
    torch.cuda.synchronize()
    print(f"first {time.perf_counter() - began:.3f}")
    dist.destroy_process_group()


PARTS = {"types": types, "training": training, "groups": groups, "death": death, "first": first}


def worker(arguments):
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(arguments.rank)
    PARTS[arguments.parts](arguments, torch, dist, torch.device("cuda", arguments.rank))


def run_pair(arguments, part, environment):
    """Runs two processes; returns their exit codes and what each printed."""
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        for rank in range(2):
            command = [sys.executable, os.path.abspath(__file__), "--rank", str(rank), "--store", folder]
            command += ["--parts", part, "--times", str(arguments.times)]
            log = open(os.path.join(folder, f"log-{rank}"), "w+", errors="replace")
            processes.append((subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT), log))
        deadline = time.monotonic() + BOUND_SECONDS
        while any(process.poll() is None for process, _ in processes) and time.monotonic() < deadline:
            if part != "death" and any(process.poll() not in (None, 0) for process, _ in processes):
                time.sleep(5)
                break
            time.sleep(0.05)
        for process, _ in processes:
            process.kill()
            process.wait()
        ended = time.time()
        outputs = []
        for _, log in processes:
            log.seek(0)
            outputs.append([line.rstrip() for line in log])
            log.close()
        return [process.returncode for process, _ in processes], outputs, ended


def said(outputs, word):
    return [line.split(" ", 1)[1] for lines in outputs for line in lines if line.startswith(word + " ")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", help="the plugin's folder")
    parser.add_argument("--networks", default="net,shm,Socket", help="providers of libfabric, and Socket")
    parser.add_argument("--parts", default=",".join(PARTS), help="with commas between")
    parser.add_argument("--times", type=int, default=200, help="how many process groups")
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rank is not None:
        worker(arguments)
        return 0
    if not arguments.plugin:
        parser.error("--plugin is needed")
    try:
        import torch
    except ImportError as missing:
        print(f"no PyTorch: {missing}")
        return 3
    if torch.cuda.device_count() < 2:
        print(f"needs two GPUs, there are {torch.cuda.device_count()}")
        return 3

    base = dict(os.environ, PYTHONUNBUFFERED="1")
    base["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    folder = os.path.abspath(arguments.plugin)

    def environment(network, plugin=folder):
        return network_environment(base, plugin, network)

    good = True
    losses = None
    for part in arguments.parts.split(","):
        for network in arguments.networks.split(","):
            if part == "first":
                times = [run_pair(arguments, part, environment(network)) for _ in range(min(5, arguments.times))]
                report("first", network, times)
                good = good and all(codes == [0, 0] for codes, _, _ in times)
                if network != "Socket":
                    with tempfile.TemporaryDirectory() as bare:
                        copy = os.path.join(bare, "plugin")
                        shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns("*.aot"))
                        report("first", network + ", no start cache", [
                            run_pair(arguments, part, environment(network, copy)) for _ in range(min(5, arguments.times))
                        ])
                continue
            codes, outputs, ended = run_pair(arguments, part, environment(network))
            if part == "death":
                killed = [float(text) for text in said(outputs, "killed")]
                errors = said(outputs, "error")
                after = (float(errors[0].split()[0]) if errors else ended) - killed[0] if killed else None
                held = after is not None and after < DEATH_BOUND_SECONDS and codes[0] not in (0, -signal.SIGKILL)
                print(f"death over {network}: rank 0 ended {after} s after the kill with code {codes[0]}, "
                      f"{errors[0].split(' ', 1)[1][:200] if errors else 'by the watchdog'}; {'held' if held else 'FAILED'}", flush=True)
            else:
                held = codes == [0, 0]
                words = said(outputs[:1], {"training": "losses"}.get(part, part))
                if part == "training" and held:
                    losses = losses or (network, words[0])
                    held = words[0] == losses[1]
                    last = words[0].split()
                    words = [f"{len(last)} losses from {float.fromhex(last[0]):.4f} to {float.fromhex(last[-1]):.4f}, "
                             + ("as" if held else "NOT as") + f" over {losses[0]}"]
                print(f"{part} over {network}: {words[0] if words else ''}; {'held' if held else 'FAILED'}", flush=True)
            if not held:
                for rank, lines in enumerate(outputs):
                    print("\n".join(f"  rank {rank}: {line}" for line in lines[-25:]), flush=True)
            good = good and held
    return 0 if good else 1


def report(part, name, runs):
    seconds = sorted(float(text) for codes, outputs, _ in runs if codes == [0, 0] for text in said(outputs[:1], part))
    middle = seconds[len(seconds) // 2] if seconds else None
    print(f"{part} over {name}: median {middle} s of {seconds}, {len(runs) - len(seconds)} failed", flush=True)


if __name__ == "__main__":
    sys.exit(main())

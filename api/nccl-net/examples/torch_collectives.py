#!/usr/bin/env python3
"""PyTorch collectives over NCCL with jofi as its network, on one machine with two GPUs.

    torch_collectives.py --plugin DIR [--providers tcp,shm] [--bytes 8,64K,64M] [--iterations 20]

DIR is what `jofi nccl-plugin --output DIR` laid out. For each provider it runs two processes, one per GPU, with peer
access and shared memory of NCCL switched off, so that all data goes through the plugin:

  - all_reduce, all_gather, broadcast, reduce_scatter, all_to_all, send/recv, exact on small integers
  - the same in two process groups, one after the other and both at once
  - the bus bandwidth of all_reduce, for each length

and then the bandwidth of NCCL's own Socket transport. It needs PyTorch with NCCL, no network and no JDK. It exits with 0 if
every result was exact and jofi was the network that NCCL used; with 3 if there are not two GPUs, or no PyTorch.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time

BOUND_SECONDS = 240


def lengths(text):
    """Reads lengths such as 8,64K,1M."""
    units = {"K": 10, "M": 20, "G": 30}
    read = [int(each[:-1]) << units[each[-1]] if each[-1] in units else int(each) for each in text.split(",")]
    if any(length < 4 or length % 4 for length in read):
        raise argparse.ArgumentTypeError("a length is a multiple of 4, and at least 4")
    return read


def repeats(length, most):
    """Fewer rounds of longer arrays: about 1 GiB in each."""
    return max(5, min(most, (1 << 30) // length))


def network_environment(base, folder, network):
    """The environment in which NCCL uses the plugin in a folder over a provider, or its own Socket, and nothing else."""
    alone = dict(base, NCCL_P2P_DISABLE="1", NCCL_SHM_DISABLE="1")
    if network == "Socket":
        return dict(alone, NCCL_NET="Socket", NCCL_NET_PLUGIN="none")
    paths = [folder, os.path.join(folder, "lib"), base.get("LD_LIBRARY_PATH")]
    return dict(
        alone,
        NCCL_NET="jofi",
        NCCL_NET_PLUGIN="jofi",
        NCCL_NET_PLUGIN_REF_COUNT="1",
        JOFI_PROVIDER=network,
        LD_LIBRARY_PATH=":".join(path for path in paths if path),
    )


def worker(arguments):
    import datetime

    import torch
    import torch.distributed as dist

    rank, world = arguments.rank, 2
    torch.cuda.set_device(rank)
    device = torch.device("cuda", rank)
    store = dist.FileStore(arguments.store, world)
    dist.init_process_group(
        "nccl", store=store, rank=rank, world_size=world, timeout=datetime.timedelta(seconds=BOUND_SECONDS)
    )

    def integers(count, seed):
        generator = torch.Generator().manual_seed(seed)
        return torch.randint(-1000, 1000, (count,), generator=generator, dtype=torch.int32).to(device)

    def check(name, got, expected):
        torch.cuda.synchronize()
        if not torch.equal(got, expected):
            raise SystemExit(f"rank {rank}: {name} is wrong")

    def collectives(group, label):
        for count in (1, 7, 1024, 100_003, 4_000_000):
            own = [integers(count, 100 * count + r) for r in range(world)]
            x = own[rank].clone()
            dist.all_reduce(x, group=group)
            check(f"{label}: all_reduce of {count}", x, own[0] + own[1])

            gathered = [torch.empty_like(x) for _ in range(world)]
            dist.all_gather(gathered, own[rank], group=group)
            for r in range(world):
                check(f"{label}: all_gather of {count}", gathered[r], own[r])

            for root in range(world):
                x = own[rank].clone()
                dist.broadcast(x, src=root, group=group)
                check(f"{label}: broadcast of {count} from {root}", x, own[root])

            wide = [integers(world * count, 200 * count + r) for r in range(world)]
            part = torch.empty(count, dtype=torch.int32, device=device)
            dist.reduce_scatter_tensor(part, wide[rank], group=group)
            check(f"{label}: reduce_scatter of {count}", part, (wide[0] + wide[1])[rank * count : (rank + 1) * count])

            swapped = torch.empty_like(wide[rank])
            dist.all_to_all_single(swapped, wide[rank], group=group)
            expected = torch.cat([wide[r][rank * count : (rank + 1) * count] for r in range(world)])
            check(f"{label}: all_to_all of {count}", swapped, expected)

            x = torch.empty(count, dtype=torch.int32, device=device)
            if rank == 0:
                dist.send(own[0], dst=1, group=group)
                dist.recv(x, src=1, group=group)
                check(f"{label}: recv of {count}", x, own[1])
            else:
                dist.recv(x, src=0, group=group)
                dist.send(own[1], dst=0, group=group)
                check(f"{label}: recv of {count}", x, own[0])
        if rank == 0:
            print(f"exact: {label}", flush=True)

    if not arguments.bandwidth_only:
        collectives(None, "world")
        first = dist.new_group([0, 1])
        second = dist.new_group([0, 1])
        collectives(first, "first group")
        collectives(second, "second group, after the first")
        streams = [torch.cuda.Stream(), torch.cuda.Stream()]
        for round_ in range(20):
            xs, expected, works = [], [], []
            for index, group in enumerate((first, second)):
                own = [integers(300_000, 1000 * round_ + 10 * index + r) for r in range(world)]
                torch.cuda.synchronize()
                expected.append(own[0] + own[1])
                xs.append(own[rank].clone())
            torch.cuda.synchronize()
            for index, group in enumerate((first, second)):
                with torch.cuda.stream(streams[index]):
                    works.append(dist.all_reduce(xs[index], group=group, async_op=True))
            for work in works:
                work.wait()
            for index in range(2):
                check(f"both groups at once, round {round_}", xs[index], expected[index])
        if rank == 0:
            print("exact: both groups at once", flush=True)
        dist.destroy_process_group(first)
        dist.destroy_process_group(second)

    # Every length before the first is measured: what is compiled or set up on the way belongs to none of them.
    arrays = [torch.ones(length // 4, dtype=torch.float32, device=device) for length in arguments.bytes]
    for array in arrays:
        for _ in range(repeats(array.nbytes, arguments.iterations)):
            dist.all_reduce(array)
    torch.cuda.synchronize()
    for array in arrays:
        dist.barrier()
        count = repeats(array.nbytes, arguments.iterations)
        rounds = []
        for _ in range(5):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(count):
                dist.all_reduce(array)
            torch.cuda.synchronize()
            rounds.append((time.perf_counter() - start) / count)
        if rank == 0:
            rounds.sort()
            bus = 2 * (world - 1) / world * array.nbytes / rounds[2] / 1e9
            print(
                f"bandwidth {array.nbytes} B: {bus:.6f} GB/s, {rounds[2] * 1e6:.1f} us (best round {rounds[0] * 1e6:.1f} us)",
                flush=True,
            )
    dist.destroy_process_group()
    # A second life in the same process: NCCL unloads its plugin with the last communicator, and loads it again.
    if not arguments.bandwidth_only:
        store = dist.FileStore(arguments.store + ".again", world)
        dist.init_process_group(
            "nccl", store=store, rank=rank, world_size=world, timeout=datetime.timedelta(seconds=BOUND_SECONDS)
        )
        collectives(None, "world, started again")
        dist.destroy_process_group()


def run_pair(arguments, title, environment, more):
    print(f"== {title}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        processes, outputs, threads = [], [[], []], []
        for rank in range(2):
            command = [sys.executable, os.path.abspath(__file__), "--rank", str(rank), "--store", os.path.join(folder, "store")]
            command += ["--bytes", ",".join(map(str, arguments.bytes)), "--iterations", str(arguments.iterations)] + more
            process = subprocess.Popen(
                command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
            )
            processes.append(process)

            def collect(process=process, lines=outputs[rank]):
                for line in process.stdout:
                    lines.append(line.rstrip())

            thread = threading.Thread(target=collect, daemon=True)
            thread.start()
            threads.append(thread)
        deadline = time.monotonic() + BOUND_SECONDS
        failed = False
        while any(process.poll() is None for process in processes):
            if time.monotonic() > deadline or any(process.poll() not in (None, 0) for process in processes):
                failed = True
                time.sleep(5)
                for process in processes:
                    process.kill()
                break
            time.sleep(0.1)
        for process, thread in zip(processes, threads):
            process.wait()
            thread.join(10)
            failed = failed or process.returncode != 0
    used = sorted({line.split("Using network", 1)[1].strip() for lines in outputs for line in lines if "Using network" in line})
    for line in outputs[0] + outputs[1]:
        if failed or line.startswith(("exact", "bandwidth")) or " WARN " in line or "NET/jofi" in line and "device" in line:
            print("  " + line)
    print(f"  network: {', '.join(used) or 'unknown'}; {'FAILED' if failed else 'done'}", flush=True)
    bandwidth = [line.split() for line in outputs[0] if line.startswith("bandwidth")]
    return (not failed), used, {int(words[1]): float(words[3]) for words in bandwidth}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", help="the plugin's folder")
    parser.add_argument("--providers", default="tcp,shm", help="of libfabric, with commas between")
    parser.add_argument("--bytes", type=lengths, default=[64 << 20], help="of the bandwidth's all_reduce, such as 8,64K,64M")
    parser.add_argument("--iterations", type=int, default=20, help="of the bandwidth's all_reduce, per round, at most")
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    parser.add_argument("--bandwidth-only", action="store_true", help="leave the exactness checks out")
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
    print(f"PyTorch {torch.__version__}, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}, {torch.cuda.get_device_name(0)}")

    folder = os.path.abspath(arguments.plugin)
    base = dict(os.environ, NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="INIT,NET")
    more = ["--bandwidth-only"] if arguments.bandwidth_only else []

    good = True
    figures = {}
    for provider in arguments.providers.split(","):
        done, used, figures[f"jofi over {provider}"] = run_pair(
            arguments, f"jofi over {provider}", network_environment(base, folder, provider), more
        )
        good = good and done and used == ["jofi"]
    _, _, figures["Socket"] = run_pair(
        arguments, "NCCL's Socket", network_environment(base, folder, "Socket"), ["--bandwidth-only"]
    )
    print(f"\nbus bandwidth of all_reduce, GB/s, median of 5 rounds; and Socket's time over that of jofi")
    print(f"  {'bytes':>12s}" + "".join(f"{name:>22s}" for name in figures))
    for length in arguments.bytes:
        socket = figures["Socket"].get(length)
        row = f"  {length:12d}"
        for name, values in figures.items():
            value = values.get(length)
            ratio = f" ({value / socket:.2f})" if value and socket and name != "Socket" else ""
            row += f"{f'{value:.4f}{ratio}' if value else '-':>22s}"
        print(row)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

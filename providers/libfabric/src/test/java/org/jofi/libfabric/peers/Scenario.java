package org.jofi.libfabric.peers;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.PostFlags;

/** What two peers do with each other. The first initiates where there is a difference. */
enum Scenario {
  /** Messages of every size, both ways. */
  SEND_RECV {
    @Override
    void run(Peer peer) {
      MemorySegment out = peer.allocate(LARGEST);
      MemorySegment in = peer.allocate(LARGEST);
      MemoryRegion source = peer.register(out, Access.SEND);
      MemoryRegion target = peer.register(in, Access.RECV);
      for (int turn = 0; turn < 2; turn++) {
        boolean sends = peer.first == (turn == 0);
        for (long size : SIZES) {
          long seed = size * 2 + turn;
          int context = peer.context();
          if (sends) {
            Pattern.fill(out.asSlice(0, size), seed);
            peer.line();
            peer.post(
                "send of " + size,
                () ->
                    peer.endpoint.send(
                        out.address(), size, source.descriptor(), peer.other, context));
            peer.success(context, "send of " + size);
            peer.line();
          } else {
            in.fill((byte) 0x5a);
            peer.post(
                "recv of " + size,
                () ->
                    peer.endpoint.recv(
                        in.address(), LARGEST, target.descriptor(), AddressVector.ANY, context));
            peer.lines.send("posted");
            Completions.Completion done = peer.success(context, "recv of " + size);
            same("length received", size, done.lengthBytes());
            Pattern.verify(in.asSlice(0, size), seed, "message of " + size);
            untouched(in, size);
            peer.lines.send("seen");
          }
        }
      }
    }
  },

  /** Messages whose buffer is free at once, with and without immediate data. */
  INJECT {
    @Override
    void run(Peer peer) {
      long most = Math.min(peer.endpoint.limits().injectedSendBytes(), 4096);
      MemorySegment buffer = peer.allocate(8192);
      MemoryRegion region = peer.register(buffer, Access.SEND | Access.RECV);
      if (peer.first) {
        peer.line();
        Pattern.fill(buffer.asSlice(0, most), 1);
        peer.post("inject", () -> peer.endpoint.inject(buffer.address(), most, peer.other));
        buffer.fill((byte) 0);
        int tooLong = peer.endpoint.inject(buffer.address(), 1L << 20, peer.other);
        same("inject of 1 MiB", -FabricErrno.EMSGSIZE, tooLong);
        int context = peer.context();
        Pattern.fill(buffer.asSlice(0, 100), 2);
        peer.line();
        peer.post(
            "senddata",
            () ->
                peer.endpoint.sendData(
                    buffer.address(), 100, region.descriptor(), 0xCAFE_F00DL, peer.other, context));
        peer.success(context, "senddata");
        peer.line();
      } else {
        Completions.Completion injected = receive(peer, buffer, region);
        same("length of inject", most, injected.lengthBytes());
        Pattern.verify(buffer.asSlice(0, most), 1, "injected message");
        Completions.Completion data = receive(peer, buffer, region);
        Pattern.verify(buffer.asSlice(0, 100), 2, "message with data");
        same("immediate data", 0xCAFE_F00DL, data.data() & 0xFFFF_FFFFL);
        peer.lines.send("seen");
      }
    }

    private Completions.Completion receive(Peer peer, MemorySegment buffer, MemoryRegion region) {
      int context = peer.context();
      peer.post(
          "recv",
          () ->
              peer.endpoint.recv(
                  buffer.address(), 8192, region.descriptor(), AddressVector.ANY, context));
      peer.lines.send("posted");
      return peer.success(context, "recv");
    }
  },

  /** Writes of every size that complete when they left; the target polls until they are there. */
  PLAIN_WRITE {
    @Override
    void run(Peer peer) {
      MemorySegment memory = peer.allocate(LARGEST);
      MemorySegment small = peer.allocate(64);
      MemoryRegion region = peer.register(memory, Access.WRITE | Access.REMOTE_WRITE);
      MemoryRegion source = peer.register(small, Access.WRITE);
      Peer.Remote remote = peer.exchange(region);
      for (long size : SIZES) {
        if (peer.first) {
          Pattern.fill(memory.asSlice(0, size), size);
          peer.meet();
          peer.write(memory, size, region, remote, 0, PostFlags.NONE);
          // Injected, so its buffer is free at once; it says to the target that it was this size.
          Pattern.fill(small.asSlice(0, 8), size);
          if (size + 8 <= LARGEST) {
            peer.write(small, 8, source, remote, size, PostFlags.INJECT);
          }
          peer.line();
        } else {
          memory.fill((byte) 0x5a);
          peer.meet();
          long mark = size + 8 <= LARGEST ? 8 : 0;
          peer.await(
              "write of " + size,
              () ->
                  Pattern.matches(memory.asSlice(0, size), size)
                      && Pattern.matches(memory.asSlice(size, mark), size));
          untouched(memory, size + mark);
          peer.lines.send("seen");
        }
      }
    }
  },

  /** A queue for what is sent and another for what is received, with the same slots in use. */
  TWO_QUEUES {
    @Override
    void run(Peer peer) {
      new TwoQueues(peer).run();
    }
  },

  /** Writes of every size that complete when they can be seen. */
  WRITE {
    @Override
    void run(Peer peer) {
      MemorySegment memory = peer.allocate(LARGEST);
      MemoryRegion region = peer.register(memory, Access.WRITE | Access.REMOTE_WRITE);
      Peer.Remote remote = peer.exchange(region);
      for (long size : NOT_EMPTY) {
        if (peer.first) {
          Pattern.fill(memory.asSlice(0, size), size);
          peer.meet();
          int context = peer.context();
          peer.post(
              "write of " + size,
              () ->
                  peer.endpoint.write(
                      memory.address(),
                      size,
                      region.descriptor(),
                      peer.other,
                      remote.address(),
                      remote.key(),
                      context,
                      PostFlags.DELIVERY_COMPLETE));
          peer.success(context, "write of " + size);
          peer.lines.send("written");
          peer.line();
        } else {
          memory.fill((byte) 0x5a);
          peer.meet();
          peer.line();
          Pattern.verify(memory.asSlice(0, size), size, "write of " + size);
          untouched(memory, size);
          peer.lines.send("seen");
        }
      }
    }
  },

  /** Writes of every size with immediate data, whose arrival means that the bytes are there. */
  WRITE_DATA {
    @Override
    void run(Peer peer) {
      MemorySegment memory = peer.allocate(LARGEST);
      MemoryRegion region = peer.register(memory, Access.WRITE | Access.REMOTE_WRITE);
      Peer.Remote remote = peer.exchange(region);
      for (long flags : new long[] {PostFlags.NONE, PostFlags.DELIVERY_COMPLETE}) {
        for (long size : flags == PostFlags.NONE ? SIZES : NOT_EMPTY) {
          long data = (size * 31 + flags) & 0xFFFF_FFFFL;
          if (peer.first) {
            Pattern.fill(memory.asSlice(0, size), data);
            peer.meet();
            int context = peer.context();
            peer.post(
                "writedata of " + size,
                () ->
                    peer.endpoint.writeData(
                        memory.address(),
                        size,
                        region.descriptor(),
                        data,
                        peer.other,
                        remote.address(),
                        remote.key(),
                        context,
                        flags));
            peer.success(context, "writedata of " + size);
            peer.line();
          } else {
            memory.fill((byte) 0x5a);
            peer.meet();
            Completions.Completion arrival = peer.immediate();
            same("immediate data", data, arrival.data() & 0xFFFF_FFFFL);
            Pattern.verify(memory.asSlice(0, size), data, "writedata of " + size);
            untouched(memory, size);
            peer.lines.send("seen");
          }
        }
      }
    }
  },

  /** An empty write that completes when it was delivered. */
  EMPTY_WRITE {
    @Override
    void run(Peer peer) {
      MemorySegment memory = peer.allocate(4096);
      MemoryRegion region = peer.register(memory, Access.WRITE | Access.REMOTE_WRITE);
      Peer.Remote remote = peer.exchange(region);
      if (peer.first) {
        int context = peer.context();
        peer.post(
            "empty write",
            () ->
                peer.endpoint.write(
                    memory.address(),
                    0,
                    region.descriptor(),
                    peer.other,
                    remote.address(),
                    remote.key(),
                    context,
                    PostFlags.DELIVERY_COMPLETE));
        if (!peer.completes(context)) {
          throw new Lack("an empty write with FI_DELIVERY_COMPLETE never completes");
        }
      }
      peer.meet();
    }
  },

  /** Reads of every size. The target polls: with manual progress it serves nothing otherwise. */
  READ {
    @Override
    void run(Peer peer) {
      MemorySegment memory = peer.allocate(LARGEST);
      MemoryRegion region = peer.register(memory, Access.READ | Access.REMOTE_READ);
      Peer.Remote remote = peer.exchange(region);
      for (long size : SIZES) {
        if (peer.first) {
          memory.fill((byte) 0x5a);
          peer.meet();
          int context = peer.context();
          peer.post(
              "read of " + size,
              () ->
                  peer.endpoint.read(
                      memory.address(),
                      size,
                      region.descriptor(),
                      peer.other,
                      remote.address(),
                      remote.key(),
                      context));
          peer.success(context, "read of " + size);
          Pattern.verify(memory.asSlice(0, size), size, "read of " + size);
          untouched(memory, size);
          peer.lines.send("read");
        } else {
          Pattern.fill(memory.asSlice(0, size), size);
          peer.meet();
          peer.line();
        }
      }
    }
  },

  /** Ten thousand operations of random kind and size, up to 32 in flight, each verified. */
  TEN_THOUSAND {
    @Override
    void run(Peer peer) {
      new ManyOperations(peer).run();
    }
  },

  /** Cancelling a receive gives its own context back, and disturbs no other. */
  CANCEL {
    @Override
    void run(Peer peer) {
      MemorySegment memory = peer.allocate(8192);
      MemoryRegion region = peer.register(memory, Access.SEND | Access.RECV);
      if (peer.first) {
        int cancelled = peer.context();
        int kept = peer.context();
        for (int context : new int[] {cancelled, kept}) {
          long address = memory.address() + (context == kept ? 4096 : 0);
          peer.post(
              "recv",
              () ->
                  peer.endpoint.recv(
                      address, 4096, region.descriptor(), AddressVector.ANY, context));
        }
        same("cancel", 0, peer.endpoint.cancel(cancelled));
        Completions.Completion gone = peer.completion(cancelled, "the cancelled receive");
        if (gone.failure() == null || gone.failure().errno() != FabricErrno.ECANCELED) {
          throw new AssertionError("cancelled receive completed with " + gone);
        }
        peer.lines.send("go");
        peer.success(kept, "the other receive");
        Pattern.verify(memory.asSlice(4096, 64), 7, "message to the other receive");
        peer.lines.send("seen");
      } else {
        peer.line();
        Pattern.fill(memory.asSlice(0, 64), 7);
        int context = peer.context();
        peer.post(
            "send",
            () ->
                peer.endpoint.send(memory.address(), 64, region.descriptor(), peer.other, context));
        peer.success(context, "send");
        peer.line();
      }
    }
  },

  /** A message longer than its receive fails that receive, and the next one works. */
  TRUNCATION {
    @Override
    void run(Peer peer) {
      MemorySegment memory = peer.allocate(8192);
      MemoryRegion region = peer.register(memory, Access.SEND | Access.RECV);
      if (peer.first) {
        int small = peer.context();
        peer.post(
            "recv",
            () ->
                peer.endpoint.recv(
                    memory.address(), 100, region.descriptor(), AddressVector.ANY, small));
        peer.lines.send("posted");
        Completions.Completion cut = peer.completion(small, "the short receive");
        if (cut.failure() == null) {
          throw new Lack("a message longer than its receive is cut without an error");
        }
        int errno = cut.failure().errno();
        if (errno != FabricErrno.ETRUNC && errno != FabricErrno.EMSGSIZE) {
          throw new AssertionError("truncation failed otherwise", cut.failure());
        }
        for (long i = 100; i < 8192; i++) {
          same("byte behind the short receive", 0, memory.get(BYTE, i));
        }
      } else {
        peer.line();
        int context = peer.context();
        Pattern.fill(memory.asSlice(0, 2000), 3);
        peer.post(
            "send",
            () ->
                peer.endpoint.send(
                    memory.address(), 2000, region.descriptor(), peer.other, context));
        peer.completion(context, "the long send");
      }
      peer.meet();
    }
  },

  /** The second process is killed while the first writes to it, reads from it and sends to it. */
  PEER_DEATH {
    @Override
    void run(Peer peer) {
      new PeerDeath(peer).run();
    }
  };

  static final java.lang.foreign.ValueLayout.OfByte BYTE = java.lang.foreign.ValueLayout.JAVA_BYTE;
  static final long LARGEST = 16L << 20;
  static final long[] SIZES = {
    0, 1, 7, 8, 63, 64, 65, 511, 4096, 4097, 65_536, 262_143, 1 << 20, 5_000_001, LARGEST
  };

  static final long[] NOT_EMPTY = Arrays.copyOfRange(SIZES, 1, SIZES.length);

  abstract void run(Peer peer);

  static void same(String what, long expected, long found) {
    if (expected != found) {
      throw new AssertionError("%s is %d instead of %d".formatted(what, found, expected));
    }
  }

  /** The page behind what was written. */
  private static void untouched(MemorySegment memory, long from) {
    for (long i = from; i < Math.min(from + 4096, memory.byteSize()); i++) {
      same("byte behind the data", 0x5a, memory.get(BYTE, i));
    }
  }

  /** Deterministic for both sides. */
  static Random random() {
    return new Random(20_260_101);
  }
}

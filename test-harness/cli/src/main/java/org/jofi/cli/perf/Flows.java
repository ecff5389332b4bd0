package org.jofi.cli.perf;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jofi.cli.ranks.RingLinks;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.SendComm;

/** The operations that can be measured, as flows over the connections of a rank. */
final class Flows {
  private static final int TAG = 1;

  private Flows() {}

  static Flow sends(RingLinks links, PerfMemory memory, long bytes, int window) {
    SendComm next = links.toNext();
    Registration near = memory.near();
    MemorySegment segment = memory.nearMemory();
    return new Flow(next, links.patience(), "send", bytes, window) {
      @Override
      long post(int index) {
        long offset = memory.offset(index);
        return near == null
            ? next.isend(segment, offset, bytes, TAG)
            : next.isend(near, offset, bytes, TAG);
      }
    };
  }

  static Flow receives(RingLinks links, PerfMemory memory, long bytes, int window) {
    RecvComm previous = links.fromPrevious();
    Registration far = memory.far();
    MemorySegment segment = memory.farMemory();
    return new Flow(previous, links.patience(), "receive", bytes, window) {
      @Override
      long post(int index) {
        long offset = memory.offset(index);
        return far == null
            ? previous.irecv(segment, offset, bytes, TAG)
            : previous.irecv(far, offset, bytes, TAG);
      }
    };
  }

  static Flow writes(RingLinks links, PerfMemory memory, long bytes, int window) {
    SendComm next = links.toNext();
    Registration near = memory.near();
    MemorySegment segment = memory.nearMemory();
    RemoteMemory target = memory.peersFar();
    return new Flow(next, links.patience(), "write", bytes, window) {
      @Override
      long post(int index) {
        long offset = memory.offset(index);
        return near == null
            ? next.iwrite(segment, offset, bytes, target, offset)
            : next.iwrite(near, offset, bytes, target, offset);
      }
    };
  }

  static Flow reads(RingLinks links, PerfMemory memory, long bytes, int window) {
    SendComm next = links.toNext();
    Registration near = memory.near();
    MemorySegment segment = memory.nearMemory();
    RemoteMemory source = memory.peersFar();
    return new Flow(next, links.patience(), "read", bytes, window) {
      @Override
      long post(int index) {
        long offset = memory.offset(index);
        return near == null
            ? next.iread(segment, offset, bytes, source, offset)
            : next.iread(near, offset, bytes, source, offset);
      }
    };
  }

  static Flow flushes(RingLinks links, PerfMemory memory, long bytes, int window) {
    RecvComm previous = links.fromPrevious();
    Registration far = Objects.requireNonNull(memory.far(), "what is flushed is registered");
    return new Flow(previous, links.patience(), "flush", bytes, window) {
      @Override
      long post(int index) {
        return previous.iflush(far, memory.offset(index), bytes);
      }
    };
  }
}

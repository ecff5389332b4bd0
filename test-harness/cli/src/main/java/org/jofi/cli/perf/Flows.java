package org.jofi.cli.perf;

import org.jofi.cli.ranks.RingLinks;

/** The operations that can be measured, as flows over the connections of a rank. */
final class Flows {
  private static final int TAG = 1;

  private Flows() {}

  static Flow sends(RingLinks links, PerfMemory memory, long bytes, int window) {
    return new Flow(links.toNext(), links.patience(), "send", bytes, window) {
      @Override
      long post(int index) {
        return links
            .toNext()
            .isend(memory.near().address() + memory.offset(index), bytes, TAG, memory.near());
      }
    };
  }

  static Flow receives(RingLinks links, PerfMemory memory, long bytes, int window) {
    return new Flow(links.fromPrevious(), links.patience(), "receive", bytes, window) {
      @Override
      long post(int index) {
        return links
            .fromPrevious()
            .irecv(memory.far().address() + memory.offset(index), bytes, TAG, memory.far());
      }
    };
  }

  static Flow writes(RingLinks links, PerfMemory memory, long bytes, int window) {
    return new Flow(links.toNext(), links.patience(), "write", bytes, window) {
      @Override
      long post(int index) {
        long offset = memory.offset(index);
        return links
            .toNext()
            .iwrite(
                memory.near().address() + offset, bytes, memory.near(), memory.peersFar(), offset);
      }
    };
  }

  static Flow reads(RingLinks links, PerfMemory memory, long bytes, int window) {
    return new Flow(links.toNext(), links.patience(), "read", bytes, window) {
      @Override
      long post(int index) {
        long offset = memory.offset(index);
        return links
            .toNext()
            .iread(
                memory.near().address() + offset, bytes, memory.near(), memory.peersFar(), offset);
      }
    };
  }

  static Flow flushes(RingLinks links, PerfMemory memory, long bytes, int window) {
    return new Flow(links.fromPrevious(), links.patience(), "flush", bytes, window) {
      @Override
      long post(int index) {
        return links
            .fromPrevious()
            .iflush(memory.far().address() + memory.offset(index), bytes, memory.far());
      }
    };
  }
}

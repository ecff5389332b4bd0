package org.jofi.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jofi.cli.FuzzedRails;
import org.jofi.cli.perf.FuzzedPerf;
import org.jofi.cli.ranks.FuzzedEnds;
import org.jofi.cli.soak.FuzzedSoak;
import org.jofi.conformance.FuzzedConformance;
import org.jofi.doctor.machine.FuzzedMachine;
import org.jofi.ranks.FuzzedRanks;
import org.jofi.rdma.wire.ConnectAccept;
import org.jofi.rdma.wire.ConnectRedirect;
import org.jofi.rdma.wire.ConnectRequest;
import org.jofi.rdma.wire.ControlMessage;
import org.jofi.rdma.wire.EagerPacket;
import org.jofi.rdma.wire.Handshake;
import org.jofi.rdma.wire.ImmediateData;
import org.jofi.rdma.wire.MailboxLayout;
import org.jofi.rdma.wire.MailboxReader;
import org.jofi.rdma.wire.MessageHeader;
import org.jofi.rdma.wire.RailUpdate;
import org.jofi.rdma.wire.WireFault;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.RemoteMemory;

/**
 * What reads bytes that somebody else wrote. Each takes any bytes: it gives what they say, or
 * refuses them as it is documented to. All else that it throws is a defect.
 */
enum Target {
  /** As it is passed from one program to another. */
  CONNECT_HANDLE {
    @Override
    void read(byte[] bytes) {
      try {
        ConnectHandle handle = ConnectHandle.decode(bytes);
        demand(handle.equals(ConnectHandle.decode(handle.encode())), "it reads as it was written");
        demand(!handle.toString().isEmpty(), "it has a text");
      } catch (IllegalArgumentException documented) {
        // Nothing more is asked of it.
      }
    }
  },

  REMOTE_MEMORY {
    @Override
    void read(byte[] bytes) {
      try {
        RemoteMemory memory = RemoteMemory.decode(bytes);
        demand(Arrays.equals(bytes, memory.encode()), "it is written as it was read");
      } catch (IllegalArgumentException documented) {
        // Nothing more is asked of it.
      }
    }
  },

  CONTROL_MESSAGE {
    @Override
    void read(byte[] bytes) {
      MemorySegment memory = message(bytes);
      if (ControlMessage.check(memory, bytes.length) == WireFault.NONE) {
        demand(bytes.length == ControlMessage.BYTES, "it is as long as one");
        demand(MessageHeader.type(memory).isControl(), "it is one");
        ControlMessage.number(memory);
        ControlMessage.value(memory);
        demand(
            !ControlMessage.hasReason(memory) || ControlMessage.reason(memory) != null,
            "its reason has a name");
        MessageHeader.connectionId(memory);
      }
    }
  },

  HANDSHAKE {
    @Override
    void read(byte[] bytes) {
      MemorySegment memory = message(bytes);
      Handshake handshake = new Handshake();
      handshake.replyAddress(memory, bytes.length);
      ConnectRequest request = handshake.request(memory, bytes.length);
      demand((request == null) == (handshake.fault() != WireFault.NONE), "null has a fault");
      if (request != null) {
        MemorySegment again = MemorySegment.ofArray(new long[Handshake.MAX_BYTES / 8 + 1]);
        int length = Handshake.put(again, request);
        demand(same(bytes, again, length), "a request is written as it was read");
      }
      ConnectAccept accept = handshake.accept(memory, bytes.length);
      demand((accept == null) == (handshake.fault() != WireFault.NONE), "null has a fault");
      if (accept != null) {
        MemorySegment again = MemorySegment.ofArray(new long[Handshake.MAX_BYTES / 8 + 1]);
        int length = Handshake.put(again, accept);
        demand(same(bytes, again, length), "an answer is written as it was read");
      }
      ConnectRedirect redirect = handshake.redirect(memory, bytes.length);
      demand((redirect == null) == (handshake.fault() != WireFault.NONE), "null has a fault");
      if (redirect != null) {
        MemorySegment again = MemorySegment.ofArray(new long[Handshake.MAX_BYTES / 8 + 1]);
        int length = Handshake.put(again, redirect);
        demand(same(bytes, again, length), "a redirect is written as it was read");
      }
    }
  },

  RAIL_UPDATE {
    @Override
    void read(byte[] bytes) {
      MemorySegment memory = message(bytes);
      if (RailUpdate.check(memory, bytes.length) == WireFault.NONE) {
        demand(RailUpdate.read(memory) != null, "what is sound is read");
      }
    }
  },

  EAGER_PACKET {
    @Override
    void read(byte[] bytes) {
      MemorySegment memory = message(bytes);
      if (EagerPacket.check(memory, bytes.length) != WireFault.NONE) {
        return;
      }
      EagerPacket.ordinal(memory);
      EagerPacket.seen(memory);
    }
  },

  IMMEDIATE_DATA {
    @Override
    void read(byte[] bytes) {
      if (bytes.length >= Long.BYTES) {
        long data = message(bytes).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
        if (ImmediateData.check(data) == WireFault.NONE) {
          demand(ImmediateData.stripe((int) data) >= 0, "stripes count from 0");
          demand(ImmediateData.communicator((int) data) >= 0, "so do communicators");
        }
      }
    }
  },

  /** A mailbox as a peer may write it, of one rail or as many as there may be. */
  MAILBOX {
    private static final long LONGEST = 1L << 40;

    @Override
    void read(byte[] bytes) {
      if (bytes.length < 2) {
        return;
      }
      MailboxLayout layout = new MailboxLayout(bytes[0] % 2 == 0 ? 1 : 8);
      MemorySegment mailbox = MAILBOXES.get().asSlice(0, layout.mailboxBytes());
      int copied = (int) Math.min(bytes.length - 2, mailbox.byteSize());
      MemorySegment.copy(bytes, 2, mailbox, ValueLayout.JAVA_BYTE, 0, copied);
      MailboxReader reader = new MailboxReader(mailbox, layout, 1, LONGEST);
      for (long index = 1; index <= 2; index++) {
        reader.isAbsent(index);
        if (reader.poll(index) == 1) {
          demand(reader.lengthBytes() >= 0 && reader.lengthBytes() <= LONGEST, "a length");
          demand(reader.blocks() >= 1 && reader.chunkShift() >= 0, "blocks");
        }
      }
      mailbox.asSlice(0, copied).fill((byte) 0);
    }
  },

  /** Frames, one after another, as they come to the server that ranks meet at. */
  FRAMES {
    @Override
    void read(byte[] bytes) throws IOException {
      FuzzedRanks.frames(bytes);
    }
  },

  HELLO {
    @Override
    void read(byte[] bytes) {
      FuzzedRanks.hello(bytes);
    }
  },

  HOST_LIST {
    @Override
    void read(byte[] bytes) {
      FuzzedRanks.hosts(new String(bytes, UTF_8));
    }
  },

  /** What a rank tells of its end of the fabric, in JSON. */
  FABRIC_END {
    @Override
    void read(byte[] bytes) {
      FuzzedEnds.fabricEnd(bytes);
    }
  },

  RAILS_UP {
    @Override
    void read(byte[] bytes) {
      FuzzedRails.railsUp(bytes);
    }
  },

  MEASURED {
    @Override
    void read(byte[] bytes) {
      FuzzedPerf.measured(bytes);
    }
  },

  /** Lines between a soak and its ranks, in JSON. */
  SOAK_LINES {
    @Override
    void read(byte[] bytes) {
      FuzzedSoak.line(new String(bytes, UTF_8));
    }
  },

  /** Lines of a child that runs rules of the conformance kit, whose provider may print anything. */
  CONFORMANCE_LINES {
    @Override
    void read(byte[] bytes) {
      FuzzedConformance.line(new String(bytes, UTF_8));
    }
  },

  CONFIG_SPACE {
    @Override
    void read(byte[] bytes) {
      FuzzedMachine.configSpace(bytes);
    }
  },

  /** Files of the system as the doctor reads them: any of them may hold these bytes. */
  SYSTEM_TEXT {
    @Override
    void read(byte[] bytes) throws IOException {
      FuzzedMachine.text(bytes);
    }
  };

  private static final ThreadLocal<MemorySegment> MAILBOXES =
      ThreadLocal.withInitial(
          () -> MemorySegment.ofArray(new long[new MailboxLayout(8).mailboxBytes() / 8]));

  /** Reads bytes, and returns if they get what is documented. */
  abstract void read(byte[] bytes) throws IOException;

  private static void demand(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError("demanded: " + what);
    }
  }

  /** Bytes that have arrived in a buffer, which is longer, and aligned. */
  private static MemorySegment message(byte[] bytes) {
    MemorySegment memory = MemorySegment.ofArray(new long[Math.max(bytes.length, 4096) / 8 + 1]);
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
    return memory;
  }

  private static boolean same(byte[] bytes, MemorySegment memory, int length) {
    return Arrays.equals(bytes, memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE));
  }
}

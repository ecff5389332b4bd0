package org.jofi.abidouble;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_AV_TABLE;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CONTEXT;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CONTEXT2;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CQ_FORMAT_DATA;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_ENABLE;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_EP_RDM;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_MSG;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_RECV;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_RMA;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_TRANSMIT;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.LongSupplier;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.libfabric.EntryPoints;
import org.jofi.libfabric.bindings.Libfabric;
import org.jofi.libfabric.bindings.fi_av_attr;
import org.jofi.libfabric.bindings.fi_cq_attr;
import org.jofi.libfabric.bindings.fi_cq_data_entry;
import org.jofi.libfabric.bindings.fi_cq_err_entry;
import org.jofi.libfabric.bindings.fi_domain_attr;
import org.jofi.libfabric.bindings.fi_ep_attr;
import org.jofi.libfabric.bindings.fi_fabric_attr;
import org.jofi.libfabric.bindings.fi_info;
import org.jofi.libfabric.bindings.fi_mr_attr;
import org.jofi.libfabric.bindings.fi_ops;
import org.jofi.libfabric.bindings.fi_ops_av;
import org.jofi.libfabric.bindings.fi_ops_cm;
import org.jofi.libfabric.bindings.fi_ops_cq;
import org.jofi.libfabric.bindings.fi_ops_domain;
import org.jofi.libfabric.bindings.fi_ops_fabric;
import org.jofi.libfabric.bindings.fi_ops_mr;
import org.jofi.libfabric.bindings.fi_ops_msg;
import org.jofi.libfabric.bindings.fi_ops_rma;
import org.jofi.libfabric.bindings.fid;
import org.jofi.libfabric.bindings.fid_av;
import org.jofi.libfabric.bindings.fid_cq;
import org.jofi.libfabric.bindings.fid_domain;
import org.jofi.libfabric.bindings.fid_ep;
import org.jofi.libfabric.bindings.fid_fabric;
import org.jofi.libfabric.bindings.fid_mr;
import org.jofi.libfabric.bindings.iovec;

/**
 * Calls what it likes through the pointers of the double, in any order, as a C program could: none
 * of the provider's types stand in its way.
 */
final class RawDriver {
  private static final long BOUND_NS = 10_000_000_000L;

  /** Every bit that the provider offers. */
  static final int ALL_MODES = 0x674;

  final Arena arena = Arena.ofShared();
  final MemorySegment infos;
  final MemorySegment info;
  final MemorySegment fabric;
  final MemorySegment domain;
  final MemorySegment queue;
  final MemorySegment vector;
  private final MemorySegment contexts = arena.allocate(64 * 64, 64);
  private final MemorySegment entries = arena.allocate(16 * fi_cq_data_entry.sizeof(), 16);
  private int nextContext;
  private int completed;

  RawDriver(AbiDouble library) {
    EntryPoints entryPoints = library.entryPoints();
    MemorySegment result = arena.allocate(ValueLayout.ADDRESS);
    assertEquals(0, getinfo(entryPoints, ALL_MODES, result));
    infos = Pointers.read(result);
    info = Libfabric.fi_dupinfo(loopback(infos));
    assertEquals(
        0,
        entryPoints.fabric(fi_info.fabric_attr(Pointers.struct(info)), result, MemorySegment.NULL));
    fabric = Pointers.struct(Pointers.read(result));
    domain = openDomain(info);
    queue = openQueue();
    vector = openVector();
  }

  static int getinfo(EntryPoints entryPoints, int modes, MemorySegment result) {
    MemorySegment hints = Libfabric.fi_dupinfo(MemorySegment.NULL);
    MemorySegment struct = Pointers.struct(hints);
    fi_info.caps(struct, FI_MSG() | FI_RMA());
    fi_info.mode(struct, FI_CONTEXT() | FI_CONTEXT2());
    fi_ep_attr.type(Pointers.struct(fi_info.ep_attr(struct)), FI_EP_RDM());
    fi_domain_attr.mr_mode(Pointers.struct(fi_info.domain_attr(struct)), modes);
    try {
      return entryPoints.getinfo(
          Math.min(Libfabric.fi_version(), 2 << 16 | 1),
          MemorySegment.NULL,
          MemorySegment.NULL,
          0,
          hints,
          result);
    } finally {
      Libfabric.fi_freeinfo(hints);
    }
  }

  /** The first that speaks through TCP sockets, on this machine's own address. */
  private static MemorySegment loopback(MemorySegment head) {
    for (MemorySegment at = head; !Pointers.isNull(at); at = fi_info.next(Pointers.struct(at))) {
      MemorySegment struct = Pointers.struct(at);
      MemorySegment name = fi_fabric_attr.prov_name(Pointers.struct(fi_info.fabric_attr(struct)));
      String provider = Pointers.memory(name.address(), 64).getString(0);
      MemorySegment address = fi_info.src_addr(struct);
      if (Stand.PROVIDERS.contains(provider)
          && !Pointers.isNull(address)
          && SocketName.read(address).startsWith("2:")
          && SocketName.read(address).endsWith("7f000001")) {
        return at;
      }
    }
    throw new AssertionError("no TCP sockets on 127.0.0.1");
  }

  MemorySegment openDomain(MemorySegment withInfo) {
    MemorySegment result = arena.allocate(ValueLayout.ADDRESS);
    assertEquals(0, tryDomain(withInfo, result));
    return Pointers.struct(Pointers.read(result));
  }

  int tryDomain(MemorySegment withInfo, MemorySegment result) {
    return fi_ops_fabric.domain.invoke(
        fi_ops_fabric.domain(fid_fabric.ops(fabric)), fabric, withInfo, result, MemorySegment.NULL);
  }

  MemorySegment openQueue() {
    MemorySegment attributes = arena.allocate(256, 16);
    fi_cq_attr.size(attributes, 64);
    fi_cq_attr.format(attributes, FI_CQ_FORMAT_DATA());
    fi_cq_attr.wait_obj(attributes, 0);
    MemorySegment result = arena.allocate(ValueLayout.ADDRESS);
    assertEquals(
        0,
        fi_ops_domain.cq_open.invoke(
            fi_ops_domain.cq_open(fid_domain.ops(domain)),
            domain,
            attributes,
            result,
            MemorySegment.NULL));
    return Pointers.struct(Pointers.read(result));
  }

  MemorySegment openVector() {
    MemorySegment attributes = arena.allocate(256, 16);
    fi_av_attr.type(attributes, FI_AV_TABLE());
    fi_av_attr.count(attributes, 8);
    MemorySegment result = arena.allocate(ValueLayout.ADDRESS);
    assertEquals(
        0,
        fi_ops_domain.av_open.invoke(
            fi_ops_domain.av_open(fid_domain.ops(domain)),
            domain,
            attributes,
            result,
            MemorySegment.NULL));
    return Pointers.struct(Pointers.read(result));
  }

  /** Not bound to anything. */
  MemorySegment openEndpoint() {
    MemorySegment result = arena.allocate(ValueLayout.ADDRESS);
    assertEquals(
        0,
        fi_ops_domain.endpoint.invoke(
            fi_ops_domain.endpoint(fid_domain.ops(domain)),
            domain,
            info,
            result,
            MemorySegment.NULL));
    return Pointers.struct(Pointers.read(result));
  }

  /** Bound to queue and address vector. */
  MemorySegment boundEndpoint() {
    MemorySegment endpoint = openEndpoint();
    assertEquals(0, bind(endpoint, queue, FI_TRANSMIT() | FI_RECV()));
    assertEquals(0, bind(endpoint, vector, 0));
    return endpoint;
  }

  MemorySegment enabledEndpoint() {
    MemorySegment endpoint = boundEndpoint();
    assertEquals(0, enable(endpoint));
    return endpoint;
  }

  int bind(MemorySegment object, MemorySegment other, long flags) {
    return fi_ops.bind.invoke(fi_ops.bind(fid.ops(object)), object, other, flags);
  }

  int enable(MemorySegment object) {
    return control(object, FI_ENABLE());
  }

  int control(MemorySegment object, int command) {
    return fi_ops.control.invoke(
        fi_ops.control(fid.ops(object)), object, command, MemorySegment.NULL);
  }

  int close(MemorySegment object) {
    return fi_ops.close.invoke(fi_ops.close(fid.ops(object)), object);
  }

  /** Everything below the endpoints. */
  void closeAll() {
    for (MemorySegment object : new MemorySegment[] {queue, vector, domain, fabric}) {
      assertEquals(0, close(object));
    }
    Libfabric.fi_freeinfo(info);
    Libfabric.fi_freeinfo(infos);
  }

  /** The struct for a region, with room behind it as newer libraries have. */
  MemorySegment attributes(MemorySegment memory, long access, long key) {
    MemorySegment range = arena.allocate(iovec.layout());
    iovec.iov_base(range, memory);
    iovec.iov_len(range, memory.byteSize());
    MemorySegment attributes = arena.allocate(256, 16);
    fi_mr_attr.mr_iov(attributes, range);
    fi_mr_attr.iov_count(attributes, 1);
    fi_mr_attr.access(attributes, access);
    fi_mr_attr.requested_key(attributes, key);
    return attributes;
  }

  int tryRegister(MemorySegment attributes, long flags, MemorySegment result) {
    return fi_ops_mr.regattr.invoke(
        fi_ops_mr.regattr(fid_domain.mr(domain)), domain, attributes, flags, result);
  }

  int tryRegister(MemorySegment attributes) {
    return tryRegister(attributes, 0, arena.allocate(ValueLayout.ADDRESS));
  }

  MemorySegment register(MemorySegment memory, long access, long key) {
    MemorySegment result = arena.allocate(ValueLayout.ADDRESS);
    assertEquals(0, tryRegister(attributes(memory, access, key), 0, result));
    return Pointers.struct(Pointers.read(result));
  }

  MemorySegment register(MemorySegment memory) {
    return register(memory, Access.ALL, 0);
  }

  /** Registered, bound and enabled, as it should be. */
  MemorySegment enabledRegion(MemorySegment memory, long access, long key, MemorySegment endpoint) {
    MemorySegment region = register(memory, access, key);
    assertEquals(0, bind(region, endpoint, 0));
    assertEquals(0, enable(region));
    return region;
  }

  static long key(MemorySegment region) {
    return fid_mr.key(region);
  }

  static MemorySegment descriptor(MemorySegment region) {
    return fid_mr.mem_desc(region);
  }

  /** A peer that is an endpoint of this driver. */
  long insert(MemorySegment endpoint) {
    MemorySegment name = arena.allocate(128, 16);
    MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_LONG, 128);
    assertEquals(
        0,
        fi_ops_cm.getname.invoke(fi_ops_cm.getname(fid_ep.cm(endpoint)), endpoint, name, length));
    MemorySegment peer = arena.allocate(ValueLayout.JAVA_LONG);
    assertEquals(
        1,
        fi_ops_av.insert.invoke(
            fi_ops_av.insert(fid_av.ops(vector)), vector, name, 1, peer, 0, MemorySegment.NULL));
    return peer.get(ValueLayout.JAVA_LONG, 0);
  }

  MemorySegment context() {
    return contexts.asSlice(64L * nextContext++, 64);
  }

  long send(MemorySegment endpoint, MemorySegment buffer, MemorySegment descriptor, long peer) {
    return send(endpoint, buffer, descriptor, peer, context());
  }

  long send(
      MemorySegment endpoint,
      MemorySegment buffer,
      MemorySegment descriptor,
      long peer,
      MemorySegment context) {
    return posted(
        () ->
            fi_ops_msg.send.invoke(
                fi_ops_msg.send(fid_ep.msg(endpoint)),
                endpoint,
                buffer,
                buffer.byteSize(),
                descriptor,
                peer,
                context));
  }

  long recv(MemorySegment endpoint, MemorySegment buffer, MemorySegment descriptor) {
    return recv(endpoint, buffer, descriptor, context());
  }

  long recv(
      MemorySegment endpoint,
      MemorySegment buffer,
      MemorySegment descriptor,
      MemorySegment context) {
    return fi_ops_msg.recv.invoke(
        fi_ops_msg.recv(fid_ep.msg(endpoint)),
        endpoint,
        buffer,
        buffer.byteSize(),
        descriptor,
        -1,
        context);
  }

  long write(
      MemorySegment endpoint,
      MemorySegment buffer,
      MemorySegment descriptor,
      long peer,
      long address,
      long key) {
    MemorySegment context = context();
    return posted(() -> tryWrite(endpoint, buffer, descriptor, peer, address, key, context));
  }

  long tryWrite(
      MemorySegment endpoint,
      MemorySegment buffer,
      MemorySegment descriptor,
      long peer,
      long address,
      long key,
      MemorySegment context) {
    return fi_ops_rma.write.invoke(
        fi_ops_rma.write(fid_ep.rma(endpoint)),
        endpoint,
        buffer,
        buffer.byteSize(),
        descriptor,
        peer,
        address,
        key,
        context);
  }

  long writeMessage(MemorySegment endpoint, MemorySegment message, long flags) {
    return fi_ops_rma.writemsg.invoke(
        fi_ops_rma.writemsg(fid_ep.rma(endpoint)), endpoint, message, flags);
  }

  long read(
      MemorySegment endpoint,
      MemorySegment buffer,
      MemorySegment descriptor,
      long peer,
      long address,
      long key) {
    MemorySegment context = context();
    return posted(
        () ->
            fi_ops_rma.read.invoke(
                fi_ops_rma.read(fid_ep.rma(endpoint)),
                endpoint,
                buffer,
                buffer.byteSize(),
                descriptor,
                peer,
                address,
                key,
                context));
  }

  /** Posts; as long as the provider cannot, it is given time to connect. */
  private long posted(LongSupplier post) {
    long end = System.nanoTime() + BOUND_NS;
    long code = post.getAsLong();
    while (code == -FabricErrno.EAGAIN && System.nanoTime() < end) {
      poll();
      Thread.yield();
      code = post.getAsLong();
    }
    return code;
  }

  private void poll() {
    long count = fi_ops_cq.read.invoke(fi_ops_cq.read(fid_cq.ops(queue)), queue, entries, 16);
    if (count > 0) {
      completed += (int) count;
    } else if (count != -FabricErrno.EAGAIN) {
      throw new AssertionError("fi_cq_read: " + count);
    }
  }

  /** The error of the one operation that failed. */
  int error() {
    MemorySegment entry = arena.allocate(256, 16);
    assertEquals(
        -FabricErrno.EAVAIL,
        fi_ops_cq.read.invoke(fi_ops_cq.read(fid_cq.ops(queue)), queue, entries, 16));
    assertEquals(
        1, fi_ops_cq.readerr.invoke(fi_ops_cq.readerr(fid_cq.ops(queue)), queue, entry, 0));
    poll();
    return fi_cq_err_entry.err(entry);
  }

  /** Polls until so many more operations completed. */
  void complete(int wanted) {
    long end = System.nanoTime() + BOUND_NS;
    while (completed < wanted) {
      poll();
      if (System.nanoTime() > end) {
        throw new AssertionError("%d of %d completed".formatted(completed, wanted));
      }
      Thread.yield();
    }
    completed -= wanted;
  }
}

package org.jofi.libfabric;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_ENABLE;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_MR_DMABUF;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.fabric.Access;
import org.jofi.fabric.Capability;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.RegionRequest;
import org.jofi.libfabric.bindings.fi_mr_attr;
import org.jofi.libfabric.bindings.fi_mr_dmabuf;
import org.jofi.libfabric.bindings.fi_ops;
import org.jofi.libfabric.bindings.fi_ops_mr;
import org.jofi.libfabric.bindings.fid;
import org.jofi.libfabric.bindings.fid_domain;
import org.jofi.libfabric.bindings.fid_mr;
import org.jofi.libfabric.bindings.iovec;

/**
 * struct fid_mr, in any of its states. The SPI's region types (unbound, bound, enabled) pass it on
 * from one to the next.
 */
final class Registration extends FabricObject {
  private static final long KEY_NOT_AVAILABLE = -1L;
  private static final int DMABUF_SINCE = LibfabricLibrary.version(1, 20);

  private final LibfabricDomain domain;
  private final RegionRequest request;

  private Registration(LibfabricDomain domain, RegionRequest request) {
    super("region %s of %s".formatted(request, domain.info()));
    this.domain = domain;
    this.request = request;
  }

  static Registration open(LibfabricDomain domain, RegionRequest request) {
    MemorySegment domainFid = domain.fid();
    if (request.kind() == MemoryKind.HOST
        && request.dmaBuf() == null
        && !LibC.isMapped(request.address(), request.lengthBytes())) {
      throw new IllegalArgumentException(
          "cannot register %s: not all of it is mapped".formatted(request));
    }
    if ((request.kind() != MemoryKind.HOST || request.dmaBuf() != null)
        && !domain.info().has(Capability.HMEM)) {
      // The library would treat it as host memory and copy from it.
      throw new FabricException(
          "fi_mr_regattr",
          FabricErrno.ENOSYS,
          "",
          "%s, negotiated without FI_HMEM, region %s".formatted(domain.place(), request));
    }
    Registration registration = new Registration(domain, request);
    registration.standOn(domain);
    try (Arena arena = Arena.ofConfined()) {
      boolean efa = LibfabricTraits.isEfa(domain.info().provider());
      long access = efa ? EfaFabric.access(request.access()) : request.access();
      MemorySegment attributes = attributes(arena, request, access);
      long flags = request.dmaBuf() == null ? 0 : FI_MR_DMABUF();
      registration.open(
          "fi_mr_regattr", result -> register(domain, domainFid, attributes, flags, result));
    }
    return registration;
  }

  private static int register(
      LibfabricDomain domain,
      MemorySegment domainFid,
      MemorySegment attributes,
      long flags,
      MemorySegment result) {
    if (flags != 0 && LibfabricLibrary.load().apiVersion() < DMABUF_SINCE) {
      return -FabricErrno.ENOSYS;
    }
    MemorySegment function = fi_ops_mr.regattr(fid_domain.mr(domainFid));
    return domain
        .regionMapLock()
        .during(() -> fi_ops_mr.regattr.invoke(function, domainFid, attributes, flags, result));
  }

  private static MemorySegment attributes(Arena arena, RegionRequest request, long access) {
    MemorySegment attributes = NativeStruct.allocate(arena, fi_mr_attr.sizeof());
    DmaBuf piece = request.dmaBuf();
    if (piece == null) {
      MemorySegment range = arena.allocate(iovec.sizeof(), Long.BYTES);
      iovec.iov_base(range, MemorySegment.ofAddress(request.address()));
      iovec.iov_len(range, request.lengthBytes());
      fi_mr_attr.mr_iov(attributes, range);
    } else {
      MemorySegment range = NativeStruct.allocate(arena, fi_mr_dmabuf.sizeof());
      fi_mr_dmabuf.fd(range, piece.fd());
      fi_mr_dmabuf.offset(range, piece.offsetBytes());
      fi_mr_dmabuf.len(range, request.lengthBytes());
      // The address is that of the piece, while base_addr is that of the whole dma-buf.
      fi_mr_dmabuf.base_addr(
          range,
          request.address() == 0
              ? MemorySegment.NULL
              : MemorySegment.ofAddress(request.address() - piece.offsetBytes()));
      fi_mr_attr.dmabuf(attributes, range);
    }
    fi_mr_attr.iov_count(attributes, 1);
    fi_mr_attr.access(attributes, access);
    fi_mr_attr.requested_key(attributes, request.requestedKey());
    fi_mr_attr.iface(attributes, Bits.ofMemoryKind(request.kind()));
    fi_mr_attr.device.cuda(fi_mr_attr.device(attributes), request.device());
    return attributes;
  }

  RegionRequest request() {
    return request;
  }

  LibfabricDomain domain() {
    return domain;
  }

  void bind(LibfabricEndpoint endpoint) {
    endpoint.requireOpen();
    standOn(endpoint);
    MemorySegment mr = nativeObject();
    int code = fi_ops.bind.invoke(fi_ops.bind(fid.ops(mr)), mr, endpoint.nativeObject(), 0);
    if (code != 0) {
      stopStandingOn(endpoint);
      throw new FabricException("fi_mr_bind", -code, "", place() + " to " + endpoint.place());
    }
  }

  void enable() {
    MemorySegment mr = nativeObject();
    int code =
        fi_ops.control.invoke(fi_ops.control(fid.ops(mr)), mr, FI_ENABLE(), MemorySegment.NULL);
    if (code != 0) {
      throw new FabricException("fi_mr_enable", -code, "", place());
    }
  }

  long descriptor() {
    return fid_mr.mem_desc(nativeObject()).address();
  }

  long key() {
    if (!Access.isRemote(request.access())) {
      throw new IllegalStateException(place() + " has no remote access, so it has no key");
    }
    long key = fid_mr.key(nativeObject());
    if (key == KEY_NOT_AVAILABLE) {
      throw new FabricException("fi_mr_key", FabricErrno.ENOKEY, "", place());
    }
    return key;
  }

  @Override
  int nativeClose() {
    return domain.regionMapLock().during(super::nativeClose);
  }

  void close() {
    closeObject("mr");
  }
}

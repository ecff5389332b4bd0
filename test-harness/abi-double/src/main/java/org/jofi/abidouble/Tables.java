package org.jofi.abidouble;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.libfabric.bindings.fi_ops;
import org.jofi.libfabric.bindings.fi_ops_av;
import org.jofi.libfabric.bindings.fi_ops_cm;
import org.jofi.libfabric.bindings.fi_ops_cq;
import org.jofi.libfabric.bindings.fi_ops_domain;
import org.jofi.libfabric.bindings.fi_ops_ep;
import org.jofi.libfabric.bindings.fi_ops_fabric;
import org.jofi.libfabric.bindings.fi_ops_mr;
import org.jofi.libfabric.bindings.fi_ops_msg;
import org.jofi.libfabric.bindings.fi_ops_rma;

/** The tables of functions that all objects of one double share. */
final class Tables {
  private final Upcalls upcalls;
  private final Arena arena = Arena.global();

  final MemorySegment object;
  final MemorySegment fabric;
  final MemorySegment domain;
  final MemorySegment registration;
  final MemorySegment queue;
  final MemorySegment vector;
  final MemorySegment endpoint;
  final MemorySegment connection;
  final MemorySegment messages;
  final MemorySegment oneSided;

  /** Of an endpoint that is not enabled: CXI has others then. */
  final MemorySegment messagesTooEarly;

  final MemorySegment oneSidedTooEarly;

  /** Of functions that jofi does not use. */
  final MemorySegment unused;

  Tables(Upcalls upcalls) {
    this.upcalls = upcalls;
    object = object();
    fabric = fabric();
    domain = domain();
    registration = registration();
    queue = queue();
    vector = vector();
    endpoint = endpoint();
    connection = connection();
    messages = messages();
    oneSided = oneSided();
    messagesTooEarly = Table.refusing(upcalls, fi_ops_msg.layout(), Rule.ENDPOINT_ORDER);
    oneSidedTooEarly = Table.refusing(upcalls, fi_ops_rma.layout(), Rule.ENDPOINT_ORDER);
    unused = Table.unknown(upcalls, "tagged, atomic or collective");
  }

  private MemorySegment object() {
    MemorySegment table = Table.refusing(upcalls, fi_ops.layout(), Rule.UNEXPECTED_CALL);
    fi_ops.close(
        table,
        fi_ops.close.allocate(
            self -> (int) upcalls.on(self, Fid.class, "fi_close", Fid::close), arena));
    fi_ops.bind(
        table,
        fi_ops.bind.allocate(
            (self, other, flags) ->
                (int) upcalls.on(self, Fid.class, "fi_bind", fid -> fid.bind(other, flags)),
            arena));
    fi_ops.control(
        table,
        fi_ops.control.allocate(
            (self, command, argument) ->
                (int)
                    upcalls.on(
                        self, Fid.class, "fi_control", fid -> fid.control(command, argument)),
            arena));
    return table;
  }

  private MemorySegment fabric() {
    MemorySegment table = Table.refusing(upcalls, fi_ops_fabric.layout(), Rule.UNEXPECTED_CALL);
    fi_ops_fabric.domain(
        table,
        fi_ops_fabric.domain.allocate(
            (self, info, result, context) ->
                (int)
                    upcalls.on(
                        self,
                        FabricFid.class,
                        "fi_domain",
                        fabric -> fabric.openDomain(info, result, context)),
            arena));
    return table;
  }

  private MemorySegment domain() {
    MemorySegment table = Table.refusing(upcalls, fi_ops_domain.layout(), Rule.UNEXPECTED_CALL);
    fi_ops_domain.av_open(
        table,
        fi_ops_domain.av_open.allocate(
            (self, attributes, result, context) ->
                (int)
                    upcalls.on(
                        self,
                        DomainFid.class,
                        "fi_av_open",
                        domain -> domain.openVector(attributes, result, context)),
            arena));
    fi_ops_domain.cq_open(
        table,
        fi_ops_domain.cq_open.allocate(
            (self, attributes, result, context) ->
                (int)
                    upcalls.on(
                        self,
                        DomainFid.class,
                        "fi_cq_open",
                        domain -> domain.openQueue(attributes, result, context)),
            arena));
    fi_ops_domain.endpoint(
        table,
        fi_ops_domain.endpoint.allocate(
            (self, info, result, context) ->
                (int)
                    upcalls.on(
                        self,
                        DomainFid.class,
                        "fi_endpoint",
                        domain -> domain.openEndpoint(info, result, context)),
            arena));
    return table;
  }

  private MemorySegment registration() {
    MemorySegment table = Table.refusing(upcalls, fi_ops_mr.layout(), Rule.UNEXPECTED_CALL);
    fi_ops_mr.regattr(
        table,
        fi_ops_mr.regattr.allocate(
            (self, attributes, flags, result) ->
                (int)
                    upcalls.on(
                        self,
                        DomainFid.class,
                        "fi_mr_regattr",
                        domain -> domain.register(attributes, flags, result)),
            arena));
    return table;
  }

  private MemorySegment queue() {
    MemorySegment table = Table.refusing(upcalls, fi_ops_cq.layout(), Rule.UNEXPECTED_CALL);
    fi_ops_cq.read(
        table,
        fi_ops_cq.read.allocate(
            (self, entries, count) ->
                upcalls.on(self, QueueFid.class, "fi_cq_read", queue -> queue.read(entries, count)),
            arena));
    fi_ops_cq.readerr(
        table,
        fi_ops_cq.readerr.allocate(
            (self, entry, flags) ->
                upcalls.on(
                    self, QueueFid.class, "fi_cq_readerr", queue -> queue.readError(entry, flags)),
            arena));
    fi_ops_cq.strerror(
        table,
        fi_ops_cq.strerror.allocate(
            (self, error, data, text, length) ->
                MemorySegment.ofAddress(
                    Math.max(
                        0,
                        upcalls.on(
                            self,
                            QueueFid.class,
                            "fi_cq_strerror",
                            queue -> queue.describe(error, data, text, length)))),
            arena));
    return table;
  }

  private MemorySegment vector() {
    MemorySegment table = Table.refusing(upcalls, fi_ops_av.layout(), Rule.UNEXPECTED_CALL);
    fi_ops_av.insert(
        table,
        fi_ops_av.insert.allocate(
            (self, addresses, count, peers, flags, context) ->
                (int)
                    upcalls.on(
                        self,
                        VectorFid.class,
                        "fi_av_insert",
                        vector -> vector.insert(addresses, count, peers, flags, context)),
            arena));
    fi_ops_av.remove(
        table,
        fi_ops_av.remove.allocate(
            (self, peers, count, flags) ->
                (int)
                    upcalls.on(
                        self,
                        VectorFid.class,
                        "fi_av_remove",
                        vector -> vector.remove(peers, count, flags)),
            arena));
    // Answers with a string, so that it cannot refuse with a number.
    fi_ops_av.straddr(
        table,
        fi_ops_av.straddr.allocate(
            (self, address, text, length) -> {
              upcalls.refused(Rule.UNEXPECTED_CALL, "fi_av_straddr", self);
              return MemorySegment.NULL;
            },
            arena));
    return table;
  }

  private MemorySegment endpoint() {
    MemorySegment table = Table.refusing(upcalls, fi_ops_ep.layout(), Rule.UNEXPECTED_CALL);
    fi_ops_ep.cancel(
        table,
        fi_ops_ep.cancel.allocate(
            (self, context) ->
                upcalls.on(
                    self, EndpointFid.class, "fi_cancel", endpoint -> endpoint.cancel(context)),
            arena));
    fi_ops_ep.getopt(
        table,
        fi_ops_ep.getopt.allocate(
            (self, level, option, value, length) ->
                (int)
                    upcalls.on(
                        self,
                        EndpointFid.class,
                        "fi_getopt",
                        endpoint -> endpoint.option(level, option, value, length)),
            arena));
    fi_ops_ep.setopt(
        table,
        fi_ops_ep.setopt.allocate(
            (self, level, option, value, length) ->
                (int)
                    upcalls.on(
                        self,
                        EndpointFid.class,
                        "fi_setopt",
                        endpoint -> endpoint.setOption(level, option, value, length)),
            arena));
    return table;
  }

  private MemorySegment connection() {
    MemorySegment table = Table.refusing(upcalls, fi_ops_cm.layout(), Rule.UNEXPECTED_CALL);
    fi_ops_cm.getname(
        table,
        fi_ops_cm.getname.allocate(
            (self, address, length) ->
                (int)
                    upcalls.on(
                        self,
                        EndpointFid.class,
                        "fi_getname",
                        endpoint -> endpoint.name(address, length)),
            arena));
    return table;
  }

  private MemorySegment messages() {
    MemorySegment table = Table.refusing(upcalls, fi_ops_msg.layout(), Rule.UNEXPECTED_CALL);
    fi_ops_msg.recv(
        table,
        fi_ops_msg.recv.allocate(
            (self, buffer, length, descriptor, peer, context) ->
                upcalls.on(
                    self,
                    EndpointFid.class,
                    "fi_recv",
                    endpoint -> endpoint.data().recv(buffer, length, descriptor, peer, context)),
            arena));
    fi_ops_msg.send(
        table,
        fi_ops_msg.send.allocate(
            (self, buffer, length, descriptor, peer, context) ->
                upcalls.on(
                    self,
                    EndpointFid.class,
                    "fi_send",
                    endpoint -> endpoint.data().send(buffer, length, descriptor, peer, context)),
            arena));
    fi_ops_msg.senddata(
        table,
        fi_ops_msg.senddata.allocate(
            (self, buffer, length, descriptor, data, peer, context) ->
                upcalls.on(
                    self,
                    EndpointFid.class,
                    "fi_senddata",
                    endpoint ->
                        endpoint.data().sendData(buffer, length, descriptor, data, peer, context)),
            arena));
    fi_ops_msg.sendmsg(
        table,
        fi_ops_msg.sendmsg.allocate(
            (self, message, flags) ->
                upcalls.on(
                    self,
                    EndpointFid.class,
                    "fi_sendmsg",
                    endpoint -> endpoint.data().sendMessage(message, flags)),
            arena));
    fi_ops_msg.inject(
        table,
        fi_ops_msg.inject.allocate(
            (self, buffer, length, peer) ->
                upcalls.on(
                    self,
                    EndpointFid.class,
                    "fi_inject",
                    endpoint -> endpoint.data().inject(buffer, length, peer)),
            arena));
    return table;
  }

  private MemorySegment oneSided() {
    MemorySegment table = Table.refusing(upcalls, fi_ops_rma.layout(), Rule.UNEXPECTED_CALL);
    fi_ops_rma.read(
        table,
        fi_ops_rma.read.allocate(
            (self, buffer, length, descriptor, peer, address, key, context) ->
                upcalls.on(
                    self,
                    EndpointFid.class,
                    "fi_read",
                    endpoint ->
                        endpoint
                            .data()
                            .read(
                                buffer,
                                length,
                                descriptor,
                                new Target(peer, address, length, key),
                                context)),
            arena));
    fi_ops_rma.write(
        table,
        fi_ops_rma.write.allocate(
            (self, buffer, length, descriptor, peer, address, key, context) ->
                upcalls.on(
                    self,
                    EndpointFid.class,
                    "fi_write",
                    endpoint ->
                        endpoint
                            .data()
                            .write(
                                buffer,
                                length,
                                descriptor,
                                new Target(peer, address, length, key),
                                context)),
            arena));
    fi_ops_rma.writedata(
        table,
        fi_ops_rma.writedata.allocate(
            (self, buffer, length, descriptor, data, peer, address, key, context) ->
                upcalls.on(
                    self,
                    EndpointFid.class,
                    "fi_writedata",
                    endpoint ->
                        endpoint
                            .data()
                            .writeData(
                                buffer,
                                length,
                                descriptor,
                                data,
                                new Target(peer, address, length, key),
                                context)),
            arena));
    fi_ops_rma.writemsg(
        table,
        fi_ops_rma.writemsg.allocate(
            (self, message, flags) ->
                upcalls.on(
                    self,
                    EndpointFid.class,
                    "fi_writemsg",
                    endpoint -> endpoint.data().writeMessage(message, flags)),
            arena));
    return table;
  }
}

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.fabric.MemoryKind;
import org.jofi.transport.Await;
import org.jofi.transport.Memory;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.SendComm;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Use;

/**
 * Sends one half of a tensor in GPU memory into its other half, through the network: from this process to
 * itself. The address could be PyTorch's tensor.data_ptr(), or that of JCuda's Pointer after cuMemAlloc, in
 * this process. Needs a GPU.
 */

static final int GPU = 0;
static final long BYTES = 8 << 20;
static final Duration PATIENCE = Duration.ofSeconds(30);

void main(String... arguments) {
  var options = TransportOptions.builder();
  if (arguments.length > 0) {
    options.provider(arguments[0]);
  }
  var await = new Await();
  var cuda = DeviceMemoryProvider.of(MemoryKind.CUDA).orElseThrow();
  try (var gpu = cuda.open(GPU);
      var transport = Transport.open(options.build());
      var host = Arena.ofConfined()) {
    var device = transport.devices().getFirst();
    var listener = device.listen();
    var attempt = device.connect(listener.handle());
    var from = await.accepted(listener, PATIENCE);
    var to = await.connection(attempt, PATIENCE);

    MemorySegment numbers = host.allocate(BYTES / 2);
    for (long i = 0; i < numbers.byteSize(); i++) {
      numbers.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 >> 8));
    }
    long address = gpu.allocate(BYTES);
    gpu.copyFromHost(numbers.address(), address, BYTES / 2);

    exchange(transport, await, to, from, address);

    MemorySegment received = host.allocate(BYTES / 2);
    gpu.copyToHost(address + BYTES / 2, received.address(), BYTES / 2);
    gpu.free(address);
    if (received.mismatch(numbers) >= 0) {
      throw new AssertionError("byte %d differs".formatted(received.mismatch(numbers)));
    }
    IO.println("%d KiB of GPU memory arrived".formatted(BYTES / 2 >> 10));
  }
}

static void exchange(Transport transport, Await await, SendComm to, RecvComm from, long address) {
  Memory tensor = Memory.device(MemoryKind.CUDA, GPU, address, BYTES);
  long half = BYTES / 2;
  try (Registration out = to.register(tensor, Use.SEND);
      Registration in = from.register(tensor, Use.RECEIVE)) { // kept by CUDA's buffer id: cheap the second time
    IO.println(in.path()); // GPU direct via dma-buf, or staged through host memory
    long receive = from.irecv(in, half, half, 1);
    long send = to.isend(out, 0, half, 1);
    await.request(from, receive, PATIENCE);
    await.request(from, from.iflush(in, half, half), PATIENCE); // from now on kernels may read it
    await.request(to, send, PATIENCE);
  }
  transport.forget(tensor); // once, before it is freed; not after every use
}

package org.jofi.mr.cache;

import java.util.function.Consumer;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.state.Action;
import net.jqwik.api.state.ActionChain;
import net.jqwik.api.state.Transformer;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.cache.CacheWorld.Identity;
import org.jofi.mr.recording.RecordingFabric;
import org.jofi.mr.registration.CacheLimits;

/** Whatever is done to a device, in whatever order, cache, model and fabric agree. */
public class CacheProperties {

  @Property(tries = 2000)
  void cacheModelAndFabricAgree(@ForAll("chains") ActionChain<CacheWorld> chain) {
    chain.withInvariant("cache, model and fabric agree", CacheWorld::check).run().finish();
  }

  @Provide
  Arbitrary<ActionChain<CacheWorld>> chains() {
    return shapes().flatMap(CacheProperties::chain);
  }

  private static Arbitrary<CacheWorld.Shape> shapes() {
    Arbitrary<CacheLimits> limits =
        Arbitraries.of(
            CacheLimits.DEFAULT,
            CacheLimits.OFF,
            CacheLimits.DEFAULT.withIdle(3, 1 << 20),
            CacheLimits.DEFAULT.withIdle(100, 12 << 10));
    return Combinators.combine(
            Arbitraries.of(
                RecordingFabric.Profile.EFA,
                RecordingFabric.Profile.TCP,
                RecordingFabric.Profile.CXI,
                RecordingFabric.Profile.CXI_CLIENT_KEY),
            Arbitraries.integers().between(1, 4),
            Arbitraries.integers().between(1, 4),
            limits)
        .as(CacheWorld.Shape::new);
  }

  private static Arbitrary<CacheWorld.Memory> memory() {
    return Combinators.combine(
            Arbitraries.of(MemoryKind.HOST, MemoryKind.CUDA),
            Arbitraries.integers().between(0, 1),
            Arbitraries.frequency(Tuple.of(5, false), Tuple.of(1, true)),
            Arbitraries.frequency(
                Tuple.of(3, Identity.ID),
                Tuple.of(3, Identity.ARENA),
                Tuple.of(1, Identity.NOTHING)),
            Arbitraries.integers().between(0, 15),
            Arbitraries.integers().between(1, 6))
        .as(
            (kind, device, dmaBuf, identity, unit, units) ->
                new CacheWorld.Memory(
                    kind, kind == MemoryKind.HOST ? 0 : device, dmaBuf, identity, unit, units));
  }

  private static Arbitrary<Integer> index() {
    return Arbitraries.integers().between(0, 11);
  }

  private static Arbitrary<ActionChain<CacheWorld>> chain(CacheWorld.Shape shape) {
    Arbitrary<Long> access =
        Arbitraries.frequency(
            Tuple.of(6, Access.ALL),
            Tuple.of(2, Access.LOCAL),
            Tuple.of(1, Access.SEND | Access.REMOTE_READ));
    return ActionChain.startWith(() -> new CacheWorld(shape))
        .withAction(
            12,
            action(
                Combinators.combine(index(), memory(), access)
                    .as(
                        (slot, memory, bits) ->
                            step(
                                "acquire %s for 0x%x at %d".formatted(memory, bits, slot),
                                world -> world.acquire(slot, memory, bits)))))
        .withAction(
            5,
            action(
                Combinators.combine(index(), memory(), access)
                    .as(
                        (slot, memory, bits) ->
                            step(
                                "use %s for 0x%x at %d".formatted(memory, bits, slot),
                                world -> world.use(slot, memory, bits)))))
        .withAction(7, action(index().map(i -> step("release " + i, world -> world.release(i)))))
        .withAction(3, action(index().map(i -> step("post " + i, world -> world.post(i)))))
        .withAction(
            3,
            action(
                Combinators.combine(index(), index())
                    .as(
                        (slot, i) ->
                            step(
                                "complete %d at %d".formatted(i, slot),
                                world -> world.complete(slot, i)))))
        .withAction(2, action(index().map(i -> step("open " + i, world -> world.openEndpoint(i)))))
        .withAction(
            1, action(index().map(i -> step("close " + i, world -> world.closeEndpoint(i, false)))))
        .withAction(
            1, action(index().map(i -> step("abort " + i, world -> world.closeEndpoint(i, true)))))
        .withAction(
            2,
            action(
                Combinators.combine(memory(), Arbitraries.of(true, false))
                    .as(
                        (memory, told) ->
                            step(
                                "free %s, told %s".formatted(memory, told),
                                world -> world.free(memory, told)))))
        .withAction(1, action(index().map(i -> step("close freed", CacheWorld::closeFreed))))
        .withAction(1, action(index().map(i -> step("evict idle", CacheWorld::evictIdle))))
        .withAction(
            2,
            action(
                Combinators.combine(
                        Arbitraries.of(
                            RecordingFabric.Step.REGISTER,
                            RecordingFabric.Step.BIND,
                            RecordingFabric.Step.ENABLE),
                        index(),
                        Arbitraries.of(FabricErrno.ENOMEM, FabricErrno.ENOSPC, FabricErrno.EINVAL),
                        Arbitraries.integers().between(1, 4))
                    .as(
                        (step, rail, errno, times) ->
                            step(
                                "fail next %s at %d with %d".formatted(step, rail, errno),
                                world ->
                                    world.failNext(
                                        step,
                                        rail,
                                        errno,
                                        errno == FabricErrno.EINVAL ? 1 : times)))))
        .withAction(
            1,
            action(
                Combinators.combine(index(), index())
                    .as(
                        (slot, i) ->
                            step("mailbox " + i, world -> world.registerControl(slot, i)))))
        .withAction(
            1,
            action(
                Combinators.combine(index(), index())
                    .as((slot, i) -> step("pool " + i, world -> world.registerPool(slot, i)))))
        .withAction(
            1,
            action(
                Combinators.combine(index(), index())
                    .as(
                        (slot, i) ->
                            step("close mailbox " + i, world -> world.closeControl(slot, i)))))
        .withAction(1, action(index().map(i -> step("misorder " + i, world -> world.misorder(i)))))
        .withMaxTransformations(40);
  }

  private static Transformer<CacheWorld> step(String label, Consumer<CacheWorld> mutation) {
    return Transformer.mutate(label, mutation);
  }

  private static Action.Independent<CacheWorld> action(
      Arbitrary<Transformer<CacheWorld>> transformers) {
    return () -> transformers;
  }
}

package org.jofi.rdma.connect;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToIntFunction;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jspecify.annotations.Nullable;

/**
 * Things that have communicator ids, no two the same, in no order. Nothing that it does but {@link
 * #clear} takes longer the more there are.
 */
final class ById<T> {
  private final ToIntFunction<T> idOf;
  private final List<T> all = new ArrayList<>();

  /** Where the thing of an id is in the list, plus one; 0 if there is none. */
  private char[] places = new char[64];

  ById(ToIntFunction<T> idOf) {
    this.idOf = idOf;
  }

  void add(T one) {
    int id = idOf.applyAsInt(one);
    if (id >= places.length) {
      places = Arrays.copyOf(places, Math.max(2 * places.length, id + 1));
    }
    if (places[id] == 0) {
      all.add(one);
      places[id] = (char) all.size();
    }
  }

  /** Removes the one at an index; the last one takes its place. */
  void removeAt(int index) {
    T last = all.removeLast();
    int lastId = idOf.applyAsInt(last);
    if (index == all.size()) {
      places[lastId] = 0;
    } else {
      T removed = all.set(index, last);
      places[idOf.applyAsInt(removed)] = 0;
      places[lastId] = (char) (index + 1);
    }
  }

  void remove(int id) {
    int place = place(id);
    if (place != 0) {
      removeAt(place - 1);
    }
  }

  /** The one of an id, 0 to {@link ProtocolLimits#MAX_COMMUNICATOR}; null if there is none. */
  @Nullable T of(int id) {
    int place = place(id);
    return place == 0 ? null : all.get(place - 1);
  }

  private int place(int id) {
    return id < places.length ? places[id] : 0;
  }

  T get(int index) {
    return all.get(index);
  }

  int size() {
    return all.size();
  }

  boolean isEmpty() {
    return all.isEmpty();
  }

  void clear() {
    all.clear();
    Arrays.fill(places, '\0');
  }
}

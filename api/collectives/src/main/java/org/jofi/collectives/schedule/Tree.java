package org.jofi.collectives.schedule;

/**
 * A rank's place in a binomial tree, in which ranks are numbered from the root on: the parent's
 * number lacks the lowest bit that is set, and the children have one more bit, below it.
 */
record Tree(int rank, int root, int size) {
  /** This rank's number from the root on. */
  int number() {
    return Math.floorMod(rank - root, size);
  }

  /** The rank of a number. */
  int rank(int number) {
    return (number + root) % size;
  }

  boolean isRoot() {
    return rank == root;
  }

  /** The parent's rank, of all but the root. */
  int parent() {
    return rank(number() & (number() - 1));
  }

  /** The bit above those of its children. */
  int bits() {
    int number = number();
    return number == 0 ? Integer.highestOneBit(Math.max(1, 2 * size - 1)) : number & -number;
  }

  /** Whether there is a child that has this bit. */
  boolean hasChild(int bit) {
    return number() + bit < size;
  }

  /** The child that has this bit. */
  int child(int bit) {
    return rank(number() + bit);
  }

  /** How many ranks are below a child, itself included. */
  int below(int bit) {
    return Math.min(bit, size - number() - bit);
  }
}

package training;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.GradientCollector;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.XavierInitializer;
import ai.djl.training.loss.Loss;
import ai.djl.util.Pair;
import java.util.ArrayList;
import java.util.List;

/**
 * A network of DJL's blocks, one slice after another. DJL's engines have no hook that tells
 * that a gradient is there while the backward pass goes on. So the pass can be made in slices: each slice
 * gets the output of the one before cut off from its graph, and once the gradient of that input is
 * there, the slice before goes back by itself, from the sum of its output times that gradient.
 */
final class Network {
  private final List<Block> slices = new ArrayList<>();
  private final List<List<NDArray>> parameters = new ArrayList<>();
  private final ParameterStore store;
  private final Loss loss = Loss.softmaxCrossEntropyLoss();

  /** Told while the backward pass goes on. */
  interface Progress {
    /**
     * The gradients of a slice are there.
     *
     * @param slice its number; the last one comes first
     * @param loss of this step
     */
    void gradients(int slice, float loss);
  }

  /**
   * Makes it, with weights that its rank's engine draws.
   *
   * @param widths of the input, the layers between, and the output
   */
  Network(NDManager manager, List<Integer> widths) {
    store = new ParameterStore(manager, false);
    for (int i = 1; i < widths.size(); i++) {
      Block slice = Linear.builder().setUnits(widths.get(i)).build();
      if (i < widths.size() - 1) {
        slice = new SequentialBlock().add(slice).add(Activation.tanhBlock());
      }
      slice.setInitializer(new XavierInitializer(), Parameter.Type.WEIGHT);
      slice.initialize(manager, DataType.FLOAT32, new Shape(1, widths.get(i - 1)));
      List<NDArray> arrays = new ArrayList<>();
      for (Pair<String, Parameter> each : slice.getParameters()) {
        arrays.add(each.getValue().getArray());
      }
      slices.add(slice);
      parameters.add(arrays);
    }
  }

  /** {@return the parameters of each slice, first slice first} */
  List<List<NDArray>> parameters() {
    return parameters;
  }

  /**
   * Calculates the loss of samples and its gradients.
   *
   * @param scratch what is calculated with belongs to it
   * @param scale of the loss and the gradients: which part of the whole batch these samples are
   * @param inSlices whether the gradients come slice by slice
   * @return the loss, scaled
   */
  float step(NDManager scratch, SyntheticData.Part samples, float scale, boolean inSlices, Progress progress) {
    int last = slices.size() - 1;
    NDArray[] in = new NDArray[slices.size()];
    NDArray[] out = new NDArray[slices.size()];
    try (GradientCollector collector = Engine.getInstance().newGradientCollector()) {
      for (int slice = 0; slice <= last; slice++) {
        if (slice == 0) {
          in[slice] = scratch.from(samples.features()).duplicate();
          in[slice].attach(scratch);
        } else if (inSlices) {
          in[slice] = out[slice - 1].stopGradient();
          in[slice].setRequiresGradient(true);
        } else {
          in[slice] = out[slice - 1];
        }
        out[slice] = slices.get(slice).forward(store, new NDList(in[slice]), true).singletonOrThrow();
      }
      NDArray scaled = loss.evaluate(new NDList(samples.labels()), new NDList(out[last])).mul(scale);
      float value = scaled.getFloat();
      collector.backward(scaled);
      if (!inSlices) {
        for (int slice = last; slice >= 0; slice--) {
          progress.gradients(slice, value);
        }
        return value;
      }
      progress.gradients(last, value);
      for (int slice = last - 1; slice >= 0; slice--) {
        try (NDArray gradient = in[slice + 1].getGradient()) {
          collector.backward(out[slice].mul(gradient).sum());
        }
        progress.gradients(slice, value);
      }
      return value;
    }
  }
}

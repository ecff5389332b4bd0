package org.jofi.rdma.communicator;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.ArrayStoreInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;

/** Loads jofi's classes anew, each of whose methods tells {@link CallTrace} that it was entered. */
final class TracedClasses extends ClassLoader {
  private static final ClassDesc TRACE = ClassDesc.of(CallTrace.class.getName());
  private static final MethodTypeDesc ENTER =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_String);

  TracedClasses() {
    super(TracedClasses.class.getClassLoader());
    // As they are off where it counts.
    setDefaultAssertionStatus(false);
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith("org.jofi.") || name.equals(CallTrace.class.getName())) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? findClass(name) : loaded;
    }
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (file == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] traced = trace(file.readAllBytes());
      return defineClass(name, traced, 0, traced.length);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] trace(byte[] original) {
    ClassFile format = ClassFile.of();
    return format.transformClass(
        format.parse(original),
        (builder, element) -> {
          if (element instanceof MethodModel method
              && method.code().isPresent()
              && !reads(method.code().get())) {
            String entered =
                "%s.%s"
                    .formatted(
                        method.parent().orElseThrow().thisClass().asInternalName(),
                        method.methodName().stringValue());
            builder.transformMethod(
                method,
                (built, part) -> {
                  if (part instanceof CodeModel code) {
                    built.transformCode(code, entering(entered));
                  } else {
                    built.with(part);
                  }
                });
          } else {
            builder.with(element);
          }
        });
  }

  /** Whether it calls nothing and changes nothing: that is part of its caller, as in C. */
  private static boolean reads(CodeModel code) {
    for (CodeElement element : code) {
      boolean acts =
          element instanceof InvokeInstruction
              || element instanceof InvokeDynamicInstruction
              || element instanceof ArrayStoreInstruction
              || element instanceof NewObjectInstruction
              || (element instanceof FieldInstruction field
                  && (field.opcode() == Opcode.PUTFIELD || field.opcode() == Opcode.PUTSTATIC));
      if (acts) {
        return false;
      }
    }
    return true;
  }

  private static CodeTransform entering(String method) {
    return new CodeTransform() {
      @Override
      public void atStart(CodeBuilder builder) {
        builder.ldc(builder.constantPool().stringEntry(method)).invokestatic(TRACE, "enter", ENTER);
      }

      @Override
      public void accept(CodeBuilder builder, CodeElement element) {
        builder.with(element);
      }
    };
  }
}

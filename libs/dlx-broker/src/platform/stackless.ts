/**
 * Makes an error without the stack of calls. The stack of an error that the bytes of a server cause shows this library only, and
 * recording it costs more than all else that a message does.
 */
export function stackless<T extends Error>(make: () => T): T {
  const { stackTraceLimit } = Error;
  // Where built-in objects are frozen, this changes nothing.
  Reflect.set(Error, 'stackTraceLimit', 0);
  try {
    return make();
  } finally {
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit);
  }
}

import { Injectable, type Type } from '@nestjs/common';

/** A decorator of a method; those of contracts know the type of the payload. */
type Above = (target: object, name: string, descriptor: never) => unknown;

/**
 * A class whose empty methods have these decorators, as an application would write it.
 * @param above decorates the class
 */
export function classOf(
  name: string,
  methods: Readonly<Record<string, readonly Above[]>>,
  above: ClassDecorator = Injectable(),
): Type {
  const made = { [name]: class {} }[name]!;
  for (const [method, decorators] of Object.entries(methods)) {
    Object.defineProperty(made.prototype, method, { value: () => undefined, configurable: true, writable: true });
    const descriptor = Object.getOwnPropertyDescriptor(made.prototype, method)!;
    for (const decorate of decorators.toReversed()) decorate(made.prototype, method, descriptor as never);
  }
  above(made);
  return made;
}

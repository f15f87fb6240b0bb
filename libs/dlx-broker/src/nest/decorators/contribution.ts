import 'reflect-metadata';

/** What one decorator says about a handler: plain data, read when the application starts. */
export interface Contribution {
  /** Without the `@`. */
  readonly decorator: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

const contributionsKey = 'dlx-broker:contributions';

/** A decorator only contributes data; nothing is checked and no broker is touched before the application starts. */
export function contribute(decorator: string, settings: Readonly<Record<string, unknown>>): MethodDecorator {
  return (_target, _key, descriptor) => {
    const method = descriptor.value as object;
    Reflect.defineMetadata(contributionsKey, [{ decorator, settings }, ...contributionsOf(method)], method);
  };
}

/** In the order in which they are written above the method. */
export function contributionsOf(method: object): readonly Contribution[] {
  return (Reflect.getMetadata(contributionsKey, method) as readonly Contribution[] | undefined) ?? [];
}

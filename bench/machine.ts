/** The speed of this machine, in nanoseconds. It is printed beside the figures, for comparison. */
export async function machineLimits(): Promise<Readonly<Record<string, number>>> {
  return {
    'push to and shift from a ring of 256': ring(),
    'a microtask': await each(200_000, () => Promise.resolve()),
    setImmediate: await each(50_000, () => new Promise<void>((resolve) => setImmediate(resolve))),
    'JSON both ways, 64 bytes': json(),
  };
}

function ring(): number {
  const slots = new Array<number>(256).fill(0);
  let sum = 0;
  const start = performance.now();
  for (let count = 0; count < 5_000_000; count++) {
    slots[count & 255] = count;
    sum += slots[(count + 128) & 255] as number;
  }
  const took = performance.now() - start;
  return sum < 0 ? 0 : (took * 1e6) / 5_000_000;
}

async function each(count: number, step: () => Promise<void>): Promise<number> {
  const start = performance.now();
  for (let index = 0; index < count; index++) await step();
  return ((performance.now() - start) * 1e6) / count;
}

function json(): number {
  const value = { id: 12_345, name: 'a name of some length', price: 12.5, tags: ['a', 'b'] };
  let length = 0;
  const start = performance.now();
  for (let count = 0; count < 300_000; count++) length += Object.keys(JSON.parse(JSON.stringify(value))).length;
  return length === 0 ? 0 : ((performance.now() - start) * 1e6) / 300_000;
}

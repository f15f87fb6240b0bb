/** The cost of some work. */
export interface Cost {
  /** Microseconds of processor time of this process for a message. */
  readonly cpu: number;
  /** Messages a second. */
  readonly rate: number;
}

/** Measures work with this number of messages. */
export async function cost(count: number, work: () => Promise<void>): Promise<Cost> {
  const [cpu, begun] = [process.cpuUsage(), performance.now()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { cpu: (user + system) / count, rate: (count / (performance.now() - begun)) * 1_000 };
}

/** Costs by kind of work. Each is measured several times. */
export class Costs {
  readonly #found = new Map<string, Cost[]>();

  note(name: string, one: Cost): void {
    this.#found.set(name, [...(this.#found.get(name) ?? []), one]);
  }

  /** Prints the medians. */
  print(): void {
    for (const [name, costs] of [...this.#found].sort()) {
      const cpu = median(costs.map((one) => one.cpu)).toFixed(1);
      const rate = Math.round(median(costs.map((one) => one.rate)));
      console.log(`${name.padEnd(48)} ${cpu.padStart(7)} µs of processor time a message, ${rate} messages/s`);
    }
  }
}

const median = (values: number[]): number => values.sort((one, other) => one - other)[values.length >> 1] as number;

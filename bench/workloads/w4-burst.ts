import { type Clock, createBroker, deathsOf } from 'dlx-broker/engine';
import { args, body, open } from '../peers/engine.js';
import { processorTime, type Workload } from '../workload.js';

const content = body(16);
const messages = 1_000_000;

/** The clock of this machine, which can jump ahead: what is due then is done in turns of the event loop, as in an application. */
class JumpingClock implements Clock {
  #ahead = 0;
  readonly #due = new Map<() => void, number>();

  now(): number {
    return Math.floor(performance.timeOrigin + performance.now()) + this.#ahead;
  }

  wakeAt(time: number | undefined, tick: () => void): void {
    if (time === undefined) this.#due.delete(tick);
    else this.#due.set(tick, time);
  }

  jump(milliseconds: number): void {
    this.#ahead += milliseconds;
    const wake = (): void => {
      const now = this.now();
      for (const [tick, due] of this.#due) {
        if (due > now) continue;
        this.#due.delete(tick);
        tick();
      }
      if (this.#due.size > 0) setImmediate(wake);
    };
    setImmediate(wake);
  }
}

/** The lengths of turns of the event loop, in milliseconds. */
class Turns {
  readonly #lengths: number[] = [];
  #isOver = false;
  #since = performance.now();

  watch(): void {
    const now = performance.now();
    this.#lengths.push(now - this.#since);
    this.#since = now;
    if (!this.#isOver) setImmediate(() => this.watch());
  }

  end(): Readonly<Record<string, string>> {
    this.#isOver = true;
    const sorted = this.#lengths.toSorted((one, other) => one - other);
    const at = (share: number): string => (sorted[Math.ceil(sorted.length * share) - 1] as number).toFixed(1);
    return { 'turns of the loop, ms, p99': at(0.99), 'p99.9': at(0.999), longest: at(1) };
  }
}

export const w4Burst: Workload = {
  id: 'W4 burst',
  title:
    '1,000,000 messages with expirations of their own, due at one instant, each death read meanwhile, in turns of the loop',
  unit: 'msg/s',
  more: 'better',
  peers: {
    'dlx-broker': async () => {
      const clock = new JumpingClock();
      const broker = createBroker({ clock, pace: { budget: 500, later: (resume) => void setImmediate(resume) } });
      const channel = open(broker, () => {});
      channel.declareQueue('dead');
      channel.declareQueue('wait', {
        arguments: args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' }),
      });
      let read = 0;
      let wrong = 0;
      const consumer = open(broker, ({ message }) => {
        const [death] = deathsOf(message);
        if (death?.originalExpiration !== String(3_600_000 + ++read)) wrong++;
      });
      consumer.consume('dead', { noAck: true });
      for (let count = 1; count <= messages; count++) {
        channel.publish('', 'wait', { expiration: String(3_600_000 + count) }, content);
      }
      const turns = new Turns();
      setImmediate(() => turns.watch());
      const began = processorTime();
      clock.jump(3_600_000 + messages + 60_000);
      while (read < messages) await new Promise((resolve) => setImmediate(resolve));
      const took = processorTime() - began;
      if (wrong > 0) throw new Error(`${wrong} of ${messages} came with another death`);
      broker.close();
      return { value: messages / took, cpu: (took / messages) * 1_000_000, extra: turns.end() };
    },
  },
};

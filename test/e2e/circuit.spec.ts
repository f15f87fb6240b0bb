import { AsyncResource } from 'node:async_hooks';
import { Injectable, type Type } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Circuit,
  Consume,
  DlxBroker,
  type DlxBrokerOptions,
  DlxContext,
  type HealthProbe,
  Park,
  Prefetch,
  Quorum,
  Redrives,
  Retry,
  type RetryPolicy,
  Unavailable,
} from 'dlx-broker';
import { DlxTesting } from 'dlx-broker/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';

class BankDown extends Error {
  override readonly name = 'BankDown';
}

const open: DlxTesting[] = [];
afterEach(async () => {
  for (const dlx of open.splice(0)) await dlx.close();
});

type CircuitOptions = NonNullable<DlxBrokerOptions['circuits']>[string];

interface Plan {
  readonly circuit?: CircuitOptions;
  readonly retry?: RetryPolicy;
  readonly prefetch?: number;
  readonly quorum?: number;
  readonly providers?: Type[];
}

interface Payment {
  readonly id: number;
}

/** One handler of the queue `payments`, which does what the test says. */
async function arrange(plan: Plan, pay: (payment: Payment, context: DlxContext) => unknown) {
  const attempts: number[] = [];
  const paid: number[] = [];
  const none: MethodDecorator = () => undefined;
  @Injectable()
  class Payments {
    @Consume('payments')
    @Circuit('bank')
    @(plan.retry === undefined ? none : Retry(plan.retry))
    @(plan.quorum === undefined ? none : Quorum({ deliveryLimit: plan.quorum }))
    @Prefetch(plan.prefetch ?? 10)
    async pay(@Payload() payment: Payment, @Ctx() context: DlxContext): Promise<void> {
      attempts.push(context.attempt);
      await pay(payment, context);
      paid.push(payment.id);
    }
  }
  const dlx = await DlxTesting.create(
    { providers: [Payments, ...(plan.providers ?? [])] },
    { logger: false, transport: { circuits: { bank: plan.circuit ?? { on: BankDown } } } },
  );
  open.push(dlx);
  const broker = dlx.app.get(DlxBroker);
  const publish = async (count: number, from = 0): Promise<void> => {
    for (let id = from; id < from + count; id++) await dlx.publish('payments', { id });
  };
  return { dlx, broker, attempts, paid, publish, Payments };
}

describe('an outage of a service', () => {
  it('of a day parks nothing, uses no attempt, and calls the service within prefetch and probes', async () => {
    const day = 24 * 3_600_000;
    let upAt = Infinity;
    const { dlx, broker, attempts, paid, publish } = await arrange(
      { retry: { attempts: 5 }, prefetch: 10, circuit: { on: BankDown, atLeast: 1 } },
      () => {
        if (dlx.clock.now() < upAt) throw new BankDown('no route to the bank');
      },
    );
    upAt = dlx.clock.now() + day;
    await publish(1_000);
    await dlx.advance('23h');
    expect(paid).toEqual([]);
    const probes = Math.ceil((23 * 60) / 5) + 6; // every five minutes, after six pauses that grow
    expect(attempts.length).toBeLessThanOrEqual(10 + probes);
    expect(dlx.circuit('bank').state).toBe('open');
    expect(broker.handlers).toMatchObject([
      {
        handler: 'Payments.pay',
        queue: 'payments',
        state: 'open',
        circuit: 'bank',
        reason: 'BankDown: no route to the bank',
      },
    ]);
    await dlx.advance('2h');
    expect(new Set(paid).size).toBe(1_000);
    expect(paid).toHaveLength(1_000);
    expect(new Set(attempts)).toEqual(new Set([1]));
    expect(broker.counts).toMatchObject({ parked: 0, retried: 0, rejected: 0 });
    expect(dlx.circuit('bank').state).toBe('closed');
    expect(broker.handlers).toEqual([
      { handler: 'Payments.pay', queue: 'payments', state: 'running', circuit: 'bank' },
    ]);
  });

  it('holds one message of each queue for a probe, and not the rest of a queue that waited for its outcome', async () => {
    @Injectable()
    class Two {
      @Consume('payments')
      @Circuit('bank')
      @Prefetch(1)
      pay(): Promise<void> {
        return this.#ask();
      }

      @Consume('refunds')
      @Circuit('bank')
      @Prefetch(1)
      refund(): Promise<void> {
        return this.#ask();
      }

      async #ask(): Promise<void> {
        await new Promise((resolve) => setImmediate(resolve));
        throw new BankDown('no route to the bank');
      }
    }
    const transport = { circuits: { bank: { on: BankDown, atLeast: 1 } } };
    const dlx = await DlxTesting.create({ providers: [Two] }, { logger: false, transport });
    open.push(dlx);
    for (let id = 0; id < 300; id++) for (const queue of ['payments', 'refunds']) await dlx.publish(queue, { id });
    await dlx.advance('1h');
    expect(dlx.app.get(DlxBroker).counts.held).toBeLessThan(60); // 17 probes
  });

  it('opens the circuit once; the messages in hand are held without a second trip', async () => {
    const kinds: string[] = [];
    const { dlx, broker, publish, attempts } = await arrange(
      { prefetch: 100, circuit: { on: BankDown, atLeast: 1 } },
      () => {
        throw new BankDown('away');
      },
    );
    broker.events.subscribe(({ kind }) => kinds.push(kind));
    await publish(100);
    await dlx.settled();
    expect(attempts.length).toBeLessThanOrEqual(100);
    expect(kinds.filter((kind) => kind === 'opened')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'held')).toHaveLength(attempts.length);
    expect(broker.counts.held).toBe(attempts.length);
  });

  it('trips without a single success', async () => {
    const { dlx, publish, attempts } = await arrange({ prefetch: 1, circuit: { on: BankDown, atLeast: 20 } }, () => {
      throw new BankDown('away');
    });
    await publish(100);
    await dlx.settled();
    expect([attempts.length, dlx.circuit('bank').state]).toEqual([20, 'open']);
  });

  it('trips after many successes, as soon as half of the last minute failed', async () => {
    let isUp = true;
    const { dlx, publish, attempts } = await arrange({ prefetch: 1, circuit: { on: BankDown, atLeast: 20 } }, () => {
      if (!isUp) throw new BankDown('away');
    });
    await publish(500);
    await dlx.advance('2m');
    isUp = false;
    await publish(100, 500);
    await dlx.settled();
    expect([attempts.length, dlx.circuit('bank').state]).toEqual([520, 'open']);
  });

  it('eats nothing of a deadline: neither for a held message, nor for one that waits in the queue', async () => {
    let isDown = true;
    const seen = new Map<number, number>();
    const { dlx, broker, publish, paid } = await arrange(
      {
        prefetch: 1,
        retry: { attempts: 3, backoff: '1m', deadline: '10m' },
        circuit: { on: BankDown, atLeast: 2, pause: '5m' },
      },
      ({ id }) => {
        const times = (seen.get(id) ?? 0) + 1;
        seen.set(id, times);
        if (times === 1) throw new Error('a mistake'); // each message fails once before the outage
        if (isDown) throw new BankDown('away');
        if (id === 2 && times === 2) throw new Error('another mistake'); // it waited in the queue all the time
      },
    );
    await publish(3);
    await dlx.advance('1h');
    expect(dlx.circuit('bank').state).toBe('open');
    isDown = false;
    await dlx.advance('30m');
    expect(broker.counts.parked).toBe(0);
    expect(paid.toSorted()).toEqual([0, 1, 2]);
  });

  it('does not count against the delivery limit of a quorum queue', async () => {
    let isDown = true;
    const { dlx, publish, paid, attempts } = await arrange(
      { quorum: 3, prefetch: 5, retry: { attempts: 2 }, circuit: { on: BankDown, atLeast: 1, pause: '1m' } },
      () => {
        if (isDown) throw new BankDown('away');
      },
    );
    await publish(3);
    await dlx.advance('50m');
    expect(attempts.length).toBeGreaterThan(50);
    isDown = false;
    await dlx.advance('5m');
    expect(paid.toSorted()).toEqual([0, 1, 2]);
    expect(new Set(attempts)).toEqual(new Set([1]));
    dlx.expectQueue('payments').toBeEmpty();
    dlx.expectQueue('payments.parked').toBeEmpty();
  });

  it('of which only a share of failures tells uses attempts until the circuit opens, and none later', async () => {
    let isDown = true;
    const { dlx, broker, publish, paid, attempts } = await arrange(
      { prefetch: 1, retry: { attempts: 4, backoff: '1s' }, circuit: { atLeast: 10 } },
      () => {
        if (isDown) throw new Error('who knows why');
      },
    );
    await publish(30);
    await dlx.advance('1h');
    const spent = attempts.filter((attempt) => attempt > 1).length;
    isDown = false;
    await dlx.advance('1h');
    expect([paid.length, broker.counts.parked]).toEqual([30, 0]);
    expect([broker.counts.retried, spent <= 10]).toEqual([9, true]);
  });
});

describe('one message', () => {
  it('that always fails with an error of the service, among successes, is parked, and the circuit stays closed', async () => {
    const { dlx, broker, publish, paid } = await arrange(
      { retry: { attempts: 2, backoff: '1s' }, circuit: { on: BankDown, holds: 5, pause: '1s', atLeast: 4 } },
      ({ id }) => {
        if (id === 0) throw new BankDown('poison');
      },
    );
    await publish(1);
    for (let second = 0; second < 20; second++) {
      await publish(5, 1 + second * 5);
      await dlx.advance('1s');
    }
    expect([paid.length, broker.counts.held, broker.counts.parked]).toEqual([100, 5, 1]);
    expect(dlx.circuit('bank').state).toBe('closed');
    const [letter] = dlx.deadLetters<Payment>('payments.parked');
    expect(letter!.headers).toMatchObject({ 'dlx-holds': 5, 'dlx-attempt': 2, 'dlx-error-class': 'BankDown' });
  });

  it('that says Unavailable opens the circuit at once, for the time it says', async () => {
    let isUp = false;
    const { dlx, publish, attempts, paid } = await arrange({ prefetch: 1, circuit: { on: [] } }, () => {
      if (!isUp) throw new Unavailable('the bank answered 503', '40s');
    });
    await publish(3);
    await dlx.settled();
    const { state, reason, nextProbe } = dlx.circuit('bank');
    expect([state, reason, Number(nextProbe) - dlx.clock.now()]).toEqual([
      'open',
      'Unavailable: the bank answered 503',
      40_000,
    ]);
    await dlx.advance('39s');
    expect(attempts).toHaveLength(1);
    isUp = true;
    await dlx.advance('2s');
    expect([attempts.length, paid.toSorted()]).toEqual([4, [0, 1, 2]]);
  });

  it('that parks itself, or fails for another reason, says nothing about the service', async () => {
    const { dlx, broker, publish } = await arrange(
      { retry: { attempts: 1 }, circuit: { on: BankDown, atLeast: 1 } },
      ({ id }) => {
        throw id % 2 === 0 ? new Park('no') : new TypeError('a bug');
      },
    );
    await publish(20);
    await dlx.settled();
    expect([dlx.circuit('bank').state, broker.counts.parked]).toEqual(['closed', 20]);
  });
});

describe('a handler without a circuit', () => {
  it('holds only the message for which a service is unavailable, as the same attempt', async () => {
    const seen: number[][] = [];
    @Injectable()
    class Mails {
      @Consume('mails')
      @Retry({ attempts: 1 })
      send(@Payload() { id }: Payment, @Ctx() { attempt }: DlxContext): void {
        seen.push([id, attempt]);
        if (id === 0 && seen.length < 4) throw new Unavailable('rate limit');
      }
    }
    const dlx = await DlxTesting.create({ providers: [Mails] }, { logger: false });
    open.push(dlx);
    await dlx.publish('mails', { id: 0 });
    await dlx.publish('mails', { id: 1 });
    await dlx.advance('29s');
    expect(seen).toEqual([
      [0, 1],
      [1, 1],
    ]);
    await dlx.advance('2m');
    expect(seen.slice(2)).toEqual([
      [0, 1],
      [0, 1],
    ]);
    dlx.expectQueue('mails.parked').toBeEmpty();
  });
});

describe('a redrive', () => {
  it('into an open circuit waits until it is closed, and can be paused meanwhile', async () => {
    let isUp = true;
    let isFixed = false;
    const { dlx, publish, paid } = await arrange(
      { retry: { attempts: 1 }, prefetch: 1, circuit: { on: BankDown, atLeast: 1, share: 0.01, pause: '1m' } },
      ({ id }) => {
        if (!isUp) throw new BankDown('away');
        if (id < 3 && !isFixed) throw new Error('a bug');
      },
    );
    await publish(3);
    await dlx.settled();
    dlx.expectQueue('payments.parked').toHold([{ id: 0 }, { id: 1 }, { id: 2 }]);
    isUp = false;
    isFixed = true;
    await publish(1, 3);
    await dlx.settled();
    const task = dlx.app.get(Redrives).start({ from: 'payments.parked' });
    await dlx.advance('10s', { except: ['payments.parked'] });
    expect([task.current.state, task.current.redriven]).toEqual(['waiting', 0]);
    task.pause();
    expect(task.current.state).toBe('paused');
    isUp = true;
    await dlx.advance('2m', { except: ['payments.parked'] });
    expect([dlx.circuit('bank').state, task.current.state]).toEqual(['closed', 'paused']);
    task.resume();
    await dlx.advance('10s', { except: ['payments.parked'] });
    expect([task.current.state, task.current.redriven, paid.toSorted()]).toEqual(['done', 3, [0, 1, 2, 3]]);
  });
});

describe('a paused handler', () => {
  it('gets no messages until it is resumed, and those in hand end before the pause is complete', async () => {
    let release!: () => void;
    const atWork = new Promise<void>((resolve) => (release = resolve));
    const { dlx, broker, publish, paid } = await arrange({ prefetch: 1 }, ({ id }) => (id === 0 ? atWork : undefined));
    const happened: string[] = [];
    broker.events.subscribe(({ kind, handler, reason }) => {
      if (kind === 'paused' || kind === 'resumed') happened.push(`${handler} ${kind} ${reason}`);
    });
    await publish(3);
    let isPaused = false;
    const paused = dlx
      .handler('Payments.pay')
      .pause('the bank moves')
      .then(() => (isPaused = true));
    await dlx.settled({ except: ['payments'] });
    expect([isPaused, paid]).toEqual([false, []]);
    release();
    await paused;
    await dlx.advance('1h');
    expect(paid).toEqual([0]);
    expect(broker.handlers).toMatchObject([{ handler: 'Payments.pay', state: 'paused', reason: 'the bank moves' }]);
    expect((await broker.health()).stopped).toEqual(broker.handlers);
    expect((await broker.health()).isReady).toBe(true);
    await dlx.handler('Payments.pay').pause('again');
    expect(dlx.handler('Payments.pay').status.reason).toBe('the bank moves');
    dlx.handler('Payments.pay').resume();
    dlx.handler('Payments.pay').resume();
    await dlx.settled();
    expect([paid, happened]).toEqual([
      [0, 1, 2],
      ['Payments.pay paused the bank moves', 'Payments.pay resumed undefined'],
    ]);
    await dlx.advance('2s'); // answers of the same second are the same
    expect((await broker.health()).stopped).toEqual([]);
  });

  it('fails at once when it pauses itself and waits for its own end, also by what it calls', async () => {
    const errors: unknown[] = [];
    let later: (() => Promise<void>) | undefined;
    const { dlx, broker, paid, publish } = await arrange({}, async () => {
      const pause = async (): Promise<void> => {
        await Promise.resolve();
        await dlx.app.get(DlxBroker).handler('Payments.pay').pause('the bank moves');
      };
      later ??= AsyncResource.bind(() => pause());
      await pause().catch((error: unknown) => errors.push(error));
    });
    const handle = broker.handler('Payments.pay');
    await publish(1);
    await dlx.settled();
    expect(errors).toEqual([
      expect.objectContaining({
        name: 'DlxConfigurationError',
        message:
          "pause of handler 'Payments.pay': the handler is at work itself, and would wait for its own end; write pause(reason, { wait: false })",
      }),
    ]);
    expect([paid, handle.status.state]).toEqual([[0], 'running']);
    await later!(); // the handler has ended: what it started may wait
    expect(handle.status.state).toBe('paused');
  });

  it('is named in the log when its pause waits for long', async () => {
    const warn = vi.fn<(line: string) => void>();
    const dlx = new DlxTesting({ logger: { log: () => undefined, error: () => undefined, warn } });
    open.push(dlx);
    let pausing: Promise<void> | undefined;
    @Injectable()
    class Payments {
      @Consume('payments')
      async pay(): Promise<void> {
        pausing ??= dlx.app.get(DlxBroker).handler('Payments.pay').pause(); // the first handle: the call began before
        await pausing;
      }
    }
    await dlx.start({ providers: [Payments] }, { drainTimeout: 10 });
    await dlx.publish('payments', {});
    await dlx.advance('10s', { except: ['payments'] });
    expect(warn.mock.calls.map(([line]) => line).filter((line) => line.startsWith('the pause'))).toEqual([
      expect.stringMatching(
        /^the pause of Payments\.pay waits since 10 s for messages.* writes pause\(reason, \{ wait: false \}\)$/,
      ),
    ]);
  });

  it('may pause itself while it has a message', async () => {
    const { dlx, broker, publish, paid } = await arrange({ prefetch: 10 }, async ({ id }) => {
      if (id === 0) await broker.handler('Payments.pay').pause('enough', { wait: false });
    });
    await publish(1);
    await dlx.settled();
    await publish(5, 1);
    await dlx.settled();
    expect(paid).toEqual([0]);
    broker.handler('Payments.pay').resume();
    await dlx.settled();
    expect(paid).toHaveLength(6);
  });

  it('is not started by its circuit, and begins with a probe when it is resumed', async () => {
    let isDown = true;
    const { dlx, publish, attempts, paid } = await arrange(
      { prefetch: 5, circuit: { on: BankDown, atLeast: 1 } },
      () => {
        if (isDown) throw new BankDown('away');
      },
    );
    await publish(5);
    await dlx.settled();
    const before = attempts.length;
    await dlx.handler('Payments.pay').pause();
    await dlx.advance('1h');
    expect(attempts).toHaveLength(before);
    isDown = false;
    dlx.handler('Payments.pay').resume();
    await dlx.settled();
    expect([dlx.circuit('bank').state, paid.length]).toEqual(['closed', 5]);
  });

  it.each([
    [
      'an unknown name',
      (broker: DlxBroker) => broker.handler('Payments.pai'),
      /no handler 'Payments\.pai' .* did you mean 'Payments\.pay'/,
    ],
    [
      'a reason that is none',
      (broker: DlxBroker) => broker.handler('Payments.pay').pause(5 as never),
      /reason: 5 is no text/,
    ],
    [
      'an unknown option',
      (broker: DlxBroker) => broker.handler('Payments.pay').pause('x', { wiat: 1 } as never),
      /did you mean 'wait'/,
    ],
  ])('refuses %s', async (_, call, reason) => {
    const { broker } = await arrange({}, () => undefined);
    await expect(async () => call(broker)).rejects.toThrow(reason);
  });
});

describe('the probe of a circuit', () => {
  const answers: (() => boolean | Promise<boolean>)[] = [];
  let asked = 0;
  @Injectable()
  class BankHealth implements HealthProbe {
    isUp(): boolean | Promise<boolean> {
      asked++;
      return (answers.shift() ?? (() => true))();
    }
  }

  const arranged = async (...given: (() => boolean | Promise<boolean>)[]) => {
    answers.splice(0, Infinity, ...given);
    asked = 0;
    const state = { isDown: true };
    const all = await arrange(
      { providers: [BankHealth], circuit: { on: BankDown, atLeast: 1, pause: '1m', probe: BankHealth } },
      () => {
        if (state.isDown) throw new BankDown('away');
      },
    );
    await all.publish(1);
    await all.dlx.settled();
    state.isDown = false;
    return all;
  };

  it('is asked before a message is tried', async () => {
    const { dlx, attempts, paid } = await arranged(
      () => false,
      async () => false,
    );
    await dlx.advance('2m');
    expect([asked, attempts.length, dlx.circuit('bank').state]).toEqual([2, 1, 'open']);
    await dlx.advance('1m');
    expect([asked, paid, dlx.circuit('bank').state]).toEqual([3, [0], 'closed']);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('a bug');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('a bug'))],
    ['answers nonsense', () => 'yes' as never],
  ])('decides nothing when it %s: a message is tried', async (_, answer) => {
    const { dlx, paid } = await arranged(answer);
    await dlx.advance('61s');
    expect(paid).toEqual([0]);
  });

  it('that hangs stops no queue: a message is tried after ten seconds', async () => {
    const { dlx, paid } = await arranged(() => new Promise<boolean>(() => undefined));
    await dlx.advance('69s');
    expect(paid).toEqual([]);
    await dlx.advance('2s');
    expect(paid).toEqual([0]);
  });

  it('has to be a provider', async () => {
    const start = arrange({ circuit: { probe: BankHealth } }, () => undefined);
    await expect(start).rejects.toThrow(
      /circuit 'bank': its probe BankHealth is no provider .* add it to the providers/,
    );
  });
});

it('a function `on` that throws, or answers with a promise, makes the error an ordinary one', async () => {
  for (const on of [
    () => {
      throw new Error('a bug');
    },
    async () => true,
  ] as unknown as (() => boolean)[]) {
    const { dlx, broker, publish } = await arrange({ retry: { attempts: 1 }, circuit: { on, atLeast: 1 } }, () => {
      throw new BankDown('away');
    });
    await publish(2);
    await dlx.settled();
    expect([dlx.circuit('bank').state, broker.counts.parked]).toEqual(['closed', 2]);
  }
});

import { describe, expect, it, vi } from 'vitest';
import { rabbitMqServers } from '../rabbitmq.js';
import { cases } from './cases/index.js';
import { expectedOn } from './contract.js';
import type { Driver } from './driver.js';
import { drivers } from './drivers.js';
import { expectedDifference } from './expected-differences.js';
import { Lane } from './lane.js';

// Cases on a broker in real time mostly wait: let many of them wait together.
const together = 12 * rabbitMqServers.length;
const lane = new Lane(together);
vi.setConfig({ maxConcurrency: together, testTimeout: 180_000 });

/** Real time is not ours: a case that missed its moment beside others may try again with nothing beside it. */
const triesAlone = 3;

for (const driver of drivers) {
  const missing = await driver.unavailable();
  const name = `the contract of ${driver.profile}, kept by ${driver.name}`;
  // The real brokers side by side: their cases mostly wait.
  (driver.realTime ? describe.concurrent : describe)(name, () => keep(driver, missing));
}

function keep(driver: Driver, missing: string | undefined): void {
  if (missing !== undefined) {
    const mustBeThere = process.env['CI'] !== undefined && missing !== rabbitMqServers[1].notNamed;
    if (mustBeThere) it('can be reached', () => expect.fail(missing));
    else console.warn(`SKIPPED: the contract suite on ${driver.name} ${driver.profile}: ${missing}`);
    describe.skip.each(cases)('$name', () => void it('is skipped', () => undefined));
    return;
  }
  for (const { section, list } of cases)
    describe.concurrent(section, () => {
      for (const each of list) {
        const difference = driver.realTime ? expectedDifference(driver.profile, each.name) : undefined;
        const { on } = each.only ?? {};
        const skipped = on === 'virtual time' ? driver.realTime : on === 'the wire' && !driver.speaksAmqp;
        const check = async (): Promise<void> => {
          const expected = difference === undefined ? each.expected : difference.observed;
          expect(await observe(driver, each)).toEqual(expectedOn(driver.profile, expected));
        };
        (skipped ? it.skip : it.concurrent)(each.name, () => (driver.realTime ? inTime(check) : check()));
      }
    });
}

async function inTime(check: () => Promise<void>): Promise<void> {
  let failure = await failed(lane.shared(check));
  for (let tries = 0; failure !== undefined && tries < triesAlone; tries++) failure = await failed(lane.alone(check));
  if (failure !== undefined) throw failure.reason;
}

const failed = (run: Promise<void>): Promise<{ readonly reason: unknown } | undefined> =>
  run.then(
    () => undefined,
    (reason: unknown) => ({ reason }),
  );

async function observe(driver: Driver, each: (typeof cases)[number]['list'][number]): Promise<unknown> {
  const session = await driver.open();
  try {
    return await each.run(session, await session.channel());
  } finally {
    await session.close();
  }
}

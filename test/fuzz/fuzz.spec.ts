import { describe, expect, it } from 'vitest';
import { campaign, Grounds } from './campaign.js';
import { RabbitMqServer } from './rabbitmq-ground.js';
import { brief, describeFinding } from './report.js';
import { shrink } from './shrink.js';
import { amount } from '../amounts.js';
import { rabbitMqServers } from '../rabbitmq.js';

const programs = amount('FUZZ_PROGRAMS', 20, 60);
const seed = Number(process.env['FUZZ_SEED'] ?? 1);
const width = Number(process.env['FUZZ_WIDTH'] ?? 20);
/** The number of differences that are described; of further ones only the seed is shown. */
const shrinkAtMost = 12;
/** The version of RabbitMQ to compare with, if not both. */
const against = process.env['FUZZ_AGAINST'];

const servers = rabbitMqServers
  .filter(({ profile }) => profile === (against ?? profile))
  .map((address) => new RabbitMqServer(address));

describe.each(
  await Promise.all(
    servers.map(async (server) => ({
      server,
      version: server.address.profile,
      missing: await server.unavailable(),
    })),
  ),
)('random programs', ({ server, version, missing }) => {
  const name = `come to the same on the engine and on RabbitMQ ${version}`;
  const mayBeMissing = process.env['CI'] === undefined || missing === rabbitMqServers[1].notNamed;
  if (missing !== undefined && mayBeMissing) {
    console.warn(`SKIPPED: differential fuzzing: ${missing}`);
    it.skip(name, () => undefined);
    return;
  }
  // Differences are confirmed by runs of their own: to try all programs again would show no more.
  it(name, { timeout: 600_000 + programs * 2_000, retry: 0 }, async () => {
    expect(missing).toBeUndefined();
    const grounds = await Grounds.of(server, width);
    try {
      const result = await campaign(grounds, { programs, seed, width, tell: (line) => console.info(line) });
      console.info(brief(result));
      for (const finding of result.findings.slice(0, shrinkAtMost)) {
        console.info(describeFinding(await shrink(finding, grounds)));
      }
      expect(result.findings.map((finding) => finding.seed)).toEqual([]);
      // What was never in time proves nothing; of that there must be little.
      expect(result.late.length).toBeLessThan(5 + programs / 20);
    } finally {
      await grounds.close();
    }
  });
});

import { expect, it } from 'vitest';
import { campaign } from './campaign.js';
import { engineOverAmqp } from './engine-over-amqp.js';
import { brief, describeFinding } from './report.js';
import { shrink } from './shrink.js';
import { amount } from '../amounts.js';

const programs = amount('FUZZ_PROGRAMS', 20, 60);
const seed = Number(process.env['FUZZ_SEED'] ?? 1);

it.each(['3.10', '4'] as const)(
  'random programs come to the same on the engine and on the engine over AMQP, in profile %s',
  async (profile) => {
    const opponent = engineOverAmqp(profile);
    // One after the other: no program waits for another, and few sockets are open at a time.
    const result = await campaign(opponent, { programs, seed, width: 2, tell: (line) => console.info(line) });
    console.info(brief(result));
    for (const finding of result.findings.slice(0, 4)) console.info(describeFinding(await shrink(finding, opponent)));
    expect(result.findings.map((finding) => finding.seed)).toEqual([]);
    expect([...result.passing, ...result.late]).toEqual([]);
  },
  60_000 + programs * 1_000,
);

import { describe, expect, it } from 'vitest';
import { ratios } from '../../bench/plot/ratios.js';
import { escape, roundedUp } from '../../bench/plot/svg.js';
import { Progress } from '../../bench/progress.js';
import { readable, rowsOf, times } from '../../bench/results.js';
import { command, positiveNumber, UsageError, wholeNumber } from '../../bench/usage.js';
import { select, type Workload } from '../../bench/workload.js';

const workload = (id: string, more: Workload['more'] = 'better'): Workload => ({
  id,
  title: `title of ${id}`,
  unit: 'msg/s',
  more,
  peers: {},
  limits: ['nothing at all'],
});
const measured = (...values: number[]) => values.map((value) => ({ value }));

describe('arguments', () => {
  it('names the option, what it takes and what it got', () => {
    expect(wholeNumber('--runs', '3', 1)).toBe(3);
    for (const text of ['0', '-1', 'x', '1.5', '', '1e3']) {
      expect(() => wholeNumber('--runs', text, 1)).toThrow(`--runs takes a whole number from 1 on, not '${text}'`);
    }
    expect(positiveNumber('--minutes', '0.5')).toBe(0.5);
    for (const text of ['0', '-1', 'x', 'Infinity', '']) {
      expect(() => positiveNumber('--minutes', text)).toThrow(`--minutes takes a number above zero, not '${text}'`);
    }
  });

  it('lets an error of another kind through', async () => {
    const fault = new Error('a fault of the program');
    await expect(command('npm run bench', () => Promise.reject(fault))).rejects.toBe(fault);
  });

  it('selects workloads by name and by family, and names those there are', () => {
    const all = [workload('W1'), workload('W1, one in flight'), workload('W10'), workload('W9 emit')];
    const ids = (...names: string[]): string[] => select(all, names).map(({ id }) => id);
    expect(ids()).toHaveLength(4);
    expect(ids('W1')).toEqual(['W1', 'W1, one in flight']);
    expect(ids('W9')).toEqual(['W9 emit']);
    expect(() => ids('W2')).toThrow(UsageError);
    expect(() => ids('W2')).toThrow("there is no workload 'W2'; there are 'W1', 'W1, one in flight'");
  });
});

describe('results', () => {
  const [rate, late] = [workload('W1'), workload('W2', 'worse')];
  const rows = rowsOf([
    { workload: rate, peer: 'dlx-broker', measured: measured(300, 100, 200) },
    { workload: rate, peer: 'smqp', measured: measured(100, 50, 20) },
    { workload: late, peer: 'dlx-broker', measured: measured(4) },
    { workload: late, peer: 'dlx-broker, otherwise', measured: measured(5) },
    { workload: late, peer: 'nothing at all', measured: measured(2) },
    { workload: late, peer: 'broken', measured: [], failed: 'Error: no' },
  ]);

  it('compare run by run, in the sense of the workload', () => {
    expect(rows.map(({ lead }) => lead)).toEqual([undefined, 3, undefined, undefined, 0.5, undefined]);
    expect(rows.map(({ isLimit }) => isLimit)).toEqual([false, false, false, false, true, false]);
  });

  it('are lines for a terminal, under the title of their workload', () => {
    expect(readable(rows).slice(0, 4)).toEqual([
      '',
      'W1: title of W1',
      '  dlx-broker             200 msg/s',
      '  smqp                    50 msg/s     3.0x',
    ]);
  });

  it('show ratios with as many digits as they deserve', () => {
    expect([0.456, 1, 11.12, 8521.2].map(times)).toEqual(['0.46x', '1.0x', '11.1x', '8,521x']);
  });
});

describe('the progress line', () => {
  it('is written over on a terminal, and says about how long the rest takes', () => {
    let [said, now] = ['', 0];
    const progress = new Progress(4, { isTTY: true, columns: 60, write: (text) => (said += text) }, () => now);
    progress.step('W1');
    now = 10_000;
    progress.step('W2');
    progress.end();
    expect(said).toBe('\r\u001b[K  0 %  W1\r\u001b[K 25 %  W2, about 30 s left\r\u001b[K');
  });

  it('is a line for each tenth elsewhere', () => {
    const lines: string[] = [];
    const progress = new Progress(100, { write: (text) => lines.push(text) }, () => 0);
    for (let step = 0; step < 100; step++) progress.step('W1');
    expect(lines).toHaveLength(10);
  });
});

describe('pages and plots', () => {
  it('rounds scales up', () => {
    expect([0, 0.7, 1, 1.1, 2.4, 30, 99].map(roundedUp)).toEqual([1, 1, 1, 2, 2.5, 50, 100]);
  });

  it('draws names that contain markup as text', () => {
    expect(escape('a < b & "c"')).toBe('a &lt; b &amp; &quot;c&quot;');
    const bar = { name: '<i>', ratio: 0.5, shown: '0.5x', isLimit: true };
    const picture = ratios([{ title: 'W1', bars: [bar, { ...bar, name: 'other', ratio: 20 }] }], 'title', 'below');
    expect(picture).toContain('&lt;i&gt;');
    expect(picture).not.toContain('<i>');
    expect(picture).toMatch(/^<svg [^]*<\/svg>\n$/);
    expect(picture).not.toContain('NaN');
  });
});

import { expect, it } from 'vitest';
import { LoginLog } from './logins.js';

function arrange() {
  const world = { now: 0, lines: [] as string[] };
  const log = new LoginLog(
    () => world.now,
    (text) => world.lines.push(text),
  );
  const refused = (user: string, address = '10.0.0.1'): void =>
    log.refused({ mechanism: 'HTTP', user, address, why: 'invalid credentials' });
  return { world, refused };
}

it('a refused login is one line, with a name that is cut and shown safely', () => {
  const { world, refused } = arrange();
  refused('ada');
  refused('two\nlines\u001b[2J\u202e');
  refused('x'.repeat(15_000));
  expect(world.lines).toEqual([
    'HTTP login refused: user "ada" at 10.0.0.1 - invalid credentials',
    'HTTP login refused: user "two\\nlines\\u001b[2J\\u{202e}" at 10.0.0.1 - invalid credentials',
    `HTTP login refused: user "${'x'.repeat(64)}…" at 10.0.0.1 - invalid credentials`,
  ]);
});

it('an attacker does not fill the log, nor keep others out of it', () => {
  const { world, refused } = arrange();
  for (let count = 0; count < 1_000; count++) refused(`user-${count}`);
  expect(world.lines).toHaveLength(10);
  refused('bob', '10.0.0.2');
  expect(world.lines.at(-1)).toContain('"bob" at 10.0.0.2');
  for (let count = 0; count < 10_000; count++) refused('x', `10.0.${count >> 8}.${count & 255}`);
  expect(world.lines).toHaveLength(60);
  world.now += 60_000;
  refused('late');
  expect(world.lines.slice(60)).toEqual([
    '10941 more refused logins in the minute before have no line',
    'HTTP login refused: user "late" at 10.0.0.1 - invalid credentials',
  ]);
});

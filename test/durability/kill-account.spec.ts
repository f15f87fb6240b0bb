import { describe, expect, it } from 'vitest';
import { type Found, KillAccount } from './kill-account.js';

const found = (queue: Found['queue'], id: number, redelivered = false, bodyIsRight = true): Found => ({
  queue,
  id,
  redelivered,
  bodyIsRight,
});

/** Four confirmed messages; of 1 and 3 an ack and a reject are safe, of 2 and 4 they are not. */
function arrange(): KillAccount {
  const account = new KillAccount();
  for (let id = 1; id <= 4; id++) account.confirmed(account.publish());
  account.settled(1, 'ack');
  account.settled(3, 'reject');
  account.confirmed(account.publish());
  account.settled(2, 'ack');
  account.settled(4, 'reject');
  return account;
}

describe('the books about a server that dies', () => {
  it.each<[string, Found[]]>([
    ['nothing unsafe was kept', [found('work', 2, true), found('work', 4, true), found('work', 5), found('dead', 3)]],
    ['everything unsafe was kept', [found('work', 5), found('dead', 3), found('dead', 4)]],
  ])('are in order when %s', (_, all) => {
    expect(arrange().audit(all)).toEqual([]);
  });

  const rest = [found('work', 5), found('dead', 3), found('dead', 4)];
  it.each<[string, Found[], string]>([
    ['a confirmed message is lost', rest.slice(1), 'message 5 was confirmed, and is lost'],
    ['a dead letter is lost', rest.slice(0, 2), 'message 4 was confirmed, and is lost'],
    ['a move has happened by half', [found('work', 4, true), ...rest], 'message 4 in dead, and in work too'],
    [
      'a safe ack is undone',
      [found('work', 1, true), ...rest],
      'message 1 in work came back, though it was gone for good',
    ],
    [
      'a safe reject is undone',
      [found('work', 3, true), rest[0], rest[2]] as Found[],
      'message 3 in work although its reject was safe',
    ],
    [
      'a duplicate is not flagged',
      [found('work', 2), ...rest],
      'message 2 in work again, but is not flagged redelivered',
    ],
    ['a body is another', [found('work', 5, false, false), ...rest.slice(1)], 'message 5 in work has another body'],
    [
      'a message died without a rejection',
      [...rest.slice(1), found('dead', 5)],
      'message 5 in dead without a rejection',
    ],
    [
      'the order is another',
      [found('work', 5), found('work', 2, true), ...rest.slice(1)],
      'message 2 in work comes after 5',
    ],
  ])('are not when %s', (_, all, wrong) => {
    expect(arrange().audit(all)).toEqual([wrong]);
  });

  it('take what was found for what there is', () => {
    const account = arrange();
    expect(account.audit(rest)).toEqual([]);
    expect(account.audit([...rest, found('work', 2, true)])).not.toEqual([]);
    expect(account.audit(rest.slice(1))).not.toEqual([]);
  });
});

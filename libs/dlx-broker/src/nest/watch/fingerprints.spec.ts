import { expect, it } from 'vitest';
import { KnownFingerprints } from './fingerprints.js';

it('a watch remembers the 10,000 fingerprints that it saw last', () => {
  const known = new KnownFingerprints();
  expect(known.add('a', 'kept')).toBe(true);
  expect(known.add('b', 'kept')).toBe(true);
  for (let count = 0; count < 9_998; count++) expect(known.add('a', `f${count}`)).toBe(true);
  expect(known.add('a', 'kept')).toBe(false); // seen again
  expect(known.add('a', 'one more')).toBe(true);
  expect(known.add('a', 'kept')).toBe(false);
  expect(known.add('b', 'kept')).toBe(true); // it was forgotten first
});

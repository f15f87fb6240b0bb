import { describe, expect, it } from 'vitest';
import { jaro, suggestionFor } from './suggestion.js';

describe('a suggestion', () => {
  it('is measured as Jaro did', () => {
    expect(jaro('MARTHA', 'MARHTA')).toBeCloseTo(0.944, 3);
    expect(jaro('DIXON', 'DICKSONX')).toBeCloseTo(0.767, 3);
    expect(jaro('same', 'same')).toBe(1);
    expect(jaro('', 'word')).toBe(0);
    expect(jaro('abc', 'xyz')).toBe(0);
  });

  // rabbitmqctl suggests close_connection for close (0.771) and nothing for lst (0.767).
  it('is made from where rabbitmqctl makes one', () => {
    expect(suggestionFor('close', ['close_connection', 'list_users'])).toBe('close_connection');
    expect(suggestionFor('lst', ['list_users'])).toBeUndefined();
  });

  it('is the first of equals', () => {
    expect(suggestionFor('delete', ['delete_queue', 'delete_vhost'])).toBe('delete_queue');
  });
});

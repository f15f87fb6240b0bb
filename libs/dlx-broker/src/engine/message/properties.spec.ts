import { describe, expect, it } from 'vitest';
import { longstr } from './field-table.js';
import { type Properties, successorProperties, withHeaders } from './properties.js';

const table = (text: string) => new Map([['text', longstr(text)]]);
const own: Properties = {
  contentType: 'text/plain',
  headers: table('old'),
  deliveryMode: 1,
  expiration: '5',
  userId: 'guest',
  messageId: 'm',
};

describe('copies of properties', () => {
  it('have other headers and another expiration, whatever the properties had', () => {
    expect(withHeaders(own, table('new'), '9')).toEqual({ ...own, headers: table('new'), expiration: '9' });
    expect(withHeaders(own, undefined)).toEqual({ ...own, headers: undefined, expiration: undefined });
    expect(withHeaders({}, table('new'))).toEqual({ headers: table('new') });
  });

  it('are those of a successor: persistent, without expiration and user id', () => {
    const kept = { contentType: 'text/plain', messageId: 'm', deliveryMode: 2 };
    expect(successorProperties(own, table('new'))).toEqual({ ...kept, headers: table('new') });
    expect(successorProperties({}, table('new'))).toEqual({ deliveryMode: 2, headers: table('new') });
  });

  it('leave the properties as they were, because other messages share them', () => {
    const shared = Object.freeze({ ...own });
    withHeaders(shared, undefined);
    successorProperties(shared, table('new'));
    expect(shared).toEqual(own);
  });
});

import { describe, expect, it } from 'vitest';
import { emptyTable } from '../../engine/message/index.js';
import { tableOfJson } from './field-json.js';
import { propertiesKey } from './properties-key.js';

describe('rule U3: a binding is called by its key and a hash of its arguments', () => {
  it.each([
    ['', '~'],
    ['a.*', 'a.%2A'],
    ['a b~c', 'a+b%7Ec'],
    ['ü/#', '%C3%BC%2F%23'],
  ])('the key %j without arguments is %j', (key, expected) => {
    expect(propertiesKey(key, emptyTable)).toBe(expected);
  });

  // As RabbitMQ 3.10.8 answers for the same arguments in JSON.
  it.each([
    ['{"a":1}', 'Ajat_Q'],
    ['{"a":"x"}', 'rIoqGg'],
    ['{"a":true}', 'a2lJKQ'],
    ['{"a":false}', 'jVo0GA'],
    ['{"a":1.5}', 'yo4NAg'],
    ['{"a":-7}', 'PW0ULw'],
    ['{"a":134217727}', 'rEKsPQ'],
    ['{"a":134217728}', 'b_w2HQ'],
    ['{"a":-134217728}', 'qcwLvg'],
    ['{"a":-134217729}', 'VfHuLA'],
    ['{"a":99999999999}', 'qWL15g'],
    ['{"a":[]}', 'jkxtaQ'],
    ['{"a":[1,2]}', 'L8z8-w'],
    ['{"a":["x",true]}', '_e3DeA'],
    ['{"a":{}}', 'JBz3JQ'],
    ['{"a":{"b":1}}', 'Y6Wttw'],
    ['{"b":1,"a":"some longer text of more than twelve"}', '0TgnKQ'],
    ['{"x-match":"any","a":"ü€"}', 'unqS3g'],
    ['{"a":""}', 'ZkKYww'],
    ['{"region":"north","weight":3}', 'jqAgQg'],
  ])('arguments %s give %s', (json, hash) => {
    expect(propertiesKey('', tableOfJson(JSON.parse(json)))).toBe(`~${hash}`);
  });
});

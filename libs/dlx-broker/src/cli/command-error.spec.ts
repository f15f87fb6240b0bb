import { describe, expect, it } from 'vitest';
import { codeOfWrong, wrongText } from './command-error.js';

describe('a wrong command line', () => {
  it.each([
    [64, 'dead-leters'],
    [64, ''],
    [64, '--url http://127.0.0.1:15672 dead-letters list'],
    [64, 'dead-letters list --limitt 3'],
    [64, 'queues list'],
    [64, 'handlers pause'],
    [2, 'serve --amqq'],
    [2, 'data check'],
  ])('ends with code %i: %s', (code, words) => {
    expect(codeOfWrong(words.split(' '))).toBe(code);
  });

  it.each([
    ['--url', '--url http://127.0.0.1:1 dead-letters list', 'dead-letters list'],
    ['--user', '--user=ada queues pause q', 'dead-letters list'],
    ['--url', 'dead-letters --url http://127.0.0.1:1 list', 'dead-letters list'],
    ['-p', 'queues -p shop pause orders', 'queues pause QUEUE'],
    ['--json', 'handlers --json list', 'handlers list'],
  ])('names the place of %s in %s', (option, words, example) => {
    const text = wrongText(`error: unknown option '${option}'\n`, words.split(' '));
    expect(text).toBe(`error: write ${option} behind the command, as in 'dlx-broker ${example} ${option} ...'\n`);
  });

  it.each([
    ['serve --url http://127.0.0.1:1', "error: unknown option '--url'\n"],
    ['--versio', "error: unknown option '--versio'\n(Did you mean --version?)\n"],
  ])('is shown as it is: %s', (words, text) => {
    expect(wrongText(text, words.split(' '))).toBe(text);
  });

  it('shows no password', () => {
    const words = ['--password=geheim', 'dead-letters', 'list'];
    expect(wrongText("error: unknown option '--password=geheim'\n", words)).not.toContain('geheim');
    expect(wrongText("error: unknown option '--pasword=geheim'\n", words)).toBe("error: unknown option '--pasword'\n");
  });
});

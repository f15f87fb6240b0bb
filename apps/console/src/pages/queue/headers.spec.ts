import { expect, it } from 'vitest';
import { headersProblem } from './headers';

it.each(['', '  ', '{}', '{"a": 1}'])('accepts %j as headers', (text) => expect(headersProblem(text)).toBeUndefined());
it.each(['{', '[]', 'null', '7', '"a"'])('refuses %j as headers', (text) => expect(headersProblem(text)).toBeDefined());

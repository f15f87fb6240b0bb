/** Keys and types of a JSON value, without its values: `'number'`, `['string']`, `{ key: ... }`. */
export type Shape = string | readonly Shape[] | { readonly [key: string]: Shape };

/** Of several items one shape: a key that not all of them have ends in `?`, types that differ stand as `a|b`. */
export function shapeOf(value: unknown): Shape {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? [] : [value.map(shapeOf).reduce(merged)];
  if (typeof value !== 'object') return typeof value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, shapeOf((value as Record<string, unknown>)[key])]));
}

function merged(one: Shape, other: Shape): Shape {
  if (Array.isArray(one) && Array.isArray(other)) {
    const items = [...(one as readonly Shape[]), ...(other as readonly Shape[])];
    return items.length === 0 ? [] : [items.reduce(merged)];
  }
  if (isObject(one) && isObject(other)) return mergedObjects(one, other);
  const types = new Set(
    [one, other].flatMap((shape) => (typeof shape === 'string' ? shape.split('|') : [word(shape)])),
  );
  return [...types].sort().join('|');
}

function mergedObjects(one: Readonly<Record<string, Shape>>, other: Readonly<Record<string, Shape>>): Shape {
  const names = new Set([...Object.keys(one), ...Object.keys(other)].map((key) => key.replace(/\?$/, '')));
  const entries = [...names].sort().map((name): [string, Shape] => {
    const left = one[name] ?? one[`${name}?`];
    const right = other[name] ?? other[`${name}?`];
    const isSure = one[name] !== undefined && other[name] !== undefined;
    const shape = left === undefined ? right : right === undefined ? left : merged(left, right);
    return [isSure ? name : `${name}?`, shape as Shape];
  });
  return Object.fromEntries(entries);
}

const isObject = (shape: Shape): shape is { readonly [key: string]: Shape } =>
  typeof shape === 'object' && !Array.isArray(shape);

const word = (shape: Shape): string => (Array.isArray(shape) ? 'array' : 'object');

/** Where two shapes differ: `path: recorded A, ours B`. */
export function differences(recorded: Shape, ours: Shape, path = ''): string[] {
  if (Array.isArray(recorded) && Array.isArray(ours)) {
    const [one, other] = [recorded[0] as Shape | undefined, ours[0] as Shape | undefined];
    if (one === undefined && other === undefined) return [];
    if (one !== undefined && other !== undefined) return differences(one, other, `${path}[]`);
  } else if (isObject(recorded) && isObject(ours)) {
    const keys = [...new Set([...Object.keys(recorded), ...Object.keys(ours)])].sort();
    return keys.flatMap((key) => {
      const [one, other] = [recorded[key], ours[key]];
      const here = path === '' ? key : `${path}.${key}`;
      if (one === undefined) return [`${here}: only ours`];
      if (other === undefined) return [`${here}: missing`];
      return differences(one, other, here);
    });
  } else if (recorded === ours) {
    return [];
  }
  return [`${path}: recorded ${JSON.stringify(recorded)}, ours ${JSON.stringify(ours)}`];
}

import { methodIds } from '../../engine/message/index.js';

const names: ReadonlyMap<number, string> = new Map(
  Object.entries(methodIds).map(([name, id]) => {
    const [className, ...words] = name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
    return [id, `${className}.${words.join('-')}`];
  }),
);

/** The name of a method such as `basic.publish`; empty for none. @param id class and method in one number */
export const methodName = (id: number): string => names.get(id) ?? '';

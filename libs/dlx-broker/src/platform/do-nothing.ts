/** A callback where there is nothing to do. */
export const doNothing = (): void => undefined;

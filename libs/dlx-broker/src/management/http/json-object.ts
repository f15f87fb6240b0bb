/** What came in as JSON. Without a prototype: a key that is not there is not there. */
export type JsonObject = { readonly [key: string]: unknown };

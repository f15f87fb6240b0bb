/** A JSON object of a request. It has no prototype, so a missing key is undefined. */
export type JsonObject = { readonly [key: string]: unknown };

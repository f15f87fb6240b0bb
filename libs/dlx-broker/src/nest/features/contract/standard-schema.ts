/**
 * A schema by the interface that validation libraries share (https://standardschema.dev, version 1): zod, valibot, arktype and others
 * implement it. `Input` is what it accepts, `Output` what it makes of that.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** For the compiler only. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a schema says about a value. */
export type SchemaResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** Why a schema refuses a value, and where in the value. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

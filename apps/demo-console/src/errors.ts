/** The quantity, the address or the customer of a message is wrong. It fails again until an operator edits it. */
export class ValidationError extends Error {}

/** Passes when the bank is back. */
export class BankTimeout extends Error {}

/** Final: the customer has to pay in another way. */
export class CardDeclined extends Error {}

/** The data of an invoice has a gap. */
export class TemplateError extends Error {}

/** The carrier does not know the address. */
export class AddressNotFound extends Error {}

/** The server of a customer of the shop answers with an error. */
export class WebhookFailed extends Error {}

/** The body is not in a format that the import can read. */
export class UnknownFormat extends Error {}

/** What a backend warns of. */
export type WarningEvent =
  | 'notConnected'
  | 'connectionLost'
  | 'connected'
  | 'blocked'
  | 'unblocked'
  | 'declarationWaits'
  | 'declarationFailed'
  | 'comparedByDeclaring'
  | 'policyConflict'
  | 'policiesUnchecked'
  | 'republishedInDoubt';

/** Gets a warning for operators: one line of text. @param reason the part of the text that another program wrote */
export type Warn = (text: string, event: WarningEvent, reason?: string) => void;

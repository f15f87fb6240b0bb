import { signal } from '@preact/signals';
import { request } from './api/http';

/** What the console can do, as `GET /api/dlx/capabilities` says. */
export interface Capabilities {
  /** This user may edit messages before they are redriven. */
  readonly edits: boolean;
}

/** Undefined until the server has said it. Pages are shown only then. */
export const capabilities = signal<Capabilities | undefined>(undefined);

/** True if this user may edit messages. */
export const canEdit = (): boolean => capabilities.value?.edits ?? false;

/** Asks the server what it can do. */
export async function loadCapabilities(abort: AbortSignal): Promise<Capabilities> {
  const loaded = await request<Capabilities>('dlx/capabilities', { signal: abort });
  capabilities.value = loaded;
  return loaded;
}

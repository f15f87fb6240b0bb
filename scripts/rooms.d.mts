export interface Room {
  readonly name: string;
  readonly job: string;
  readonly imports: readonly string[];
  readonly core?: boolean;
  readonly bottom?: boolean;
}
export const rooms: readonly Room[];
export const testing: { readonly name: string; readonly job: string };
export const fronts: readonly string[];
export const joints: readonly string[];
export function allowedTo(room: Room): readonly string[];

export interface Group {
  readonly text: string;
  readonly link?: string;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}
export function sidebarOf(name: string): Group[];

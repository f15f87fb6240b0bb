import { type JsonSpan, type Member, membersAt } from './json-members.js';

/** A merge patch (RFC 7396): null removes a member, an object is merged, any other value replaces the member. */
export type MergePatch = Readonly<Record<string, unknown>>;

/** A part of a string that another text replaces. */
interface Change {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Merges a patch into the text of a JSON object. Members that the patch does not name keep their bytes: their numbers are not rounded,
 * and their order and white space stay. No object is made of the text, so `__proto__` is a name as any other.
 * @param text JSON: nothing is checked here
 * @param at the position of the opening brace
 * @returns the text of the merged object, without what stands around it
 */
export function mergedText(text: string, patch: MergePatch, at: number): string {
  const { members, close } = membersAt(text, at);
  const wanted = new Map<string, unknown>(Object.entries(patch));
  const last = new Map<string, Member>();
  for (const member of members) if (wanted.has(member.name)) last.set(member.name, member);
  const changes: Change[] = [];
  let kept: Member | undefined;
  for (const [index, member] of members.entries()) {
    const value = wanted.get(member.name);
    if (value === undefined) {
      kept = member;
    } else if (value === null || last.get(member.name) !== member) {
      // Of members with one name the last counts, as for JSON.parse. If it were removed, the others would count again.
      const [from, to] =
        kept === undefined ? [member.start, members[index + 1]?.start ?? close] : [member.start - 1, member.end];
      changes.push({ from, to, text: '' });
    } else {
      kept = member;
      changes.push({ from: member.valueAt, to: member.end, text: valueOf(text, member, value) });
    }
  }
  return changedText(text, at, close + 1, [...additions(wanted, last, kept, { text, members, close }), ...changes]);
}

/** New members, behind the last one that stays. White space is as around the last name of the text. */
function additions(
  wanted: ReadonlyMap<string, unknown>,
  known: ReadonlyMap<string, Member>,
  kept: Member | undefined,
  { text, members, close }: JsonSpan & { readonly text: string },
): readonly Change[] {
  const place = kept?.end ?? close;
  const last = members.at(-1);
  const lead = last === undefined || kept === undefined ? '' : text.slice(last.start, last.nameAt);
  const separator = last === undefined ? ':' : text.slice(last.nameEnd, last.valueAt);
  return [...wanted]
    .filter(([name, value]) => value !== null && !known.has(name))
    .map(([name, value], index) => {
      const comma = kept === undefined && index === 0 ? '' : ',';
      return { from: place, to: place, text: `${comma}${lead}${JSON.stringify(name)}${separator}${jsonOf(value)}` };
    });
}

/** @param changes in any order, none within another. Those that begin at one place are made in the order of the list */
function changedText(text: string, from: number, to: number, changes: readonly Change[]): string {
  let result = '';
  let at = from;
  // An addition behind the last member that stays comes before the removal that begins there.
  for (const change of changes.toSorted((one, other) => one.from - other.from)) {
    result += text.slice(at, change.from) + change.text;
    at = change.to;
  }
  return result + text.slice(at, to);
}

/** The new text of a value. A value that equals the old one keeps the old text. */
function valueOf(text: string, { valueAt, end }: Member, value: unknown): string {
  const old = text.slice(valueAt, end);
  if (isObject(value)) return text[valueAt] === '{' ? mergedText(text, value, valueAt) : jsonOf(value);
  const json = jsonOf(value);
  return old === json || JSON.stringify(JSON.parse(old)) === json ? old : json;
}

export const isObject = (value: unknown): value is MergePatch =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value of a patch as JSON. Objects are merged into an empty one, so their nulls are left out; those in arrays stay. */
const jsonOf = (value: unknown): string => JSON.stringify(isObject(value) ? withoutNulls(value) : value);

function withoutNulls(patch: MergePatch): MergePatch {
  const merged = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of Object.entries(patch)) {
    if (value !== null) merged[name] = isObject(value) ? withoutNulls(value) : value;
  }
  return merged;
}

import { request } from '../api/http';
import { type Resource, useResource } from '../api/use-resource';
import { changeList } from '../router';
import { visible } from './parts';

/** The virtual hosts that the user may see, by name. */
export function useVhosts(): Resource<readonly string[]> {
  return useResource('vhosts', async (signal) => {
    const vhosts = await request<readonly { readonly name: string }[]>('vhosts', {
      query: { columns: 'name' },
      signal,
    });
    return vhosts.map(({ name }) => name);
  });
}

/** Chooses a virtual host; the choice is in the address (`vhost`). Nothing is shown while there is only one and no choice was made. */
export function VhostChoice({ value, names, all = true }: { value: string; names: readonly string[]; all?: boolean }) {
  if (names.length < 2 && value === '') return null;
  const listed = value === '' || names.includes(value) ? names : [value, ...names];
  return (
    <label>
      Virtual host
      <select value={value} onChange={(event) => changeList({ vhost: event.currentTarget.value })}>
        {all && <option value="">All</option>}
        {listed.map((name) => (
          <option key={name} value={name}>
            {visible(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

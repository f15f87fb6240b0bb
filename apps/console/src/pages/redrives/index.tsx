import '../../letters/letters.css';
import type { Address } from '../../router';
import { RedriveList } from './redrive-list';
import { RedriveView } from './redrive-view';

/** The page `redrives`: all of them, or the one of the address. */
export default function Redrives({ address: { segments } }: { address: Address }) {
  const [, id] = segments;
  return id === undefined ? <RedriveList /> : <RedriveView key={id} id={id} />;
}

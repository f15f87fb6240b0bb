import { PageHead } from '../../ui/parts';

/** The page `queue`. */
export default function Page() {
  return <PageHead title="queue" />;
}

import { PageHead } from '../ui/parts';

/** The page `queues`. */
export default function Page() {
  return <PageHead title="queues" />;
}

import { PageHead } from '../ui/parts';

/** The page `connections`. */
export default function Page() {
  return <PageHead title="connections" />;
}
